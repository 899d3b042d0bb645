import Foundation
import SchemaHistory
import SchemaModel
import SchemaSQLite

/// The allowed states of a database: before, between and after migrations. Each is stored in a separate file.
struct Boundaries {
  private(set) var files: [String] = []
  private let folder: String

  /// - Parameter folder: the folder for the files.
  init(in folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  mutating func add(_ database: String) throws {
    let file = "\(folder)/\(files.count).sqlite"
    let copy = try Connection(path: file)
    try Connection(path: database, mode: .readWrite).backup(to: copy)
    try copy.execute("PRAGMA journal_mode = DELETE")
    files.append(file)
  }

  /// Returns the index of the state that equals the database; nil if no state is equal.
  func index(of connection: Connection) throws -> Int? {
    try files.firstIndex { try isEqual(connection, to: $0) }
  }

  /// Compares the SQL of every object, and every row with its rowid, except for times in the ledger.
  private func isEqual(_ connection: Connection, to file: String) throws -> Bool {
    let other = try Connection(path: file, mode: .readOnly)
    guard try areEqual("type, name, tbl_name, sql", "sqlite_schema", connection, other) else {
      return false
    }
    let tables = try connection.rows(
      """
      SELECT name, wr, name = '\(Ledger.usual.table)' FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema'
      """)
    return try tables.allSatisfy { table in
      let columns =
        table[2] == .integer(1)
        ? "id, position, raw_digest, canonical_digest, fingerprint"
        : table[1] == .integer(1) ? "*" : "rowid, *"
      return try areEqual(columns, "\"\(table[0].text ?? "")\"", connection, other)
    }
  }

  private func areEqual(
    _ columns: String, _ table: String, _ connection: Connection, _ other: Connection
  ) throws -> Bool {
    let query = "SELECT \(columns) FROM main.\(table)"
    let (here, there) = (try connection.rows(query), try other.rows(query))
    return here == there || here.count == there.count && Set(here) == Set(there)
  }
}
