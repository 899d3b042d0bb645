/// Previews of `migrate`. The database itself is only read.
///
/// - ``PlanReport``: the statements, their script and cost. ``DryRunReport``: the plan and the checks of the
///   rows.
/// - ``Project/rehearse(_:for:interruption:onEvent:inspecting:)``: the migrations, run on a copy of the
///   database.

import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The plan of the pending migrations for a database. Nothing has run on the database.
package struct PlanReport: Sendable {
  package let database: String?
  package let ledger: Ledger
  package let hasLedger: Bool
  /// The ledger rows of the migrations that another tool has applied.
  package var adopted: [LedgerRow] = []
  package let isHistoryEmpty: Bool
  /// Whether the cost comes from the rows of a database.
  package let isMeasured: Bool
  package var migrations: [PlannedMigration]
  /// The migrations that the database has run beyond the requested last migration.
  package var beyond: Beyond?
  /// The differences between the database and the schema that its history promises.
  package var drift: [SchemaChange] = []
  /// The failure that ended the plan early.
  package var failure: Failure?

  /// The total cost of the operations whose cost is known; nil without a database.
  package var cost: Cost? {
    isMeasured ? costs.compactMap { $0 }.reduce(Cost(), +) : nil
  }

  /// Whether `cost` omits operations with an unknown cost.
  package var isCostPartial: Bool { costs.contains(nil) }

  /// The total cost in words; nil without a database.
  package var costInWords: String? {
    guard let cost else { return nil }
    let unknown = costs.count { $0 == nil }
    guard unknown > 0 else { return cost.inWords }
    return cost == Cost()
      ? "unknown cost" : "\(cost.inWords), plus \(counted(unknown, "operation")) of unknown cost"
  }

  /// Whether rows of the database can stop a migration.
  package var dependsOnRows: Bool {
    isMeasured
      && migrations.contains { migration in
        !migration.foreignKeysBefore.isEmpty
          || migration.operations.contains { $0.work.kind != .none }
      }
  }

  private var costs: [Cost?] { migrations.flatMap(\.operations).map(\.cost) }
}

package struct PlannedMigration: Sendable {
  package let migration: Migration
  package let operations: [PlannedOperation]
  /// The row that the migration will have in the ledger.
  package let row: LedgerRow
  /// The tables in which the migration can break foreign keys: those that exist before it, and those that
  /// exist after it. They exclude tables whose foreign keys SQLite cannot check.
  package let foreignKeysBefore: [String]
  package let foreignKeysAfter: [String]
  /// The tables that the migration writes.
  package let written: Set<Identifier>
  /// The tables in which the migration changes or removes rows.
  let rewritten: Set<Identifier>
  /// The edits that give tables the text of the history.
  let edits: [SchemaEdit]
  /// The statements that remove the temporary objects of the migration.
  package let temporary: [String]
  /// The statements that have run on the scratch database, in order.
  package let statements: [ReplayedStatement]
  /// The schema without the ledger before the migration and after it.
  package let before: Schema
  package let after: Schema
}

package struct PlannedOperation: Sendable {
  package let plan: OperationPlan
  package let work: Work
  /// The cost; nil if it is unknown or there is no database.
  package let cost: Cost?
  /// The tables that the earlier operations of the migration write.
  let writtenBefore: Set<Identifier>
  /// The columns, each with its table, that earlier operations of the plan add, remove or rename.
  let changedColumns: Set<[Identifier]>
  /// The questions about rows that would stop the operation.
  fileprivate(set) var questions: [Question]
  /// The questions whether the rows meet the constraints of their table after the operation.
  let constraints: [Question]

  package var costInWords: String { cost?.inWords ?? work.inWords }
}

extension Project {
  /// Plans the pending migrations, each for the schema that results from the earlier ones.
  ///
  /// - Parameters:
  ///   - readable: the database; nil for an empty one.
  ///   - isMeasured: whether to compute the cost from the rows of the database.
  package func plan(
    _ options: MigrateOptions, for readable: ReadableDatabase?, isMeasured: Bool = true
  ) throws(Failure) -> PlanReport {
    try (readable.map { (readable) throws(Failure) in try view(of: readable) } ?? self)
      .planInView(options, for: readable, isMeasured: isMeasured)
  }

  private func planInView(
    _ options: MigrateOptions, for readable: ReadableDatabase?, isMeasured: Bool
  ) throws(Failure) -> PlanReport {
    let database = options.database.isEmpty ? nil : options.database
    let targets = try checkedTargets(options, for: readable)
    var schema = Schema()
    var rows: [LedgerRow]?
    var adopted = 0
    var hasLedger = false
    var sizes: TableSizes?
    if let readable {
      let live = try live(in: readable, mayBeEmpty: !options.existing)
      try requireUsableLedger(live.rows)
      rows = live.rows
      adopted = live.adopted
      hasLedger = live.schema.table(ledger.table) != nil
      schema = live.schema
      if isMeasured {
        sizes = try measured(database) { () throws(DatabaseError) in
          try TableSizes(readable.connection)
        }
      }
      schema.objects.removeAll { $0.isOf(ledger) }
    }
    let known = Set((rows ?? []).map(\.id.exact))
    var report = PlanReport(
      database: database, ledger: ledger, hasLedger: hasLedger, isHistoryEmpty: targets.isEmpty,
      isMeasured: sizes != nil, migrations: [])
    report.beyond = beyond(database ?? "", rows, options)
    // Changes by migrations after the requested one are not drift.
    if report.beyond != nil, targets.allSatisfy({ known.contains($0.id) }) { return report }
    // The ledger records the schema of the history, even if the database differs.
    let replay = try replay(targets, interruption: Interruption())
    let expected = replay.schema(after: known)
    report.drift = drift(of: schema, from: expected)
    report.failure = replay.failure
    if adopted > 0, adopted <= replay.steps.count {
      try requireAdoptable(
        report.drift, through: replay.steps[adopted - 1].migration, path: database ?? "")
      report.adopted = (0..<adopted).map { replay.adoptedRow(at: $0, in: self) }
    }
    let pending = replay.steps.indices.filter { !known.contains(replay.steps[$0].migration.id) }
    let obstacles = pending.map { index in
      replay.steps[index].obstacle(among: report.drift) ?? replay.steps[index].refusal
    }
    let free = obstacles.prefix { $0 == nil }.count
    let edits = try pending.prefix(free).map { (index) throws(Failure) -> [SchemaEdit] in
      // A cluster does not allow such edits.
      guard !application.plansOperationsAlone else { return [] }
      let edits = try schema.edits(before: replay.steps[index], like: expected, application)
      for edit in edits { schema.apply(edit) }
      return edits
    }
    let recorder = PlanRecorder(application) { work throws(Failure) in
      try measured(database) { () throws(DatabaseError) in try sizes?.cost(of: work) } ?? nil
    }
    var keys = ForeignKeyGraph(schema)
    var (before, history) = (schema, expected)
    let touched = pending.prefix(free).reduce(into: Set()) {
      $0.formUnion(replay.steps[$1].touched)
    }
    // The tables whose foreign keys SQLite cannot check, each with a message.
    var mismatches: [Identifier: String] = [:]
    /// Updates `mismatches`, and returns the tables that SQLite can check.
    func checkable(
      _ touched: Set<Identifier>, on scratch: ScratchDatabase
    ) throws(Failure) -> [String] {
      let names = keys.affected(by: touched)
      for name in names { mismatches[name] = nil }
      do {
        mismatches.merge(
          try ForeignKeyViolations(of: names, in: scratch.schema, on: scratch.connection).mismatches
        ) { $1 }
      } catch {
        throw Failure(of: error)
      }
      return names.filter { mismatches[$0] == nil }
    }
    do throws(Failure) {
      try self.replay(
        pending.prefix(free).map { replay.steps[$0].migration }, from: schema,
        isTrusted: schema.objects.isEmpty,
        preparing: { (scratch) throws(Failure) in
          recorder.watch(scratch)
          _ = try checkable(touched, on: scratch)
        }
      ) { step, scratch throws(Failure) in
        let record = try recorder.take(step, scratch)
        let planned = replay.steps[pending[report.migrations.count]]
        try requireExpectedChange(
          step.delta, with: planned, on: (before, scratch.schema), from: history,
          hasDrift: !report.drift.isEmpty)
        history = planned.delta.applied(to: history)
        let former = mismatches
        let endangered = keys.affected(by: step.touched).filter { former[$0] == nil }
        keys.apply(step.delta)
        let checked = try checkable(step.touched, on: scratch)
        let new = mismatches.filter { former[step.renames.firstName(of: $0.key) ?? $0.key] == nil }
        if !new.isEmpty {
          throw Context(migration: step.migration)
            .failure(.migrationFailed, new.values.sorted().joined(separator: "; "))
        }
        report.migrations.append(
          PlannedMigration(
            migration: step.migration, operations: record.operations,
            row: replay.ledgerRow(at: pending[report.migrations.count], startedAt: ""),
            foreignKeysBefore: endangered, foreignKeysAfter: checked,
            written: step.writeSet.written, rewritten: step.writeSet.rewritten,
            edits: edits[report.migrations.count],
            temporary: step.temporary.map(\.drop), statements: record.statements,
            before: before, after: scratch.schema))
        before = scratch.schema
      }
      if let obstacle = obstacles.dropFirst(free).first ?? nil { throw obstacle }
    } catch {
      let failure = report.drift.isEmpty ? error : error.asDrift
      if failure.status == .invalidInput { throw failure }
      report.failure = failure
    }
    return report
  }

  /// Returns nil if a cost query fails, because a plan is useful without its cost. Errors of the environment,
  /// such as a failed read, are thrown.
  private func measured<Result>(
    _ database: String?, _ body: () throws(DatabaseError) -> Result
  ) throws(Failure) -> Result? {
    do {
      return try body()
    } catch {
      guard error.isFault else { return nil }
      throw Failure(error, database: database)
    }
  }
}

/// Records each operation and each statement of the migrations that run on a scratch database.
private final class PlanRecorder {
  private let application: Application
  private let cost: (Work) throws(Failure) -> Cost?
  private var operations: [PlannedOperation] = []
  private var statements: [ReplayedStatement] = []
  /// The schema before the operation that was planned last; nil before the first operation.
  private var schema: Schema?
  /// The columns, each with its table, that the operations so far have added, removed or renamed.
  private var changed: Set<[Identifier]> = []

  init(_ application: Application, cost: @escaping (Work) throws(Failure) -> Cost?) {
    self.application = application
    self.cost = cost
  }

  func watch(_ scratch: ScratchDatabase) {
    scratch.observe(comparesSchemas: false) { [self] statement, _ in statements.append(statement) }
    scratch.runner.onPlan = { [self, unowned scratch] plan, writeSet in
      let current = try Schema(of: scratch.connection, knowing: schema ?? Schema())
      try end(with: current, writeSet)
      if let schema { changed.formUnion(SchemaDelta(from: schema, to: current).changedColumns) }
      schema = current
      let work = plan.work(in: current)
      operations.append(
        PlannedOperation(
          plan: plan, work: work, cost: try cost(work), writtenBefore: writeSet.written,
          changedColumns: changed, questions: plan.questions,
          constraints: try plan.constraints(in: current) + plan.takenKeys(in: current, application))
      )
    }
  }

  /// Returns the operations and statements of the migration that has just run, and clears the record.
  func take(
    _ step: ScratchDatabase.Step, _ scratch: ScratchDatabase
  ) throws(Failure) -> (operations: [PlannedOperation], statements: [ReplayedStatement]) {
    do {
      try end(with: scratch.schema, step.writeSet)
    } catch {
      throw Failure(error.status, "cannot read the scratch database: \(error.inWords)")
    }
    defer {
      operations = []
      statements = []
    }
    return (operations, statements)
  }

  private func end(with after: Schema, _ writeSet: WriteSet) throws(DatabaseError) {
    guard let last = operations.indices.last, let schema else { return }
    operations[last].questions += try operations[last].plan.newKeys(
      from: schema, to: after, writing: writeSet.written, application)
  }
}

extension SchemaDelta {
  /// The columns of the tables before the change or after it, but not of both. An empty name stands for the
  /// rows of a table.
  fileprivate var changedColumns: Set<[Identifier]> {
    func columns(_ objects: some Collection<SchemaObject>) -> Set<[Identifier]> {
      Set(
        objects.flatMap { object in
          ([""] + (object.createTable?.columns.map(\.name.text.identifier) ?? [])).map {
            [object.name.identifier, $0]
          }
        })
    }
    return columns(before.values).symmetricDifference(columns(after.values))
  }
}
