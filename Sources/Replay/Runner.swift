import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// Runs the operations of one migration at a time on one connection.
///
/// Transactions, the ledger and the choice of what to run are the caller's.
package final class Runner {
  package enum Target: Sendable {
    /// A private replay, whose only rows are what migrations wrote: assertions are compiled there,
    /// not answered.
    case scratch
    case database
  }

  let connection: Connection
  let target: Target
  let application: Application
  let calls: CallRecord?
  let interruption: Interruption
  /// Whether to continue after undeclared functions and collations, and to record warnings about statements.
  let isForLint: Bool
  let redactsValues: Bool
  /// Whether the values are compared that an operation must not change.
  let isParanoid: Bool
  let statementGuard: StatementGuard
  /// Temporary objects of a borrowed connection.
  private(set) var foreignTemporaries: Set<Identifier> = []
  var reach = SchemaInvalidation()
  /// Told of each statement once it has run.
  package var onStatement: ((ReplayedStatement) throws(DatabaseError) -> Void)?

  /// Whether an expression of an operation may contain a string in double quotes. Devices have run
  /// released migrations with them.
  var allowsQuotedStrings = true

  /// Told how far the work on a table's rows is.
  package var onProgress: ((PhaseProgress) -> Void)?

  /// Told of each operation's plan before it runs.
  var onPlan: ((OperationPlan, WriteSet) throws -> Void)?

  /// What one migration did.
  package struct Record: Sendable {
    package var writeSet = WriteSet()
    package var strategies: [Strategy] = []
    /// Functions of the application, known by name only, that a statement calls.
    var missingCalls: [Call] = []
    /// What the migration made for itself alone, and did not remove.
    var temporary: [TemporaryObject] = []
    package var renames = TableRenames()

    package struct Call: Sendable {
      let function: String
      let position: Position
    }
  }

  package init(
    connection: Connection, target: Target, application: Application, calls: CallRecord? = nil,
    interruption: Interruption = Interruption(), redactsValues: Bool = false,
    isParanoid: Bool = false,
    isForLint: Bool = false
  ) {
    self.connection = connection
    self.target = target
    self.application = application
    statementGuard = StatementGuard(refusing: application.ledger)
    self.calls = calls
    self.interruption = interruption
    self.redactsValues = redactsValues
    connection.redactsValues = redactsValues
    self.isParanoid = isParanoid
    self.isForLint = isForLint
    if connection.isBorrowed {
      let objects = (try? connection.temporaryObjects()) ?? []
      foreignTemporaries = Set(objects.map(\.name.identifier))
    } else {
      statementGuard.install(on: connection)
    }
    interruption.watch(connection)
  }

  /// Where the schema may have changed since this was asked last.
  func takeReach() -> SchemaInvalidation {
    defer { reach = SchemaInvalidation() }
    return reach
  }

  // MARK: A migration

  /// - Parameter known: its effects on the scratch database. A borrowed connection has no authorizer, so nothing
  ///   else reports them.
  package func run(
    _ migration: Migration, knowing known: ScratchDatabase.Step? = nil
  ) throws(Failure) -> Record {
    let manifest = migration.manifest
    var record = Record()
    let enforcesForeignKeys = connection.isOn(.foreignKeys)
    defer {
      connection.set(.triggers, to: true)
      connection.set(.foreignKeys, to: enforcesForeignKeys)
    }
    try check(manifest.before, of: migration)
    var index = 0
    while index < manifest.operations.count {
      let plans = try plan(manifest.operations[index...], in: migration)
      for (offset, plan) in plans.enumerated() {
        let context = Context(
          migration: migration, index: index + offset, operation: plan.operation)
        do {
          try run(plan, context, record: &record)
        } catch {
          throw context.failure(error, onScratch: target == .scratch)
        }
      }
      index += plans.count
    }
    try check(manifest.after, of: migration)
    if connection.isBorrowed, let known {
      record.writeSet = known.writeSet
      record.renames = known.renames
    }
    if record.writeSet.namesSettings || !connection.isOn(.defensive) {
      try putBackSettings(migration)
    }
    if record.writeSet.namesTemporary { record.temporary = try dropTemporaryObjects(migration) }
    return record
  }

  private func run(
    _ plan: OperationPlan, _ context: Context, record: inout Record
  ) throws {
    record.strategies.append(plan.strategy)
    try onPlan?(plan, record.writeSet)
    let enforces = connection.isOn(.foreignKeys)
    var kept: [KeptRows]?
    for step in plan.steps {
      try stopIfInterrupted(context)
      if kept == nil, !step.onlyAsks { kept = try keep(plan.proofs) }
      switch step {
      case .question(let question): try answer(question, context)
      case .statement(let sql, let source): try runOne(sql, source, context, record: &record)
      case .script(let source): try runScript(source, context, record: &record)
      case .assertion(let assertion): try check(assertion, context)
      case .update(let update):
        try runOne(update.statement, nil, context, record: &record)
      case .copy(let copy):
        let count = kept?.first { $0.proof.table == copy.table }?.count
        try run(copy, of: count, context, record: &record)
      case .edit(let edit):
        reach.spread()
        try run(edit, context)
        if edit.exchangesRows { record.writeSet.rewrite(edit.table) }
        try tell(of: edit, context)
      case .rewriting(let isOn):
        if isOn { try refuseTemporaryTriggers(context) }
        setRewriting(isOn, enforces)
      }
    }
    for expectation in plan.expectations { try compare(expectation, context) }
    for case .copy(let copy) in plan.steps { record.writeSet.forget(copy.target) }
    try compare(kept ?? [], context)
  }

  /// Plans the first operation against the schema as it is now, and those that share its rewrite.
  private func plan(
    _ operations: ArraySlice<Operation>, in migration: Migration
  ) throws(Failure) -> [OperationPlan] {
    let context = Context(
      migration: migration, index: operations.startIndex,
      operation: operations[operations.startIndex])
    do {
      return try Planner(connection: connection, application: application).plan(operations)
    } catch let error as PlanningError {
      throw context.failure(
        error.kind == .manifest ? .invalidInput : .migrationFailed, error.message, key: error.key,
        position: error.position)
    } catch {
      throw context.failure(error, onScratch: target == .scratch)
    }
  }

  private func compare(_ expectation: TableExpectation, _ context: Context) throws {
    let found = try Schema(of: connection).table(expectation.table)?.sql
    let isAsPlanned =
      found.map { TokenizedSQL($0).normalTokens == TokenizedSQL(expectation.sql).normalTokens }
      ?? false
    guard !isAsPlanned else { return }
    throw context.failure(
      .bug,
      """
      the plan does not produce the expected table
      promised: \(expectation.sql)
      found:    \(found ?? "no table \(expectation.table)")
      """)
  }

  /// While a structural change rewrites rows, no trigger of the user fires and no foreign key acts:
  /// with them on, a DROP TABLE deletes the rows of its children.
  private func setRewriting(_ isOn: Bool, _ enforcesForeignKeys: Bool) {
    connection.set(.triggers, to: !isOn)
    connection.set(.foreignKeys, to: !isOn && enforcesForeignKeys)
  }

  func stopIfCalled(_ context: Context, _ sql: String) throws(Failure) {
    guard let called = calls?.called, let name = called.first else { return }
    throw context.failure(
      .invalidInput,
      "\(name) belongs to the application and is not available here: run this migration with "
        + "SchemaKit",
      statement: sql)
  }

  var isInterrupted: Bool { interruption.isRequested }

  func stopIfInterrupted(_ context: Context) throws(Failure) {
    guard isInterrupted else { return }
    throw context.failure(.interrupted, "interrupted")
  }
}
