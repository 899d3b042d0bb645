import History
import ManifestFormat
import Planning
import SQLText
import SQLite
import SchemaModel

/// What the pending migrations become against a database's schema. Nothing has run.
package struct PlanReport: Sendable {
  package let database: String?
  package let hasLedger: Bool
  package let isHistoryEmpty: Bool
  package var migrations: [PlannedMigration]
  /// Why the plan ends early.
  package var failure: Failure?
}

package struct PlannedMigration: Sendable {
  package let migration: Migration
  package let operations: [OperationPlan]
  /// What the ledger will say of it.
  package let row: LedgerRow
  /// Tables in which the migration can break foreign keys: those that are there before it, and
  /// those that are there after.
  package let foreignKeysBefore: [String]
  package let foreignKeysAfter: [String]
  /// Tables that it writes, in folded spelling.
  package let written: Set<String>
  /// How to remove what the migration makes for itself alone.
  let temporary: [String]
}

extension Project {
  /// Plans what is pending, each migration against the schema that the ones before it leave.
  ///
  /// - Parameter database: nil, or a file that is not there, is an empty database.
  package func plan(_ options: MigrateOptions, database: String?) throws(Failure) -> PlanReport {
    try requireIntactHistory()
    let targets = try targets(options)
    try requireEngine(for: targets)
    var schema = Schema()
    var rows: [LedgerRow]?
    if let database, try DatabaseFile.exists(database) {
      let live = try LiveDatabase(
        DatabaseFile.openForReading(database, timeout: options.timeout), path: database)
      try live.requireOurs(self, path: database)
      _ = try requireUsableLedger(live.rows)
      rows = live.rows
      schema = live.schema
      schema.objects.removeAll { Ledger.isLedger($0.table) }
    }
    let known = Set((rows ?? []).map(\.id))
    var report = PlanReport(
      database: database, hasLedger: rows != nil, isHistoryEmpty: targets.isEmpty, migrations: [])
    let shadow = try Shadow(application, from: schema)
    var keys = ForeignKeyGraph(schema)
    // The ledger records the schema that the history promises, whatever stands in the database.
    let expected = try Shadow(application)
    for (index, migration) in targets.enumerated() {
      do {
        try expected.apply(migration)
        guard !known.contains(migration.id) else { continue }
        var operations: [OperationPlan] = []
        let step = try shadow.apply(migration) { operations.append($0) }
        let touched = step.touch.written.union(step.delta.keys.map(\.name))
        let before = keys.affected(by: touched)
        keys.apply(step.delta)
        report.migrations.append(
          PlannedMigration(
            migration: migration, operations: operations,
            row: LedgerRow(
              id: migration.id, position: Int64(index + 1), rawDigest: migration.rawDigest,
              canonicalDigest: migration.canonicalDigest, fingerprint: expected.fingerprint,
              startedAt: "", milliseconds: 0, toolVersion: ToolVersion.current),
            foreignKeysBefore: before, foreignKeysAfter: keys.affected(by: touched),
            written: step.touch.written,
            temporary: step.temporary.map(\.drop)))
      } catch {
        if error.status == .invalidInput { throw error }
        report.failure = error
        break
      }
    }
    return report
  }
}
