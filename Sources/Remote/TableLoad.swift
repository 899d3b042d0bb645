import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The size of a table, measured on the leader.
struct TableLoad {
  let table: String
  /// At most `most`.
  let rows: Int64
  /// A name of the rowid that no column hides; nil in a table without one.
  let rowid: String?
  /// A column that is another name of the rowid.
  let key: Identifier?
  /// The columns that store values.
  let columns: [String]
  /// The bytes of all values, estimated from the first rows.
  let bytes: Int64

  /// A statement on a table with at most so many rows is not divided.
  static let fewRows: Int64 = 5_000
  /// Counting the rows of a table ends here.
  static let most: Int64 = 2_000_000
  /// The seconds that one statement may take. With the settings of go-dqlite, 0.4 s commit and 0.6 s can lose the
  /// leadership.
  static let longest = 0.2
  /// The bytes that one COMMIT may write: on three nodes of one machine 8 MB take 0.17 s, 16 MB take 0.39 s, and
  /// 24 MB lose the leadership.
  static let largest: Int64 = 8 * 1_048_576
  static let pageSize: Int64 = 4_096

  /// - Returns: nil for a table that does not exist.
  init?(of name: Identifier, on leader: NodeConnection) throws(DatabaseError) {
    guard
      let entry = try leader.rows(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
          + "AND name = ?1 COLLATE NOCASE", [.text(name.text)]
      ).first
    else { return nil }
    let table = entry[0].text ?? name.text
    self.table = table
    let from = "main.\(Quoting.quoted(table))"
    rows =
      try leader.rows("SELECT count(*) FROM (SELECT 1 FROM \(from) LIMIT \(Self.most))")
      .first?[0].integer ?? 0
    let found = try leader.rows(
      "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1)", [.text(table)])
    let names = Set(found.compactMap { $0[0].text?.identifier })
    rowid =
      entry[1] == 1 ? nil : ["rowid", "oid", "_rowid_"].first { !names.contains($0.identifier) }
    let keys = found.filter { $0[2] != 0 }
    key =
      keys.count == 1 && keys[0][1].text?.identifier == "integer"
      ? keys[0][0].text?.identifier : nil
    columns = found.filter { $0[3] == 0 }.compactMap { $0[0].text }
    let plain = columns.map(Quoting.quoted)
    let length = plain.map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }
    let sample = try leader.rows(
      "SELECT avg(\((["8"] + length).joined(separator: " + "))) FROM (SELECT * FROM \(from) LIMIT 1000)"
    )
    let average = if case .real(let real)? = sample.first?[0] { real } else { 0.0 }
    bytes = Int64(average * Double(rows))
  }

  /// The most bytes that a number of changed rows writes: each may be on another page, or on several.
  func bytes(changing changed: Int64) -> Int64 {
    min(bytes, changed * max(Self.pageSize, bytes / max(rows, 1)))
  }

  /// Whether a divided statement can run by the ranges of this table's rowids.
  func divides(_ statement: DividedStatement) -> Bool {
    rowid != nil && key.map { !statement.assigned.contains($0) } ?? true
  }
}
