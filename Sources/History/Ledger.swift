import SchemaModel
import SchemaPlatform
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

  /// The quoted name of the table.
  package var name: String { Quoting.identifier(table.text) }

  static let columns = [
    "id", "position", "raw_digest", "canonical_digest", "fingerprint", "started_at",
    "milliseconds", "tool_version",
  ]

  /// The rows in the order of their positions; nil when the database has no ledger.
  ///
  /// - Throws: a failure if an object has the name of the ledger but other columns, or a `DatabaseError`.
  package func rows(in connection: Connection) throws -> [LedgerRow]? {
    try exists(in: connection) ? readRows(connection) : nil
  }

  private func exists(in connection: Connection) throws -> Bool {
    // Views and virtual tables have no primary key, so this check excludes them too.
    try Self.has(table.text, Self.columns, key: 1, called: "a ledger of schemactl", in: connection)
  }

  /// Whether the database has one of schemactl's own tables.
  ///
  /// - Parameters:
  ///   - key: the position of the first column in the primary key; 0 if it is not part of the key.
  ///   - noun: the purpose of the table, for the message.
  /// - Throws: a failure if an object has the name of the table but other columns, or a `DatabaseError`.
  package static func has(
    _ table: String, _ columns: [String], key: Int64, called noun: String,
    in connection: Connection
  ) throws -> Bool {
    let found = try connection.rows("PRAGMA main.table_xinfo(\(Quoting.identifier(table)))")
    if found.isEmpty { return false }
    guard found.map({ $0[1].text }) == columns, found[0][5] == .integer(key),
      try connection.sql(ofTable: table) != nil
    else {
      throw Failure(
        .brokenHistory,
        "\(connection.path): `\(table)` is not \(noun): it has other columns or another key; rename "
          + "or drop it, or use the version of schemactl that created it")
    }
    return true
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

  /// Runs `body` with triggers disabled. A trigger on the ledger is not schemactl's, and would fire for every
  /// migration.
  package static func write(
    to connection: Connection, _ body: () throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    let fires = connection.isOn(.triggers)
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: fires) }
    try body()
  }
}

/// One migration that a database has run.
///
/// Another program may have written the row: digests can be invalid, and a column that is not a number reads
/// as 0.
package struct LedgerRow: Sendable, Equatable {
  package var id: String
  /// The position in the order of the history, from 1.
  package var position: Int64
  package var rawDigest: String
  package var canonicalDigest: String
  /// The fingerprint of the schema after the migration.
  package var fingerprint: String
  /// The start time, as `Timestamp` writes it.
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

  /// The row that this version of schemactl writes for a migration.
  ///
  /// - Parameter index: the index of the migration in the history, from 0.
  package init(
    of migration: Migration, at index: Int, fingerprint: String, startedAt: String,
    milliseconds: Int64 = 0, toolVersion: String = ToolVersion.current
  ) {
    self.init(
      id: migration.id, position: Int64(index + 1), rawDigest: migration.rawDigest,
      canonicalDigest: migration.canonicalDigest, fingerprint: fingerprint, startedAt: startedAt,
      milliseconds: milliseconds, toolVersion: toolVersion)
  }

  package var values: [Value] {
    [
      .text(id), .integer(position), .text(rawDigest), .text(canonicalDigest), .text(fingerprint),
      .text(startedAt), .integer(milliseconds), .text(toolVersion),
    ]
  }

  /// The INSERT with its values as literals, for a plan.
  package func insertStatement(into ledger: Ledger) -> String {
    let literals = values.map { value in
      value.integer.map(String.init) ?? Quoting.stringLiteral(value.text ?? "")
    }
    return "INSERT INTO \(ledger.name) (\(Ledger.columns.joined(separator: ", "))) "
      + "VALUES (\(literals.joined(separator: ", ")))"
  }
}

// MARK: Up-to-date databases

/// The data that a ledger records about an applied migration.
package struct AppliedForm: Sendable {
  package let id: String
  package let rawDigest: String
  /// Nil for a draft that was not decoded.
  package let canonicalDigest: String?
}

extension MigrationFolder {
  /// The expected ledger of an up-to-date database. Computed from the bytes of the manifests, without
  /// decoding them.
  ///
  /// - Returns: nil if a file, a name or the lock has a problem, if files conflict with each other or with
  ///   the lock, or if an edit was accepted. The full comparison must then decide.
  package func appliedForms() -> [AppliedForm]? {
    guard let names = try? manifestNames(), names.allSatisfy({ $0.problem == nil }),
      let frozen = try? lock()?.entries ?? []
    else { return nil }
    let sorted = names.map { (number: MigrationNumber(id: $0.id), name: $0) }
      .sorted { $0.number < $1.number }
    guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.number < $1.number }),
      zip(frozen, sorted).allSatisfy({ $0.id == $1.name.id }), frozen.count <= sorted.count
    else { return nil }
    var forms: [AppliedForm] = []
    for (index, (_, name)) in sorted.enumerated() {
      let bytes = try? readFile(
        joinedPath(path, name.text), inFolder: path, limit: Self.manifestSizeLimit)
      guard let raw = bytes.map(rawDigest) else { return nil }
      let entry = frozen.indices.contains(index) ? frozen[index] : nil
      guard entry.map({ $0.digests.raw == raw && $0.acceptances.isEmpty }) ?? true else {
        return nil
      }
      forms.append(
        AppliedForm(id: name.id, rawDigest: raw, canonicalDigest: entry?.digests.canonical))
    }
    return forms
  }
}

extension Ledger {
  /// Whether the ledger contains exactly these migrations in this order.
  ///
  /// Each start of an app and each database of a large fleet asks this question, and the answer is nearly
  /// always yes. The rows are read in the order in which they are stored, which is the order in which they
  /// were written: sorting them takes as long as reading them.
  ///
  /// - Returns: false also for rows in another order, and for every problem that the full run reports.
  package func holds(_ forms: some Sequence<AppliedForm>, in connection: Connection) -> Bool {
    // `SELECT` would not notice additional columns.
    guard (try? exists(in: connection)) == true else { return false }
    do throws(DatabaseError) {
      let statement = try connection.prepare(
        "SELECT id, raw_digest, canonical_digest, position, fingerprint FROM main.\(name)")
      func isDigest(_ column: Int) throws(DatabaseError) -> Bool {
        try statement.withUTF8(of: column) { bytes in
          bytes.map { SchemaHistory.isDigest($0) } ?? false
        }
      }
      var last: Int64 = 0
      for form in forms {
        guard try statement.step(), try statement.holds(form.id, in: 0),
          try statement.holds(form.rawDigest, in: 1), statement.integer(3) > last,
          try isDigest(4)
        else { return false }
        let isSame =
          if let canonical = form.canonicalDigest {
            try statement.holds(canonical, in: 2)
          } else {
            try isDigest(2)
          }
        guard isSame else { return false }
        last = statement.integer(3)
      }
      let hasMore = try statement.step()
      return last > 0 && !hasMore
    } catch {
      return false
    }
  }
}
