import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The plan of `migrate`, and whether the rows permit it. The database was only read.
package struct DryRunReport: Sendable {
  package struct Answer: Sendable {
    package let migration: String
    /// The condition, such as "`map` names every value of reminders.isCompleted".
    package let question: String
    /// The reason why the rows do not permit the operation; nil if they do, or if `isAsked` is false.
    package let obstacle: String?
    /// Whether the question was asked. It cannot be asked if an earlier migration writes the rows.
    package let isAsked: Bool
  }

  package var plan: PlanReport
  package var answers: [Answer] = []
  package var failure: Failure?
  /// Remarks on the plan for a cluster.
  package var notes: [String] = []
  /// The statements in the form for a cluster; nil for a file.
  package var clusterScript: String?

  /// The plan as SQL.
  package var script: String { clusterScript ?? plan.script }

  /// Creates a report without answers.
  package init(plan: PlanReport) {
    self.plan = plan
    failure = plan.failure
  }

  package var status: ExitStatus { failure?.status ?? .success }
}

extension Project {
  /// Plans the pending migrations, and asks the plan's questions about the current rows.
  ///
  /// - Parameter database: nil if the file does not exist.
  package func dryRun(
    _ options: MigrateOptions, for database: ReadableDatabase?
  ) throws(Failure) -> DryRunReport {
    let plan = try plan(options, for: database)
    let report = DryRunReport(plan: plan)
    guard let connection = database?.connection else { return report }
    if !plan.migrations.isEmpty { try requireUndamaged(connection, options.database, plan) }
    var interview = Interview(
      connection: connection, database: options.database, redacts: options.redactsValues,
      runner: Runner(
        connection: connection, target: .database, application: application,
        redactsValues: options.redactsValues), report: report)
    for planned in plan.migrations { try interview.ask(planned) }
    return interview.report
  }
}

private func requireUndamaged(
  _ connection: Connection, _ database: String, _ plan: PlanReport
) throws(Failure) {
  let rewritten = plan.migrations.reduce(into: Set()) { $0.formUnion($1.rewritten) }
  try failing(on: database) {
    guard let damage = try connection.structuralDamage(rewriting: rewritten) else { return }
    throw Failure(damaged: database, damage)
  }
}

/// Asks the questions of a plan, in order.
private struct Interview {
  let connection: Connection
  let database: String
  let redacts: Bool
  let runner: Runner
  var report: DryRunReport
  /// Tables that earlier migrations of the plan write. Their current rows do not answer a question.
  var written: Set<Identifier> = []
  /// Tables that operations of the plan create. They are empty until a step writes them.
  var created: Set<Identifier> = []
  /// Tables and other objects whose definitions earlier migrations of the plan change.
  var changed: Set<Identifier> = []

  mutating func ask(_ planned: PlannedMigration) throws(Failure) {
    let migration = planned.migration
    let first = report.answers.count
    let delta = SchemaDelta(from: planned.before, to: planned.after)
    let changes = Set(delta.keys.map(\.name))
    for assertion in migration.manifest.before {
      ask(assertion, Context(migration: migration, assertion: assertion))
    }
    var changedBefore: Set<Identifier> = []
    for (index, operation) in planned.operations.enumerated() {
      let context = Context(
        migration: migration, index: index, operation: operation.plan.operation)
      if case .createTable(let table) = operation.plan.operation.kind {
        created.insert(table.name.identifier)
      }
      let start = report.answers.count
      for question in operation.questions {
        try ask(question, context, after: operation.writtenBefore, operation.changedColumns)
      }
      // The rows after the operation are known only if these questions have passed.
      let passed = report.answers[start...].allSatisfy { $0.isAsked && $0.obstacle == nil }
      for question in passed ? operation.constraints : []
      where !report.answers[first...].contains(where: { $0.question == question.promise }) {
        try ask(question, context, after: operation.writtenBefore, operation.changedColumns)
      }
      for case .assertion(let assertion) in operation.plan.steps {
        ask(assertion, context, after: operation.writtenBefore.union(changedBefore))
      }
      if case .assert = operation.plan.operation.kind { continue }
      // The schema after each operation is unknown, so that all changes of the migration count.
      changedBefore = changes
    }
    let references = EndangeredReference.leftBehind(
      in: planned.foreignKeysBefore, by: delta, from: planned.before, to: planned.after)
    for reference in references {
      let parent = reference.parentName
      let index = planned.operations.lastIndex { $0.plan.operation.mayDrop(parent) } ?? 0
      let operation = planned.operations[index]
      let context = Context(
        migration: migration, index: index, operation: operation.plan.operation)
      try ask(
        reference.question(), context, after: planned.written.subtracting([parent]),
        operation.changedColumns)
    }
    written.formUnion(planned.written)
    changed.formUnion(changes)
    for assertion in migration.manifest.after {
      ask(assertion, Context(migration: migration, assertion: assertion))
    }
  }

  /// - Parameter own: the tables that earlier steps of the migration write or change.
  private mutating func ask(
    _ assertion: Assertion, _ context: Context, after own: Set<Identifier> = []
  ) {
    let others = written.union(changed).union(own)
    let isAsked =
      runner.columnsRead(by: assertion.query.text)?.allSatisfy { read in
        !others.contains(read[0]) && !read[0].isInternal
      } ?? false
    var failure: Failure?
    if isAsked {
      do throws(Failure) {
        try runner.check(assertion, context)
      } catch {
        failure = error.naming(database)
      }
    }
    note(
      context, assertion.message ?? "`\(assertion.query.text)` gives \(assertion.equals.sql)",
      isAsked: isAsked, failure?.statement.first, failure)
  }

  /// - Parameters:
  ///   - own: the tables that earlier steps of the migration write.
  ///   - changedColumns: the columns that do not have the same values before the plan.
  private mutating func ask(
    _ question: Question, _ context: Context, after own: Set<Identifier>,
    _ changedColumns: Set<[Identifier]>
  ) throws(Failure) {
    let writtenBefore = written.union(own)
    let table = question.table.identifier
    if created.contains(table), !writtenBefore.contains(table) { return }
    do {
      let query = "SELECT \(question.condition)"
      let read = runner.columnsRead(by: query)
      let isAsked =
        try read?.allSatisfy {
          !writtenBefore.contains($0[0]) && !changedColumns.contains($0)
        } ?? false
        // If such rows exist, SQLite may convert a value before the constraint reads it.
        && question.rows?.doubt.map { try connection.rows($0).isEmpty } ?? true
      guard isAsked, try connection.value(query) == 1 else {
        return note(context, question.promise, isAsked: isAsked)
      }
      let failure = try context.failure(question, on: connection, redacted: redacts)
      note(
        context, question.promise, isAsked: true, failure.statement.first,
        failure.namingRows(on: connection, redacted: redacts))
    } catch {
      throw context.failure(error).naming(database)
    }
  }

  private mutating func note(
    _ context: Context, _ question: String, isAsked: Bool, _ obstacle: String? = nil,
    _ failure: Failure? = nil
  ) {
    report.answers.append(
      DryRunReport.Answer(
        migration: context.migration.id, question: question, obstacle: obstacle, isAsked: isAsked))
    report.failure = report.failure ?? failure
  }
}

extension Operation {
  /// Whether the operation drops the table, or contains SQL that may drop it.
  fileprivate func mayDrop(_ table: Identifier) -> Bool {
    switch kind {
    case .dropTable(let name): name.identifier == table
    case .sql: true
    default: false
    }
  }
}
