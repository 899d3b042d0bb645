import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// What `migrate` would do, and whether the rows permit it. Nothing was written.
package struct DryRunReport: Sendable {
  package struct Answer: Sendable {
    package let migration: String
    /// The condition, such as "`map` names every value of reminders.isCompleted".
    package let question: String
    /// Nil if the rows permit the operation.
    package let obstacle: String?
    /// False when the rows cannot be asked yet, because an earlier migration makes them.
    package let isAsked: Bool
  }

  package var plan: PlanReport
  package var answers: [Answer] = []
  package var failure: Failure?
  /// What the plan means for a cluster.
  package var notes: [String] = []
  /// The statements as a cluster gets them; nil for a file.
  package var clusterScript: String?

  /// The plan as SQL.
  package var script: String { clusterScript ?? plan.script }

  /// Without answers of the rows.
  package init(plan: PlanReport) {
    self.plan = plan
    failure = plan.failure
  }

  package var status: ExitStatus { failure?.status ?? .success }
}

extension Project {
  /// Plans, and asks the rows of the database itself what the plan will ask them.
  package func dryRun(_ options: MigrateOptions) throws(Failure) -> DryRunReport {
    let exists = try DatabaseFile.exists(options.database)
    if !exists, options.existing {
      throw Failure(.notFound, "database \(options.database) does not exist")
    }
    let plan = try plan(options, database: options.database)
    var report = DryRunReport(plan: plan)
    guard exists else { return report }
    let connection = try DatabaseFile.openForReading(options.database, timeout: options.timeout)
    if !plan.migrations.isEmpty { try requireWhole(connection, options.database, plan) }
    var questions = Questions(
      connection: connection, database: options.database, redacts: options.redactsValues,
      runner: Runner(
        connection: connection, target: .database, application: application,
        redactsValues: options.redactsValues))
    func note(_ answer: (said: DryRunReport.Answer, failure: Failure?)) {
      report.answers.append(answer.said)
      report.failure = report.failure ?? answer.failure
    }
    for planned in plan.migrations {
      let manifest = planned.migration.manifest
      for assertion in manifest.before {
        note(questions.ask(assertion, Context(migration: planned.migration, assertion: assertion)))
      }
      let changed = Set(SchemaDelta(from: planned.before, to: planned.after).keys.map(\.name))
      for (index, operation) in planned.operations.enumerated() {
        let first = report.answers.count
        for question in operation.questions {
          note(try questions.ask(question, of: planned, index))
        }
        // What becomes of the rows is not known before these have passed.
        let passed = report.answers[first...].allSatisfy { $0.isAsked && $0.obstacle == nil }
        let asked = report.answers.filter { $0.migration.exact == planned.migration.id.exact }
        for question in passed ? operation.constraints : []
        where !asked.contains(where: { $0.question.exact == question.promise?.exact }) {
          note(try questions.ask(question, of: planned, index))
        }
        for case .assertion(let assertion) in operation.plan.steps {
          let context = Context(
            migration: planned.migration, index: index, operation: operation.plan.operation)
          note(
            questions.ask(assertion, context, after: operation.writtenBefore.union(changed)))
        }
      }
      questions.written.formUnion(planned.written)
      questions.changed.formUnion(changed)
      for assertion in manifest.after {
        note(questions.ask(assertion, Context(migration: planned.migration, assertion: assertion)))
      }
    }
    return report
  }
}

private func requireWhole(
  _ connection: Connection, _ database: String, _ plan: PlanReport
) throws(Failure) {
  let rewritten = plan.migrations.reduce(into: Set()) { $0.formUnion($1.rewritten) }
  let damage: String?
  do {
    damage = try connection.structuralDamage(rewriting: rewritten)
  } catch {
    throw Failure(error, database: database)
  }
  if let damage { throw Failure(damaged: database, damage) }
}

private struct Questions {
  let connection: Connection
  let database: String
  let redacts: Bool
  let runner: Runner
  /// Tables that earlier migrations of the plan write, so that their present rows do not answer a question.
  var written: Set<Identifier> = []
  /// Tables and other objects whose definition they change.
  var changed: Set<Identifier> = []

  /// - Parameter own: the tables that earlier steps of the migration write or change.
  func ask(
    _ assertion: Assertion, _ context: Context, after own: Set<Identifier> = []
  ) -> (said: DryRunReport.Answer, failure: Failure?) {
    let question =
      assertion.message ?? "`\(assertion.query.text)` gives \(assertion.equals.sql)"
    let read = runner.tablesRead(by: assertion.query.text)
    let isAsked =
      read.map { read in
        read.isDisjoint(with: written.union(changed).union(own))
          && !read.contains(where: \.isInternal)
      } ?? false
    var failure: Failure?
    if isAsked {
      do throws(Failure) {
        try runner.check(assertion, context)
      } catch {
        failure = error.naming(database)
      }
    }
    return (
      DryRunReport.Answer(
        migration: context.migration.id, question: question,
        obstacle: failure?.statement.first, isAsked: isAsked), failure
    )
  }

  func ask(
    _ question: Question, of planned: PlannedMigration, _ index: Int
  ) throws(Failure) -> (said: DryRunReport.Answer, failure: Failure?) {
    let operation = planned.operations[index]
    let context = Context(
      migration: planned.migration, index: index, operation: operation.plan.operation)
    func said(_ obstacle: String?, isAsked: Bool = true) -> DryRunReport.Answer {
      DryRunReport.Answer(
        migration: planned.migration.id, question: question.promise ?? "", obstacle: obstacle,
        isAsked: isAsked)
    }
    do {
      let written = written.union(operation.writtenBefore)
      let query = "SELECT \(question.condition)"
      guard let read = runner.tablesRead(by: query), written.isDisjoint(with: read),
        try question.isCertain(on: connection)
      else {
        return (said(nil, isAsked: false), nil)
      }
      guard try connection.value(query) == 1 else {
        return (said(nil), nil)
      }
      let failure = try context.failure(question, on: connection, redacted: redacts)
      return (
        said(failure.statement.first), failure.namingRows(on: connection, redacted: redacts)
      )
    } catch {
      throw context.failure(error).naming(database)
    }
  }
}

extension Question {
  /// False where SQLite may convert a value before the constraint reads it.
  fileprivate func isCertain(on connection: Connection) throws(DatabaseError) -> Bool {
    guard let doubt = rows?.doubt else { return true }
    return try connection.rows(doubt).isEmpty
  }
}

extension PlannedOperation {
  /// Questions about rows that would stop the operation.
  fileprivate var questions: [Question] {
    plan.questions + newKeys.compactMap { plan.uniqueness($0, writing: writtenAfter) }
      + newReferences.compactMap { plan.references($0, writing: writtenAfter) }
  }
}

extension OperationPlan {
  /// What its steps ask the rows before anything is written.
  fileprivate var questions: [Question] {
    steps.prefix(while: \.onlyAsks).compactMap { step in
      if case .question(let question) = step, question.promise != nil { question } else { nil }
    }
  }

  /// Nil if the operation leaves other rows than the present ones.
  fileprivate func references(
    _ reference: NewReference, writing written: Set<Identifier>
  ) -> Question? {
    let computed = Set(operation.computedColumns.map(\.identifier))
    guard operation.carriesValues || !written.contains(reference.table.identifier),
      computed.isDisjoint(with: reference.columns.map(\.identifier))
    else { return nil }
    return reference.question(where: operation.rowFilter)
  }

  /// Nil if the operation leaves other rows than the present ones.
  ///
  /// - Parameter written: the tables that were written once it has run.
  fileprivate func uniqueness(_ key: UniqueKey, writing written: Set<Identifier>) -> Question? {
    guard operation.carriesValues || !written.contains(key.table.identifier) else {
      return nil
    }
    let columns = key.terms.compactMap(\.column)
    let computed = Set(operation.computedColumns.map(\.identifier))
    guard computed.isEmpty || key.terms.allSatisfy({ $0.column != nil }),
      computed.isDisjoint(with: columns.map(\.identifier))
    else { return nil }
    let what =
      key.index.map { "unique index \($0) cannot be created" }
      ?? "the unique constraint cannot be added"
    return Question(
      key.repeated(where: operation.rowFilter), of: key.table,
      promise: "the rows of \(key.table) are unique in \(key.inWords)",
      message: "rows of \(key.table) have equal values in \(key.inWords): \(what)")
  }
}
