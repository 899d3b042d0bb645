import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// What the pending migrations become against a database's schema. Nothing has run.
package struct PlanReport: Sendable {
  package let database: String?
  package let hasLedger: Bool
  /// The ledger's rows of the migrations that another tool has made.
  package var adopted: [LedgerRow] = []
  package let isHistoryEmpty: Bool
  /// Whether there is a database whose rows tell what the plan costs.
  package let isMeasured: Bool
  package var migrations: [PlannedMigration]
  /// What the database has run beyond the last migration that was asked for.
  package var beyond: Beyond?
  /// How the database differs from what its history says it is.
  package var drift: [SchemaChange] = []
  /// Why the plan ends early.
  package var failure: Failure?

  /// Of all operations whose cost is known; nil without a database.
  package var cost: Cost? {
    isMeasured ? costs.compactMap { $0 }.reduce(Cost(), +) : nil
  }

  /// Whether `cost` leaves out operations of which nobody can tell.
  package var isCostPartial: Bool { costs.contains(nil) }

  private var costs: [Cost?] { migrations.flatMap(\.costs) }
}

package struct PlannedMigration: Sendable {
  package let migration: Migration
  package let operations: [OperationPlan]
  /// For each operation.
  package let work: [Work]
  /// For each operation: nil without a database, and where nobody can tell.
  package let costs: [Cost?]
  /// What the ledger will say of it.
  package let row: LedgerRow
  /// Tables in which the migration can break foreign keys: those that are there before it, and
  /// those that are there after.
  package let foreignKeysBefore: [String]
  package let foreignKeysAfter: [String]
  /// For each operation: tables that those before it write, in folded spelling.
  let writtenBefore: [Set<Identifier>]
  /// For each operation: what must be unique from then on.
  let newKeys: [[UniqueKey]]
  /// Tables that it writes, in folded spelling.
  package let written: Set<Identifier>
  /// Those of them whose rows are changed or removed.
  let rewritten: Set<Identifier>
  /// How to remove what the migration makes for itself alone.
  package let temporary: [String]
  /// The statements that have run on the scratch database, in order.
  package let statements: [ReplayedStatement]
  /// The schema without the ledger before the migration and after it.
  package let before: Schema
  package let after: Schema
}

extension Project {
  /// Plans what is pending, each migration against the schema that the ones before it leave.
  ///
  /// - Parameter database: nil, or a file that is not there, is an empty database.
  package func plan(_ options: MigrateOptions, database: String?) throws(Failure) -> PlanReport {
    guard let database else { return try planInView(options, database: nil) }
    let view = try view(of: database, timeout: options.timeout)
    return try view.planInView(options, database: database)
  }

  private func planInView(
    _ options: MigrateOptions, database: String?
  ) throws(Failure) -> PlanReport {
    try requireIntactHistory()
    try requireEngine(for: targets(options))
    guard let database, try DatabaseFile.exists(database) else {
      return try plan(options, for: nil, named: database, isMeasured: false)
    }
    return try plan(
      options, for: ReadableDatabase(file: database, timeout: options.timeout), named: database,
      isMeasured: true)
  }

  /// Plans what is pending for a database that is open already.
  package func plan(
    _ options: MigrateOptions, for readable: ReadableDatabase
  ) throws(Failure) -> PlanReport {
    try requireIntactHistory()
    try requireEngine(for: targets(options))
    return try plan(options, for: readable, named: readable.name, isMeasured: false)
  }

  private func plan(
    _ options: MigrateOptions, for readable: ReadableDatabase?, named database: String?,
    isMeasured: Bool
  ) throws(Failure) -> PlanReport {
    let targets = try targets(options)
    var schema = Schema()
    var rows: [LedgerRow]?
    var adopted = 0
    var hasLedger = false
    var sizes: TableSizes?
    if let readable {
      let connection = readable.connection
      let live = try live(
        on: connection, path: readable.name, mayBeEmpty: !options.existing)
      _ = try requireUsableLedger(live.rows, of: readable.name)
      rows = live.rows
      adopted = live.adopted
      hasLedger = live.schema.table(Ledger.tableName) != nil
      schema = live.schema
      if isMeasured {
        sizes = try measured(database) { () throws(DatabaseError) in try TableSizes(connection) }
      }
      schema.objects.removeAll { Ledger.isLedger($0.table) }
    }
    let known = Set((rows ?? []).map(\.id.exact))
    var report = PlanReport(
      database: database, hasLedger: hasLedger, isHistoryEmpty: targets.isEmpty,
      isMeasured: sizes != nil, migrations: [])
    report.beyond = beyond(database ?? "", rows, options)
    // What comes after the last migration that was asked for is no drift.
    if report.beyond != nil, targets.allSatisfy({ known.contains($0.id) }) { return report }
    // The ledger records the schema that the history promises, whatever stands in the database.
    let replay = try replay(targets, interruption: Interruption())
    let expected = replay.schema(after: known)
    report.drift = compareSchemas(
      expected: expected, actual: comparable(schema, with: expected))
    report.failure = replay.failure
    if adopted > 0, adopted <= replay.steps.count {
      try requireAdoptable(
        report.drift, through: replay.steps[adopted - 1].migration, path: database ?? "")
      report.adopted = (0..<adopted).map { replay.adoptedRow(at: $0, in: self) }
    }
    let scratch = try ScratchDatabase(application, from: schema)
    scratch.isReleased = isFrozen
    var statements: [ReplayedStatement] = []
    scratch.observe(comparesSchemas: false) { statement, _ in statements.append(statement) }
    var keys = ForeignKeyGraph(schema)
    for (index, promised) in replay.steps.enumerated() where !known.contains(promised.migration.id)
    {
      let migration = promised.migration
      do throws(Failure) {
        if let obstacle = promised.obstacle(among: report.drift) { throw obstacle }
        var operations: [OperationPlan] = []
        var work: [Work] = []
        var writtenBefore: [Set<Identifier>] = []
        var schemas: [Schema] = []
        var unread: DatabaseError?
        statements = []
        let schemaBefore = scratch.schema
        let step = try scratch.apply(migration) { plan, writeSet in
          operations.append(plan)
          writtenBefore.append(writeSet.written)
          do throws(DatabaseError) {
            let schema = try Schema(of: scratch.connection, knowing: schemas.last ?? Schema())
            schemas.append(schema)
            work.append(plan.work(in: schema))
          } catch {
            unread = error
          }
        }
        var newKeys: [[UniqueKey]] = []
        do throws(DatabaseError) {
          schemas.append(try Schema(of: scratch.connection, knowing: schemas.last ?? Schema()))
          for (before, after) in zip(schemas, schemas.dropFirst()) {
            newKeys.append(try UniqueKey.added(from: before, to: after, application))
          }
        } catch {
          unread = error
        }
        if let unread {
          throw Failure(unread.status, "the scratch database cannot be read: \(unread.inWords)")
        }
        var costs: [Cost?] = []
        for work in work {
          costs.append(
            try measured(database) { () throws(DatabaseError) in try sizes?.cost(of: work) } ?? nil)
        }
        let before = keys.affected(by: step.touched)
        keys.apply(step.delta)
        report.migrations.append(
          PlannedMigration(
            migration: migration, operations: operations, work: work,
            costs: costs,
            row: replay.ledgerRow(at: index, startedAt: ""),
            foreignKeysBefore: before, foreignKeysAfter: keys.affected(by: step.touched),
            writtenBefore: writtenBefore, newKeys: newKeys, written: step.writeSet.written,
            rewritten: step.writeSet.rewritten,
            temporary: step.temporary.map(\.drop), statements: statements, before: schemaBefore,
            after: scratch.schema))
      } catch {
        if error.status == .invalidInput { throw error }
        report.failure = error
        break
      }
    }
    return report
  }

  /// A plan is a plan without its cost, too; but a machine that fails is told of.
  private func measured<Result>(
    _ database: String?, _ body: () throws(DatabaseError) -> Result
  ) throws(Failure) -> Result? {
    do {
      return try body()
    } catch {
      guard error.isFault else { return nil }
      throw Failure(error, database: database ?? "")
    }
  }
}
