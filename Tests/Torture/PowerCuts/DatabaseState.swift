import Foundation
import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// The content of a database without the values that differ between runs: the start times and the durations
/// of migrations.
struct DatabaseState: Equatable {
  let fingerprint: String
  let ledger: [String]
  /// A digest of each table's rows, including rowids.
  let tables: [String: Int]

  /// Reads the state. Also checks properties that all databases must have.
  ///
  /// - Throws: `Damage` if a check fails.
  init(of connection: Connection) throws {
    let report = try connection.rows("PRAGMA integrity_check")
    guard report == [[.text("ok")]] else { throw Damage("integrity_check: \(report.prefix(3))") }
    let violations = try connection.rows("PRAGMA foreign_key_check")
    guard violations.isEmpty else { throw Damage("foreign_key_check: \(violations.prefix(3))") }
    fingerprint = try Schema(of: connection).fingerprint()
    ledger = (try Ledger.usual.rows(in: connection) ?? []).map {
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

  /// Tables with values that differ between runs. `ledger` contains the first one without its times.
  /// `fingerprint` covers the last one without root pages.
  private static let changing: Set = [Ledger.usual.table, "schemactl_repairs", "sqlite_schema"]

  /// Describes the difference from another state.
  func difference(from other: DatabaseState) -> String {
    var found: [String] = []
    if fingerprint != other.fingerprint { found.append("the schema") }
    if ledger != other.ledger { found.append("the ledger (\(ledger.count) rows)") }
    let names = Set(tables.keys).union(other.tables.keys).filter { tables[$0] != other.tables[$0] }
    return (found + names.sorted()).joined(separator: ", ")
  }
}

/// The database has a property that is never allowed.
struct Damage: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
