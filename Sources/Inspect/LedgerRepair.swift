import SchemaCopies
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A correction of one migration's row in a ledger. A person has to request it: the schema shows whether the
/// correction fits, but not what happened to the database.
package struct LedgerRepair: Sendable {
  package enum Action: String, Sendable, CaseIterable {
    /// The migration has run, but the ledger does not contain it.
    case applied
    /// The migration has not run, but the ledger contains it.
    case absent
    /// The migration has run, with the effect of its current form: the repair replaces the digests.
    case current
  }

  package let id: String
  package let action: Action
  package let reason: String

  package init(id: String, action: Action, reason: String) {
    self.id = id
    self.action = action
    self.reason = reason
  }
}

/// The changes of a repair, which are shown before the command asks for confirmation.
package struct RepairPlan: Sendable {
  package let repair: LedgerRepair
  package let after: [LedgerEntry]
  /// The differences between the live schema and the schema that the repaired ledger promises.
  package let drift: [SchemaChange]
  let rows: [LedgerRow]
  let repaired: [LedgerRow]

  /// Whether `migrate` can continue from the repaired ledger, and the schema matches it.
  package var isClean: Bool { drift.isEmpty && !after.contains(where: \.state.stops) }
}

extension Project {
  /// Plans a repair. Writes nothing.
  package func plan(
    _ repair: LedgerRepair, of readable: ReadableDatabase
  ) throws(Failure) -> RepairPlan {
    let database = readable.name
    let live = try LiveDatabase(readable.connection, ledger, path: database)
    let current = try view(of: readable)
    try current.requireIntactHistory()
    guard let rows = live.rows else {
      throw Failure(.finding, "`\(database)` has no ledger to repair")
    }
    try failing(on: database) {
      _ = try RecordedRepair.exists(of: ledger, in: readable.connection)
    }
    let repaired = try current.repaired(rows, by: repair)
    // The repair may change which of the squashed migrations have run.
    let view = try view(of: database, after: Set(repaired.map(\.id.exact)))
    let counted = try view.countingSquash(repaired, path: database) ?? []
    let known = Set(counted.map(\.id.exact))
    // A migration that is missing from the ledger has not run, wherever it is in the history.
    let scratch: ScratchDatabase
    do throws(Failure) {
      scratch = try view.replay(view.migrations.filter { known.contains($0.id) })
    } catch {
      throw view.obstacle(to: repair, error, database)
    }
    return RepairPlan(
      repair: repair,
      after: view.compareLedger(counted),
      drift: view.drift(of: live.schema, from: scratch.schema),
      rows: rows, repaired: repaired)
  }

  /// The failure to record a migration as absent because a later one that has run needs it; otherwise
  /// `failure` itself.
  private func obstacle(
    to repair: LedgerRepair, _ failure: Failure, _ database: String
  ) -> Failure {
    guard repair.action == .absent, failure.status == .migrationFailed,
      let id = failure.migration?.id, MigrationNumber(id: id) > MigrationNumber(id: repair.id)
    else { return failure }
    return Failure(
      .finding,
      "schemactl cannot record `\(repair.id)` as absent: `\(database)` has also run `\(id)`, which needs "
        + "it. Nothing changed",
      remedy: "If the database has not run `\(id)` either, record that first: `schemactl repair "
        + "\(shellQuoted(id)) absent --reason … --database \(shellQuoted(database))`")
  }

  private func repaired(
    _ rows: [LedgerRow], by repair: LedgerRepair
  ) throws(Failure) -> [LedgerRow] {
    var rows = rows
    let place = rows.firstIndex { $0.id == repair.id }
    switch (repair.action, place) {
    case (.absent, let index?): rows.remove(at: index)
    case (.absent, nil): throw Failure(.usage, "the ledger has no row for `\(repair.id)`")
    case (.applied, _?):
      throw Failure(
        .usage, "the ledger already has a row for `\(repair.id)`: the state `current` rewrites it")
    case (.applied, nil): rows.append(try row(of: repair.id))
    case (.current, let index?): rows[index] = try row(of: repair.id, like: rows[index])
    case (.current, nil):
      throw Failure(
        .usage, "the ledger has no row for `\(repair.id)`: the state `applied` adds one")
    }
    // Positions follow the order of the history; unknown migrations come last. Migrations that a squash
    // replaces keep their positions.
    let replaced = Set(squash?.manifest.squashed.map(\.exact) ?? [])
    let order = Dictionary(
      migrations.enumerated().map {
        ($1.id.exact, Int64($0 + 1 + migrations.positionOffset))
      }, uniquingKeysWith: { a, _ in a })
    var next = Int64(migrations.count + migrations.positionOffset)
    for index in rows.indices where !replaced.contains(rows[index].id) {
      next += order[rows[index].id] == nil ? 1 : 0
      rows[index].position = order[rows[index].id] ?? next
    }
    return rows.sorted { $0.position < $1.position }
  }

  private func row(of id: String, like old: LedgerRow? = nil) throws(Failure) -> LedgerRow {
    let index = try index(ofMigration: id)
    let scratch = try replay(Array(migrations[...index]))
    return LedgerRow(
      of: migrations[index], at: index + migrations.positionOffset,
      fingerprint: scratch.fingerprint,
      startedAt: old?.startedAt ?? Timestamp.now.description,
      milliseconds: old?.milliseconds ?? 0)
  }

  /// Writes a repair and records it, in one transaction.
  ///
  /// - Throws: a failure if the ledger has changed since the plan was made.
  package func carryOut(_ plan: RepairPlan, database: String, timeout: Double) throws(Failure) {
    try DatabaseFile.write(to: database, timeout: timeout) { connection in
      guard try ledger.rows(in: connection) == plan.rows else {
        throw Failure(
          .busy, "another process changed the ledger of `\(database)`: run the command again")
      }
      try Ledger.write(to: connection) { () throws(DatabaseError) in
        try connection.execute("DELETE FROM main.\(ledger.name)")
      }
      for row in plan.repaired { try ledger.insert(row, into: connection) }
      try RecordedRepair.record(plan, of: ledger, on: connection)
    }
  }
}

/// An earlier repair, as the database records it.
package struct RecordedRepair: Sendable {
  package let at: String
  package let id: String
  package let action: String
  package let reason: String

  /// Whether the database has a record of repairs.
  ///
  /// - Throws: a failure if another program created the table, or a `DatabaseError`.
  static func exists(of ledger: Ledger, in connection: Connection) throws -> Bool {
    try Ledger.has(
      ledger.repairs, ["at", "id", "action", "reason", "old_row", "tool_version"], key: 0,
      called: "schemactl's record of repairs", in: connection)
  }

  static func all(of ledger: Ledger, in connection: Connection) throws -> [RecordedRepair] {
    guard try exists(of: ledger, in: connection) else { return [] }
    let table = Quoting.identifier(ledger.repairs)
    return try connection.rows("SELECT at, id, action, reason FROM main.\(table) ORDER BY rowid")
      .map { row in
        RecordedRepair(
          at: row[0].text ?? "", id: row[1].text ?? "", action: row[2].text ?? "",
          reason: row[3].text ?? "")
      }
  }

  fileprivate static func record(
    _ plan: RepairPlan, of ledger: Ledger, on connection: Connection
  ) throws(DatabaseError) {
    let table = Quoting.identifier(ledger.repairs)
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS main.\(table) (
        at TEXT NOT NULL, id TEXT NOT NULL, action TEXT NOT NULL, reason TEXT NOT NULL,
        old_row TEXT, tool_version TEXT NOT NULL
      )
      """)
    let old = plan.rows.first { $0.id == plan.repair.id }
    try Ledger.write(to: connection) { () throws(DatabaseError) in
      try connection.execute(
        "INSERT INTO main.\(table) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        [
          .text(Timestamp.now.description), .text(plan.repair.id),
          .text(plan.repair.action.rawValue), .text(plan.repair.reason),
          old.map { .text($0.insertStatement(into: ledger)) } ?? .null, .text(ToolVersion.current),
        ])
    }
  }
}
