import Foundation
import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// All that a database holds, but for what differs from one run of the same migrations to the next:
/// when a migration started, and how long it took.
struct DatabaseState: Equatable {
  let fingerprint: String
  let ledger: [String]
  /// A digest of each table's rows, with their rowids.
  let tables: [String: Int]

  /// Also checks what holds for every database, whatever its content.
  ///
  /// - Throws: `Damage` when it does not.
  init(of connection: Connection) throws {
    let report = try connection.rows("PRAGMA integrity_check")
    guard report == [[.text("ok")]] else { throw Damage("integrity_check: \(report.prefix(3))") }
    let violations = try connection.rows("PRAGMA foreign_key_check")
    guard violations.isEmpty else { throw Damage("foreign_key_check: \(violations.prefix(3))") }
    fingerprint = try Schema(of: connection).fingerprint()
    ledger = (try Ledger.rows(in: connection) ?? []).map {
      "\($0.position) \($0.id) \($0.rawDigest) \($0.canonicalDigest) \($0.fingerprint)"
    }
    var tables: [String: Int] = [:]
    for row in try connection.rows(
      "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type <> 'view'")
    {
      guard let name = row[0].text, !Self.changing.contains(name) else { continue }
      let key = row[1] == .integer(1) ? "" : "rowid, "
      tables[name] = try connection.rows("SELECT \(key)* FROM main.\(Quoting.quoted(name))")
        .hashValue
    }
    self.tables = tables
  }

  /// Their rows hold times. The first is read as `ledger`; the last as `fingerprint`, and where its
  /// tables begin says nothing.
  private static let changing: Set = [Ledger.tableName, "schemactl_repairs", "sqlite_schema"]

  /// What differs, to say why a database is at no boundary.
  func difference(from other: DatabaseState) -> String {
    var found: [String] = []
    if fingerprint != other.fingerprint { found.append("the schema") }
    if ledger != other.ledger { found.append("the ledger (\(ledger.count) rows)") }
    let names = Set(tables.keys).union(other.tables.keys).filter { tables[$0] != other.tables[$0] }
    return (found + names.sorted()).joined(separator: ", ")
  }
}

/// What no database may be in.
struct Damage: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
