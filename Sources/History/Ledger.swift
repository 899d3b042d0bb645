import SchemaModel
import SchemaSQLText
import SchemaSQLite

extension Ledger {
  package var createStatement: String {
    """
    CREATE TABLE \(name) (
      id TEXT PRIMARY KEY NOT NULL, position INTEGER NOT NULL, raw_digest TEXT NOT NULL, \
    canonical_digest TEXT NOT NULL,
      fingerprint TEXT NOT NULL, started_at TEXT NOT NULL /* 2026-11-20T13:00:00.000Z */, \
    milliseconds INTEGER NOT NULL, tool_version TEXT NOT NULL
    )
    """
  }

  /// As SQL names it.
  package var name: String { Quoting.identifier(table.text) }

  static let columns = [
    "id", "position", "raw_digest", "canonical_digest", "fingerprint", "started_at",
    "milliseconds", "tool_version",
  ]

  /// The rows in the order of their positions; nil when the database has no ledger.
  package func rows(in connection: Connection) throws(LedgerReadError) -> [LedgerRow]? {
    do throws(DatabaseError) {
      let found = try connection.rows("PRAGMA main.table_xinfo(\(name))")
      if found.isEmpty { return nil }
      // A view or virtual table has no primary key and so does not pass either.
      let isLedger = found.map { $0[1].text } == Self.columns && found[0][5] == .integer(1)
      if isLedger { return try readRows(connection) }
    } catch {
      throw .database(error)
    }
    throw .notALedger(self)
  }

  /// The ledgers of the other histories in the database.
  package func others(in connection: Connection) throws(DatabaseError) -> [Ledger] {
    let columns = Self.columns.joined(separator: ",")
    let names = try connection.rows(
      """
      SELECT t.name FROM main.sqlite_schema AS t WHERE t.type = 'table' AND t.rootpage > 0
        AND '\(columns)' = (SELECT group_concat(c.name) FROM pragma_table_info(t.name, 'main') AS c)
      ORDER BY t.name
      """)
    return names.compactMap { $0[0].text.map { Ledger(table: $0.identifier) } }
      .filter { $0 != self }
  }

  private func readRows(_ connection: Connection) throws(DatabaseError) -> [LedgerRow] {
    let statement = try connection.prepare(
      "SELECT \(Self.columns.joined(separator: ", ")) FROM main.\(name) ORDER BY position, id")
    var rows: [LedgerRow] = []
    while try statement.step() {
      func text(_ column: Int) throws(DatabaseError) -> String {
        try statement.text(column) ?? ""
      }
      rows.append(
        LedgerRow(
          id: try text(0), position: statement.integer(1), rawDigest: try text(2),
          canonicalDigest: try text(3), fingerprint: try text(4), startedAt: try text(5),
          milliseconds: statement.integer(6), toolVersion: try text(7)))
    }
    return rows
  }

  package func insert(
    _ row: LedgerRow, into connection: Connection
  ) throws(DatabaseError) {
    try Self.write(to: connection) { () throws(DatabaseError) in
      try connection.execute(
        "INSERT INTO main.\(name) (\(Self.columns.joined(separator: ", "))) "
          + "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", row.values)
    }
  }

  /// Writes that fire no trigger: one on the ledger is not ours, and would run with every migration.
  package static func write(
    to connection: Connection, _ body: () throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    let fires = connection.isOn(.triggers)
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: fires) }
    try body()
  }
}

/// Why a ledger could not be read.
package enum LedgerReadError: Error, Equatable, Sendable, CustomStringConvertible {
  /// There is something of the ledger's name with other columns.
  case notALedger(Ledger)
  case database(DatabaseError)

  package var description: String {
    switch self {
    case .notALedger(let ledger):
      "\(ledger) is not a ledger of schemactl: it has other columns; rename or drop "
        + "the table, or use the version of schemactl that created it"
    case .database(let error): error.description
    }
  }
}

/// One migration that a database has run.
///
/// Read from a database that anything may have written to: digests need not be digests, and what
/// is not a number reads as 0.
package struct LedgerRow: Sendable, Equatable {
  package var id: String
  /// Counts up from 1 in the order of the history.
  package var position: Int64
  package var rawDigest: String
  package var canonicalDigest: String
  /// Of the schema after the migration.
  package var fingerprint: String
  /// As `Timestamp` writes it.
  package var startedAt: String
  package var milliseconds: Int64
  package var toolVersion: String

  package init(
    id: String, position: Int64, rawDigest: String, canonicalDigest: String, fingerprint: String,
    startedAt: String, milliseconds: Int64, toolVersion: String
  ) {
    self.id = id
    self.position = position
    self.rawDigest = rawDigest
    self.canonicalDigest = canonicalDigest
    self.fingerprint = fingerprint
    self.startedAt = startedAt
    self.milliseconds = milliseconds
    self.toolVersion = toolVersion
  }

  package var values: [Value] {
    [
      .text(id), .integer(position), .text(rawDigest), .text(canonicalDigest), .text(fingerprint),
      .text(startedAt), .integer(milliseconds), .text(toolVersion),
    ]
  }

  /// The INSERT with its values as literals, to be shown in a plan.
  package func insertStatement(into ledger: Ledger) -> String {
    let literals = values.map { value in
      value.integer.map(String.init) ?? Quoting.stringLiteral(value.text ?? "")
    }
    return "INSERT INTO \(ledger.name) (\(Ledger.columns.joined(separator: ", "))) "
      + "VALUES (\(literals.joined(separator: ", ")))"
  }
}
