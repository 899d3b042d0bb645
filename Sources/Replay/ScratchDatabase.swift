import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

extension Project {
  /// Replays the history on a scratch database. No other mechanism runs a history privately.
  ///
  /// - Parameters:
  ///   - migrations: consecutive migrations of the history; nil replays all of it.
  ///   - base: the schema before the first of these migrations.
  ///   - isTrusted: whether migrations have created the whole base, so that its SQL may call any function.
  ///   - application: replaces the project's application.
  ///   - isForLint: whether to report an unknown function or collation as a warning about the statement.
  ///   - becomesDatabase: whether the result becomes a new database. Then the replay has exactly the rows of
  ///     that database, and stubs do not replace functions and collations of the application.
  ///   - prepare: called once, before the first migration runs.
  ///   - observe: called after each migration.
  /// - Returns: the scratch database after the last migration.
  /// - Throws: the failure of a migration, for which `observe` is not called, and the errors of `observe`.
  @discardableResult
  package func replay(
    _ migrations: [Migration]? = nil, from base: Schema = Schema(), isTrusted: Bool = true,
    application: Application? = nil, isForLint: Bool = false, becomesDatabase: Bool = false,
    interruption: Interruption = Interruption(),
    preparing prepare: (ScratchDatabase) throws(Failure) -> Void = { _ in },
    observing observe: (ScratchDatabase.Step, ScratchDatabase) throws(Failure) -> Void = { _, _ in }
  ) throws(Failure) -> ScratchDatabase {
    let application = application ?? self.application
    let scratch =
      if becomesDatabase {
        try ScratchDatabase(newDatabaseOf: application, interruption: interruption)
      } else {
        try ScratchDatabase(
          application, from: base, isTrusted: isTrusted, isForLint: isForLint,
          interruption: interruption)
      }
    scratch.isReleased = isFrozen
    try prepare(scratch)
    for migration in migrations ?? self.migrations {
      try observe(try scratch.apply(migration), scratch)
    }
    return scratch
  }
}

/// A private database on which a history is replayed, and its schema after each step. It usually has no rows
/// except those that migrations write.
package final class ScratchDatabase {
  package let connection: Connection
  package let runner: Runner
  /// The schema after the last applied migration.
  package private(set) var schema: Schema
  /// The schema that was read, including the ledger.
  private var whole: StoredSchema
  private var ledger: [SchemaObject]
  private let untouchedLedger: [SchemaObject]
  private var running = RunningFingerprint()
  /// The foreign keys between the tables, if they have rows.
  private var keys: ForeignKeyGraph?
  /// Whether a migration fails if it violates foreign keys in a new database. Only for a whole history: in an
  /// existing database, rows of the app may be the parents.
  private var checksOwnRows = false
  private let toleratesBrokenReferences: Bool
  private let application: Application
  /// Whether a migration is released. It may then break a view or a trigger, because devices have run it and
  /// nobody can change it.
  package var isReleased: (Migration) -> Bool = { _ in false }
  /// If true, a broken view or trigger does not fail a migration, because a rule of lint reports it.
  private let isForLint: Bool
  /// The foreign keys that the last migration violated, if that does not fail it.
  package private(set) var brokenReferences: BrokenReferences?

  /// A message about violated foreign keys, and their tables.
  package typealias BrokenReferences = (message: String, tables: Set<Identifier>)

  /// The effects of one migration on the schema and on rows.
  package struct Step: Sendable {
    package let migration: Migration
    package let delta: SchemaDelta
    package let writeSet: WriteSet
    package let strategies: [Strategy]
    package let renames: TableRenames
    /// The first call of a function that only the application has.
    let missingCall: Runner.Record.Call?
    /// The temporary objects that the migration created and did not drop.
    package let temporary: [TemporaryObject]
    package var startedAt = Timestamp.now
    package var milliseconds: Int64 = 0

    /// The names of the objects whose definition or rows the migration changes. A unique index that it
    /// removes belongs to the definition of its table: a foreign key may refer to its columns.
    package var touched: Set<Identifier> {
      let uniqueIndexes = delta.before.values.filter { index in
        index.kind == .index && index.tokens.mentions("unique")
      }
      return writeSet.written.union(delta.keys.map(\.name)).union(uniqueIndexes.map(\.holder))
    }

    /// The failure if the migration touches an object that has drifted. Other drift is only reported.
    package func obstacle(among drift: [SchemaChange]) -> Failure? {
      let touched = touched
      let inTheWay = drift.filter { touched.contains($0.holder.identifier) }
      guard !inTheWay.isEmpty else { return nil }
      return Context(migration: migration).failure(
        .finding,
        "this migration touches objects that differ from the history: "
          + inTheWay.map(\.sentence).joined(separator: "; "),
        remedy:
          "`schemactl diff --database FILE` lists every difference. Correct the database with SQL. If the database already "
          + "holds the result of this migration, record that: `schemactl repair "
          + "\(shellQuoted(migration.id)) applied --reason … --database FILE`")
    }

    /// The failure if the migration calls a function that only the application has.
    package var refusal: Failure? { missingCall?.refusal(of: migration) }
  }

  /// - Parameters:
  ///   - base: the schema before the first migration; not empty for the plan of an existing database.
  ///   - isTrusted: whether migrations have created the whole base, so that its SQL may call any function.
  ///     Nil trusts only the empty schema.
  ///   - isForLint: whether to report an unknown function or collation as a warning about the statement.
  package convenience init(
    _ application: Application, from base: Schema = Schema(), isTrusted: Bool? = nil,
    isForLint: Bool = false,
    interruption: Interruption = Interruption()
  ) throws(Failure) {
    try self.init(
      application, isForLint: isForLint, interruption: interruption
    ) { () throws(DatabaseError) in
      let connection = try base.scratch(application)
      // A trusted schema contains only SQL of the manifests.
      connection.set(.trustedSchema, to: isTrusted ?? base.objects.isEmpty)
      // The ledger must exist, so that a statement that names it is refused. Otherwise it would fail because
      // of an unknown table.
      try connection.execute(application.ledger.createStatement)
      return connection
    }
  }

  /// Creates a replay whose result becomes a new database.
  convenience init(
    newDatabaseOf application: Application, interruption: Interruption
  ) throws(Failure) {
    let calls = CallRecord()
    try self.init(
      application, isForLint: false, interruption: interruption, target: .newDatabase,
      calls: calls
    ) { () throws(DatabaseError) in
      let connection = try application.scratch()
      try application.register(on: connection, noting: calls)
      connection.set(.trustedSchema, to: true)
      try connection.execute(application.ledger.createStatement)
      return connection
    }
    checksOwnRows = true
  }

  /// Creates a replay that continues another one on a new connection. It has the schema and the rows of the
  /// other connection, but not its state, such as temporary objects and counters.
  package convenience init(
    continuing other: ScratchDatabase, interruption: Interruption
  ) throws(Failure) {
    let application = other.application
    try self.init(
      application, isForLint: other.isForLint, interruption: interruption
    ) { () throws(DatabaseError) in
      let connection = try Schema().scratch(application)
      try connection.deserialize(try other.connection.serialized())
      connection.set(.trustedSchema, to: true)
      return connection
    }
    isReleased = other.isReleased
    runner.evaluatesAssertions = other.runner.evaluatesAssertions
  }

  /// Creates a replay on a database with rows: one that lint has filled, or a copy of a real database.
  ///
  /// - Parameters:
  ///   - calls: records the calls of stubs for the application's functions and collations on this connection.
  ///   - isCopy: whether it is a copy of a real database. As on a real one, assertions are evaluated, copied
  ///     tables are checked for damage, and a migration that violates a foreign key fails.
  package convenience init(
    on connection: Connection, _ application: Application, _ calls: CallRecord,
    isCopy: Bool, interruption: Interruption = Interruption()
  ) throws(Failure) {
    try self.init(
      application, isForLint: true, interruption: interruption,
      target: isCopy ? .database : .scratch, calls: calls, toleratesBrokenReferences: !isCopy
    ) { () throws(DatabaseError) in
      if try Schema(of: connection).table(application.ledger.table) == nil {
        try connection.execute(application.ledger.createStatement)
      }
      return connection
    }
    keys = ForeignKeyGraph(schema)
    // The replay on empty tables has already checked views, triggers and names in double quotes.
    isReleased = { _ in true }
  }

  private init(
    _ application: Application, isForLint: Bool, interruption: Interruption,
    target: Runner.Target = .scratch, calls: CallRecord? = nil,
    toleratesBrokenReferences: Bool = false,
    opening: () throws(DatabaseError) -> Connection
  ) throws(Failure) {
    self.toleratesBrokenReferences = toleratesBrokenReferences
    self.application = application
    self.isForLint = isForLint
    do {
      connection = try opening()
      whole = try StoredSchema(of: connection)
      (schema, ledger) = whole.schema.separating(application.ledger)
      untouchedLedger = ledger
    } catch {
      throw Failure(error.status, "cannot open the scratch database: \(error.inWords)")
    }
    running.apply(SchemaDelta(from: Schema(), to: schema))
    runner = Runner(
      connection: connection, target: target, application: application, calls: calls,
      interruption: interruption,
      isForLint: isForLint)
  }

  /// Calls `observer` after each statement, with the statement and the schema before it.
  ///
  /// - Parameter comparesSchemas: whether to read the schema after each statement, which takes a fifth of a
  ///   replay's time. If false, `change` is empty, and the observer gets the schema before the migration.
  package func observe(
    comparesSchemas: Bool = true,
    _ observer: @escaping (ReplayedStatement, Schema) throws(DatabaseError) -> Void
  ) {
    runner.onStatement = { [unowned self] statement throws(DatabaseError) in
      let before = schema
      var statement = statement
      if comparesSchemas {
        try refresh()
        statement.change = SchemaDelta(from: before, to: schema)
      }
      try observer(statement, before)
    }
  }

  /// Applies the next migration atomically.
  ///
  /// - Parameter touched: the tables that the migration will change. If the tables have rows, their foreign
  ///   keys and those of their children are checked.
  @discardableResult
  package func apply(
    _ migration: Migration, touching touched: Set<Identifier> = []
  ) throws(Failure) -> Step {
    let context = Context(migration: migration)
    let before = schema
    let former = keys
    let startedAt = Timestamp.now
    let started = Stopwatch()
    do {
      let enforces = migration.manifest.foreignKeys == .enforced
      connection.set(.foreignKeys, to: enforces)
      defer { connection.set(.foreignKeys, to: false) }
      try connection.execute("BEGIN")
      do {
        let violations = try violations(touched)
        runner.isReleased = isReleased(migration)
        let record = try runner.run(migration)
        try refresh()
        try refuseLedgerEdit(context)
        try runner.requireIntegrity(after: record, context)
        let delta = SchemaDelta(from: before, to: schema)
        try refuseReserved(delta, context)
        if !isForLint, !isReleased(migration),
          let broken = try delta.brokenObjects(
            from: before, to: schema, writing: record.writeSet.written, application)
        {
          throw context.failure(.migrationFailed, broken)
        }
        keys?.apply(delta)
        var tables = touched
        if checksOwnRows {
          // Before the first rows of a history, there was nothing to check.
          if keys == nil, !record.writeSet.written.isEmpty { keys = ForeignKeyGraph(schema) }
          tables = record.writeSet.written.union(delta.keys.map(\.name))
        }
        let found = try self.violations(tables)
        var broken = found?.newViolations(
          beyond: violations ?? ForeignKeyViolations(), record.renames,
          redacted: toleratesBrokenReferences)
        // In a new database, the first rows of a table are the migration's own.
        if broken != nil, touched.isEmpty, !checksOwnRows {
          // A mismatch that existed before is not the migration's fault: compare with the schema before it.
          let former = try ForeignKeyViolations(
            of: ForeignKeyGraph(before).affected(by: tables), in: before,
            on: before.scratch(application))
          broken = found?.newViolations(
            beyond: former, record.renames, redacted: toleratesBrokenReferences)
        }
        brokenReferences = broken
        if let (message, tables) = broken, !toleratesBrokenReferences {
          throw Context(migration: migration, lastWriting: tables, in: record.writeSet)
            .failure(.migrationFailed, message)
        }
        // SQLite itself ends a transaction only when memory or disk space is short, even if no statement
        // reported that.
        guard connection.isInTransaction else {
          throw Failure(
            .inputOutput,
            "the replay cannot continue: SQLite ended its transaction, because it ran out of "
              + "memory or of space for temporary files")
        }
        try connection.execute("COMMIT")
        running.apply(delta)
        return Step(
          migration: migration, delta: delta, writeSet: record.writeSet,
          strategies: record.strategies, renames: record.renames,
          missingCall: record.missingCall,
          temporary: record.temporary, startedAt: startedAt,
          milliseconds: started.milliseconds)
      } catch {
        keys = former
        try runner.resetSettings()
        if connection.isInTransaction { try connection.execute("ROLLBACK") }
        try refresh()
        throw error
      }
    } catch  where runner.isInterrupted {
      // If a nested statement was interrupted, SQLite reports another error.
      throw context.failure(.interrupted, "interrupted")
    } catch {
      throw context.failure(error, onScratch: true)
    }
  }

  /// Makes migrations fail if they would fail on a new database: if they break foreign keys, or if an
  /// assertion is false. An assertion that may call a function of the app is only compiled.
  package func requireValidRows(evaluatingAssertions: Bool = true) {
    checksOwnRows = true
    runner.evaluatesAssertions = evaluatingAssertions && application.missingFunctions.isEmpty
  }

  /// The foreign key violations; nil before any table has rows. In a new database, ignores empty tables.
  private func violations(
    _ touched: Set<Identifier>
  ) throws(DatabaseError) -> ForeignKeyViolations? {
    guard let keys else { return nil }
    var tables: [String] = []
    for table in keys.affected(by: touched) {
      // SQLite cannot check a key that refers to columns without a unique index, not even of an empty table.
      let rows = "SELECT 1 FROM main.\(Quoting.quoted(table)) LIMIT 1"
      let hasRows = try connection.value(rows) != nil
      if hasRows || !checksOwnRows { tables.append(table) }
    }
    return try ForeignKeyViolations(of: tables, in: schema, on: connection)
  }

  /// Stops if the ledger's own objects have changed. Under `writable_schema`, the migration's SQL need not
  /// contain their names.
  private func refuseLedgerEdit(_ context: Context) throws(Failure) {
    guard ledger == untouchedLedger else {
      throw context.failure(
        .invalidInput,
        "`\(application.ledger)` is schemactl's ledger: a migration may not use it, nor edit it in "
          + "sqlite_schema")
    }
  }

  /// Stops if the migration has created an object with a name that schemactl reserves, by whatever statement.
  private func refuseReserved(_ delta: SchemaDelta, _ context: Context) throws(Failure) {
    for object in delta.after.values where ForeignObjects.isReserved(object.name) {
      throw context.failure(
        .invalidInput,
        "`\(object.name)` begins with `schemactl_`, which schemactl reserves for its own tables")
    }
  }

  /// The fingerprint of the current schema.
  package var fingerprint: String { running.digest() }

  private func refresh() throws(DatabaseError) {
    guard try whole.refresh(on: connection, after: runner.takeInvalidation()) else { return }
    (schema, ledger) = whole.schema.separating(application.ledger)
  }
}

extension Schema {
  /// The schema without the ledger's objects, and these objects.
  fileprivate func separating(_ ledger: Ledger) -> (schema: Schema, ledger: [SchemaObject]) {
    var (ours, others): ([SchemaObject], [SchemaObject]) = ([], [])
    ours.reserveCapacity(objects.count)
    for object in objects {
      if object.isOf(ledger) { others.append(object) } else { ours.append(object) }
    }
    return (Schema(objects: ours), others)
  }
}
