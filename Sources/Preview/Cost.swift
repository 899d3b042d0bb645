import SchemaCopies
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// What an operation, or all of a plan, costs on a database, by the rows that it holds when it is
/// planned. What earlier operations of the plan will have changed is not counted.
package struct Cost: Sendable, Hashable {
  /// Exact numbers of rows, as often as they are read and written; at most, because a question ends
  /// with its answer and an UPDATE writes only what changes.
  package internal(set) var rowsRead: Int64 = 0
  package internal(set) var rowsWritten: Int64 = 0
  /// Bytes on the disk, beside the database as it is, that the work needs while it lasts: an
  /// estimate from the first rows of each table, never more than all of the file.
  package internal(set) var extraDisk: Int64 = 0

  static func + (a: Cost, b: Cost) -> Cost {
    Cost(
      rowsRead: a.rowsRead + b.rowsRead, rowsWritten: a.rowsWritten + b.rowsWritten,
      extraDisk: a.extraDisk + b.extraDisk)
  }
}

extension Cost {
  package var inWords: String {
    guard rowsRead + rowsWritten > 0 else { return "reads and writes no rows" }
    var parts = ["reads at most \(counted(rowsRead, "row"))"]
    parts.append(rowsWritten == 0 ? "writes none" : "writes at most \(grouped(rowsWritten))")
    if extraDisk > 0 { parts.append("needs about \(FreeSpace.size(extraDisk)) of disk space") }
    return parts.joined(separator: ", ")
  }
}

/// The tables of a database, each looked at once.
struct TableSizes {
  private let connection: Connection
  private var known: [Identifier: Size] = [:]
  /// What the rows of all tables can take together.
  private let limit: Int64

  private struct Size {
    let rows: Int64
    let bytes: Int64
  }

  /// How many rows are read to tell how large one is.
  private static let sample = 1000

  init(_ connection: Connection) throws(DatabaseError) {
    self.connection = connection
    func number(_ pragma: String) throws(DatabaseError) -> Int64 {
      try connection.value("PRAGMA main.\(pragma)")?.integer ?? 0
    }
    limit = try (number("page_count") - number("freelist_count")) * number("page_size")
  }

  /// - Returns: nil if the cost is unknown: for SQL of the manifest, and for a table that an earlier
  ///   operation of the plan creates.
  mutating func cost(of work: Work) throws(DatabaseError) -> Cost? {
    guard work.kind != .asWritten else { return nil }
    var cost = Cost(rowsWritten: Int64(work.newRows))
    for load in work.loads {
      guard let size = try size(of: load.table) else { return nil }
      cost.rowsRead += size.rows * Int64(load.reads)
      cost.rowsWritten += size.rows * Int64(load.writes)
      cost.extraDisk += size.bytes * Int64(load.writes)
    }
    return cost
  }

  private mutating func size(of table: String) throws(DatabaseError) -> Size? {
    let key = table.identifier
    if let size = known[key] { return size }
    let columns = try connection.rows(
      "SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden IN (0, 3)", [.text(table)]
    ).compactMap { $0[0].text.map { Quoting.quoted($0) } }
    guard !columns.isEmpty else { return nil }
    let name = "main.\(Quoting.quoted(table))"
    let rows = try connection.value("SELECT count(*) FROM \(name)")?.integer ?? 0
    let sums = columns.map { "total(length(CAST(\($0) AS BLOB)))" }.joined(separator: ", ")
    let list = columns.joined(separator: ", ")
    let lengths =
      try connection.rows(
        "SELECT \(sums) FROM (SELECT \(list) FROM \(name) LIMIT \(Self.sample))"
      ).first ?? []
    let sampled = max(1, min(rows, Int64(Self.sample)))
    // A record has a byte or more for each column, a cell some for its length and its rowid
    // (Database File Format, sections 2.1 and 1.6).
    let bytes = lengths.reduce(0.0) { if case .real(let sum) = $1 { $0 + sum } else { $0 } }
    let row = bytes / Double(sampled) + Double(columns.count) + 8
    let size = Size(rows: rows, bytes: min(Int64(row * Double(rows)), limit))
    known[key] = size
    return size
  }
}
