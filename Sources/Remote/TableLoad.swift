import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// The size of a table, measured on the leader.
struct TableLoad {
  let table: String
  /// The number of rows, at most `most`.
  let rows: Int64
  /// The columns that store values.
  let columns: [String]
  let hasRowid: Bool
  /// The average size in bytes of a row's values, and of its entries in all indexes, among the first 1,000
  /// rows.
  private let row: Int64
  private let entries: Int64
  /// Whether the table did not exist when it was measured. Then the size is that of the table from which it
  /// is filled.
  private(set) var isOfSource = false

  /// The number of rows up to which the statements on a table are not divided.
  static let fewRows: Int64 = 5_000
  /// The number at which counting the rows of a table stops.
  static let most: Int64 = 2_000_000
  /// The maximum duration of one statement, in seconds. With the settings of go-dqlite, statements of 0.4 s
  /// are committed, and statements of 0.6 s can lose the leadership.
  static let longest = 0.2

  /// Measures a table.
  ///
  /// - Returns: nil if the table does not exist.
  init?(of name: Identifier, on leader: NodeConnection) throws(DatabaseError) {
    let found = try leader.rows(
      "SELECT l.name, c.name, l.wr FROM pragma_table_list AS l JOIN pragma_table_xinfo(l.name) AS c "
        + "WHERE l.schema = 'main' AND l.type = 'table' AND l.name = ?1 COLLATE NOCASE "
        + "AND c.hidden = 0 ORDER BY c.cid", [.text(name.text)], columns: 3)
    guard let table = found.first?[0].text else { return nil }
    self.table = table
    columns = found.compactMap { $0[1].text }
    hasRowid = found.first?[2] == 0
    let indexed = try leader.rows(
      "SELECT c.name FROM pragma_index_list(?1) AS l JOIN pragma_index_xinfo(l.name) AS c",
      [.text(table)], columns: 1)
    let names = Set(columns.map(\.identifier))
    func length(_ columns: [String]) -> String {
      let lengths = columns.map {
        names.contains($0.identifier)
          ? "coalesce(length(CAST(\(Quoting.quoted($0)) AS BLOB)), 0)" : "8"
      }
      return "CAST(avg(\((lengths + ["8"]).joined(separator: " + "))) AS INTEGER)"
    }
    let from = "main.\(Quoting.quoted(table))"
    let sample = try leader.rows(
      "SELECT \(length(columns)), \(length(indexed.map { $0[0].text ?? "" })) "
        + "FROM (SELECT \(quotedList(columns)) FROM \(from) LIMIT 1000)", columns: 2
    ).first
    rows =
      try leader.rows("SELECT count(*) FROM (SELECT 1 FROM \(from) LIMIT \(Self.most))").first?[0]
      .count ?? 0
    row = max(sample?[0].count ?? 0, 1)
    entries = indexed.isEmpty ? 0 : sample?[1].count ?? 0
  }

  /// The size of all rows in bytes.
  var bytes: Int64 { rows.times(row) }

  /// The number of first rows to copy for measuring statements.
  var sample: Int64 {
    min(Self.fewRows, max(1, CommitSize.largest * 2 / row))
  }

  /// The size for a table that is filled with the rows of this one.
  var asSource: Self {
    var load = self
    load.isOfSource = true
    return load
  }

  /// Returns the maximum number of bytes that a number of changed rows writes. Each row may be on another
  /// page, or on several pages.
  ///
  /// - Parameter indexes: the number of indexes that change. The rows of a WITHOUT ROWID table count as an
  ///   index.
  func bytes(changing changed: Int64, indexes: Int64) -> Int64 {
    let bytes = min(max(rows, changed).times(row), changed.times(max(CommitSize.pageSize, row)))
    return (hasRowid ? bytes : 0) + entryBytes(changing: changed, indexes: indexes)
  }

  /// Returns the maximum number of bytes that their entries in the indexes write.
  func entryBytes(changing changed: Int64, indexes: Int64) -> Int64 {
    min(
      max(rows, changed).times(entries),
      changed.times(indexes).times(max(CommitSize.pageSize, entries)))
  }
}

extension Value {
  /// A number of rows or bytes that a node reports, between 0 and 2^56.
  var count: Int64 { min(max(integer ?? 0, 0), 1 << 56) }
}

extension Int64 {
  /// Returns the product of two counts, at most 2^56.
  func times(_ other: Int64) -> Int64 {
    let (product, isTooLarge) = multipliedReportingOverflow(by: other)
    return isTooLarge ? 1 << 56 : Swift.min(product, 1 << 56)
  }
}
