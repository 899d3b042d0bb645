import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// Runs migrations on a connection, one at a time.
///
/// The caller is responsible for transactions, for the ledger and for the choice of migrations.
package final class Runner {
  package enum Target: Sendable, Equatable {
    /// A private replay in which only migrations have written rows.
    case scratch
    /// A private replay whose result becomes a new database.
    case newDatabase
    case database

    var isPrivate: Bool { self != .database }
  }

  let connection: Connection
  let target: Target
  /// Whether assertions are evaluated. Otherwise they are only compiled, because rows of the app may be missing.
  package var evaluatesAssertions: Bool
  let application: Application
  let calls: CallRecord?
  let interruption: Interruption
  /// Whether to continue after undeclared functions and collations, and to record warnings about statements.
  let isForLint: Bool
  package var redactsValues: Bool { didSet { connection.redactsValues = redactsValues } }
  /// Whether to compare the values that an operation must not change.
  package var isParanoid: Bool
  let statementGuard: StatementGuard
  /// The names of the temporary objects of a borrowed connection before the first migration.
  private var foreignTemporaries: Set<Identifier> = []
  var reach = SchemaInvalidation()
  /// Called after each statement.
  package var onStatement: ((ReplayedStatement) throws(DatabaseError) -> Void)?

  /// Whether the migration is released, so that devices have run it. Then an expression of an operation may
  /// contain a string in double quotes, and `drop_column` may leave a trigger that never fires again.
  var isReleased = true

  /// Called with the progress of the work on a table's rows.
  package var onProgress: ((PhaseProgress) -> Void)?

  /// Called with each operation's plan before it runs, and with the tables that earlier operations wrote.
  package var onPlan: ((OperationPlan, WriteSet) throws -> Void)?

  /// The effects of one migration.
  package struct Record: Sendable {
    package var writeSet = WriteSet()
    package var strategies: [Strategy] = []
    /// Whether the migration can have written to `sqlite_schema`.
    var editsSchema = false
    /// The first call of a function that the application declares without an implementation.
    var missingCall: Call?
    /// The temporary objects that the migration created and did not drop.
    var temporary: [TemporaryObject] = []
    package var renames = TableRenames()

    package struct Call: Sendable {
      let function: String
      let position: Position

      func refusal(of migration: Migration) -> Failure {
        Failure(
          .invalidInput,
          "`\(function)()` belongs to the application, and this migration calls it. Nothing changed. Run it with SchemaKit",
          place: Failure.Place(file: migration.file, position: position),
          migration: Failure.FailedMigration(id: migration.id))
      }
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
    evaluatesAssertions = target != .scratch
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

  /// The parts of the schema that may have changed since the last call.
  func takeInvalidation() -> SchemaInvalidation {
    defer { reach = SchemaInvalidation() }
    return reach
  }

  // MARK: Running a migration

  /// - Parameter known: the effects of the migration on the scratch database. They replace the recorded
  ///   effects on a borrowed connection, which has no authorizer.
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
    var application = application
    application.allowsSilentTriggers = isReleased
    var context = Context(migration: migration)
    // `last_insert_rowid()` must not depend on the migrations that ran on the same connection.
    connection.lastInsertRowid = 0
    do {
      try check(manifest.before, of: migration)
      var rest = manifest.operations[...]
      while let first = rest.first {
        context = Context(migration: migration, index: rest.startIndex, operation: first)
        let plans = try Planner(connection: connection, application: application).plan(rest)
        for (index, plan) in zip(rest.indices, plans) {
          context = Context(migration: migration, index: index, operation: plan.operation)
          try run(plan, context, record: &record)
        }
        rest = rest.dropFirst(plans.count)
      }
      context = Context(migration: migration)
      try check(manifest.after, of: migration)
      if connection.isBorrowed, let known {
        record.writeSet = known.writeSet
        record.renames = known.renames
      }
      record.editsSchema = !connection.isOn(.defensive)
      if record.writeSet.namesSettings || record.editsSchema { try putBackSettings() }
      if record.writeSet.namesTemporary { record.temporary = try dropTemporaryObjects() }
    } catch {
      throw context.failure(error, onScratch: target.isPrivate)
    }
    return record
  }

  private func run(
    _ plan: OperationPlan, _ context: Context, record: inout Record
  ) throws {
    record.strategies.append(plan.strategy)
    try onPlan?(plan, record.writeSet)
    let enforces = connection.isOn(.foreignKeys)
    let mistyped = try plan.expectations.map { try connection.mistypedRows(of: $0.table) }
    var kept: [KeptRows]?
    for step in plan.steps {
      try stopIfInterrupted(context)
      if kept == nil, !step.readsOnly { kept = try keep(plan.proofs) }
      switch step {
      case .question(let question): try answer(question, context, record: &record)
      case .statement(let sql, let source): try runOne(sql, source, context, record: &record)
      case .script(let source): try runScript(source, context, record: &record)
      case .assertion(let assertion): try check(assertion, context)
      case .update(let update):
        try runOne(update.statement, nil, context, record: &record)
      case .copy(let copy):
        let count = kept?.first { $0.proof.table == copy.table }?.count
        try run(copy, of: count, context, record: &record)
      case .edit(let edit):
        try run(edit, context)
        record.writeSet.note(edit, of: context.index)
      case .rewriting(let isOn):
        if isOn { try refuseTemporaryTriggers(context) }
        // With foreign keys on, DROP TABLE would delete or change the rows of child tables.
        connection.set(.triggers, to: !isOn)
        connection.set(.foreignKeys, to: !isOn && enforces)
      }
    }
    for (expectation, known) in zip(plan.expectations, mistyped) {
      try compare(expectation, context)
      let found = try connection.mistypedRows(of: expectation.table)
      if let new = found.first(where: { known[$0.key] == nil }) {
        throw context.failure(.migrationFailed, new.value)
      }
    }
    for case .copy(let copy) in plan.steps { record.writeSet.forget(copy.target) }
    try compare(kept ?? [], context)
  }

  private func compare(_ expectation: TableExpectation, _ context: Context) throws {
    let found = try connection.sql(ofTable: expectation.table)
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

  func stopIfCalled(_ context: Context, _ sql: String) throws(Failure) {
    guard let called = calls?.called, let name = called.first else { return }
    throw context.failure(
      .invalidInput,
      "`\(name)` belongs to the application and is not available here: run this migration with "
        + "SchemaKit",
      statement: sql)
  }

  var isInterrupted: Bool { interruption.isRequested }

  func stopIfInterrupted(_ context: Context) throws(Failure) {
    guard isInterrupted else { return }
    throw context.failure(.interrupted, "interrupted")
  }

  // MARK: Assertions

  private func check(_ assertions: [Assertion], of migration: Migration) throws(Failure) {
    for assertion in assertions {
      try check(assertion, Context(migration: migration, assertion: assertion))
    }
  }

  package func check(_ assertion: Assertion, _ context: Context) throws(Failure) {
    statementGuard.startStatement()
    do {
      var script = Script(assertion.query.text)
      let answer = try statementGuard.watching {
        () throws(DatabaseError) -> (rows: [Value], expected: Value)? in
        guard let statement = try script.next(on: connection),
          try script.next(on: connection) == nil, statement.isReadOnly, statement.columnCount == 1
        else { return nil }
        guard evaluatesAssertions else { return ([], .null) }
        var rows: [Value] = []
        while rows.count < 2, try statement.step() { rows.append(try statement.value(0)) }
        return (rows, try connection.value("SELECT \(assertion.equals.sql)") ?? .null)
      }
      guard let (rows, expected) = answer else {
        throw context.failure(
          .invalidInput, "an assertion's query must be one SELECT of one column",
          position: assertion.query.position)
      }
      guard evaluatesAssertions, rows != [expected] else { return }
      throw context.failure(
        .migrationFailed,
        assertion.broken(by: rows, expected: expected, redacted: redactsValues),
        position: assertion.position, statement: assertion.query.text)
    } catch {
      let refused = error as? DatabaseError
      if refused != nil, let refusal = statementGuard.refusal {
        throw context.failure(.invalidInput, refusal, position: assertion.query.position)
      }
      throw context.failure(
        error, position: assertion.query.position(ofByte: refused?.offset ?? 0),
        statement: assertion.query.text)
    }
  }

  /// The columns that a query reads, each with its table. Nil if it does not compile, for example because
  /// it names a future table, or if it calls a function whose result depends on earlier statements.
  package func columnsRead(by query: String) -> Set<[Identifier]>? {
    connection.set(.doubleQuotedStringsInDML, to: false)
    defer { connection.set(.doubleQuotedStringsInDML, to: true) }
    statementGuard.startStatement()
    var script = Script(query)
    let statement = try? statementGuard.watching { () throws(DatabaseError) in
      try script.next(on: connection)
    }
    let events = statementGuard.events
    let dependent: [Identifier] = ["changes", "total_changes", "last_insert_rowid"]
    guard statement != nil,
      !events.contains(where: {
        $0.action == .function && dependent.contains(($0.second ?? "").identifier)
      })
    else { return nil }
    return Set(
      events.filter { $0.action == .read }.map {
        [$0.first, $0.second].map { ($0 ?? "").identifier }
      })
  }

  // MARK: Settings and temporary objects

  /// Undoes the effects of PRAGMAs such as `writable_schema`, which outlive transactions.
  private func putBackSettings() throws(DatabaseError) {
    if !connection.isOn(.defensive) {
      try raiseSchemaVersion()
      try connection.execute("PRAGMA writable_schema = RESET")
    }
    try resetSettings()
  }

  /// Makes every connection, including this one, read the schema again after an edit.
  func raiseSchemaVersion() throws(DatabaseError) {
    let version = try connection.value("PRAGMA main.schema_version")?.integer ?? 0
    try connection.execute("PRAGMA main.schema_version = \(version + 1)")
  }

  /// Fails if a migration has damaged the database under `PRAGMA writable_schema`. SQLite does not check what a
  /// migration writes to `sqlite_schema`.
  package func requireIntegrity(after record: Record, _ context: Context) throws {
    guard record.editsSchema else { return }
    let found: [String]
    do throws(DatabaseError) {
      found = try connection.integrityCheck()
    } catch {
      // A CHECK constraint calls a function that only the application has.
      guard error.code == .error else { throw error }
      return
    }
    guard !found.isEmpty else { return }
    throw context.failure(
      .migrationFailed,
      "after `PRAGMA writable_schema`, `integrity_check` reports: \(found.joined(separator: "; "))")
  }

  /// Resets the settings that a migration may change. Also called after a failed migration.
  package func resetSettings() throws(DatabaseError) {
    connection.set(.writableSchema, to: false)
    connection.set(.legacyAlterTable, to: false)
    connection.set(.triggers, to: true)
    connection.set(.defensive, to: true)
    try connection.execute("PRAGMA ignore_check_constraints = OFF")
  }

  /// Drops the temporary objects of the migration. If they remained, the next migration would find them only
  /// when both run on the same connection.
  ///
  /// - Returns: the dropped objects.
  private func dropTemporaryObjects() throws(DatabaseError) -> [TemporaryObject] {
    var objects: [TemporaryObject] = []
    // Tables first, because dropping a table also drops its indexes and triggers.
    while let object = try temporaryObjects("type <> 'index'").first {
      objects.append(object)
      try connection.execute(object.drop)
    }
    return objects
  }

  /// Stops if a temporary trigger exists: it fires regardless of SQLITE_DBCONFIG_ENABLE_TRIGGER (since SQLite
  /// 3.35).
  private func refuseTemporaryTriggers(_ context: Context) throws {
    guard let trigger = try temporaryObjects("type = 'trigger'").first else { return }
    throw context.failure(
      .invalidInput,
      "the temporary trigger `\(trigger.name)` would fire while rows are rewritten: create it later, or drop it "
        + "first")
  }

  private func temporaryObjects(
    _ condition: String
  ) throws(DatabaseError) -> [TemporaryObject] {
    try connection.rows(
      """
      SELECT type, name FROM temp.sqlite_schema
      WHERE \(condition) AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
      ORDER BY type = 'trigger', type = 'view'
      """
    ).map { TemporaryObject(kind: $0[0].text ?? "", name: $0[1].text ?? "") }
      .filter { !foreignTemporaries.contains($0.name) }
  }
}

/// A temporary table, view or trigger that a migration has not dropped.
package struct TemporaryObject: Sendable {
  /// `table`, `view` or `trigger`.
  package let kind: String
  package let name: String

  /// The statement that drops it.
  package var drop: String { "DROP \(kind.uppercased()) temp.\(Quoting.quoted(name))" }
}

extension Assertion {
  /// The message about a query that did not return the expected value.
  package func broken(by rows: [Value], expected: Value, redacted: Bool) -> String {
    let found = rows.isEmpty ? "no row" : rows.count > 1 ? "several rows" : rows[0].shown
    return (message ?? "the assertion failed") + ": expected \(expected.shown), found "
      + (redacted && rows.count == 1 ? "another \(rows[0].storageClass)" : found)
  }
}
