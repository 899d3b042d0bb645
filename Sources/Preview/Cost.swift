import SchemaCopies
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// The cost of an operation or of a whole plan. It depends on the rows that the database has now, and ignores
/// changes by earlier operations of the plan.
package struct Cost: Sendable, Hashable {
  /// The number of row reads and row writes, from exact row counts. These are upper limits, because a
  /// question ends with its answer and an UPDATE writes only rows that change.
  package internal(set) var rowsRead: Int64 = 0
  package internal(set) var rowsWritten: Int64 = 0
  /// The disk space in bytes that the work needs temporarily, in addition to the current database. The size
  /// of each table is estimated from its first rows, and is at most the size of the file.
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
    if extraDisk > 0 {
      parts.append("needs about \(FreeSpace.size(Double(extraDisk))) of disk space")
    }
    return parts.joined(separator: ", ")
  }
}

/// The sizes of the tables. Each table is measured once.
struct TableSizes {
  private let connection: Connection
  private var known: [Identifier: Size] = [:]
  /// The size of all pages in use: the rows of all tables together cannot be larger.
  private let limit: Int64

  private struct Size {
    let rows: Int64
    let bytes: Int64
  }

  /// The number of rows that are read to estimate the size of a row.
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
    // A record has at least one byte for each column, and a cell has some bytes for its length and its rowid
    // (Database File Format, sections 2.1 and 1.6).
    let bytes = lengths.reduce(0.0) { if case .real(let sum) = $1 { $0 + sum } else { $0 } }
    let row = bytes / Double(sampled) + Double(columns.count) + 8
    let size = Size(rows: rows, bytes: min(Int64(row * Double(rows)), limit))
    known[key] = size
    return size
  }
}
