import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

extension Project {
  /// Replays the history on a scratch database: the only way in which a history runs privately.
  ///
  /// - Parameters:
  ///   - migrations: a part of the history, in order; nil replays all of it.
  ///   - base: the schema that the history has before them.
  ///   - isTrusted: whether the history has made the base.
  ///   - application: replaces the project's.
  ///   - isForLint: unknown functions and collations are reported with the statement that needs them.
  ///   - becomesDatabase: whether the result becomes a new database. Then it contains all rows of that database, and
  ///     no substitutes replace functions and collations of the application.
  ///   - prepare: called once, before the first migration runs.
  ///   - observe: called after each migration.
  /// - Returns: the scratch database, as the last migration left it.
  /// - Throws: the failure of a migration, which `observe` has not seen, and the errors of `observe`.
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

/// The replay of a history on a private database: what its schema is at each step. Most often there are
/// no rows but those that migrations write.
package final class ScratchDatabase {
  package let connection: Connection
  private let runner: Runner
  /// The schema after the last migration that was applied.
  package private(set) var schema: Schema
  /// The same with the ledger, as it was read.
  private var whole: StoredSchema
  private var ledger: [SchemaObject]
  private let untouchedLedger: [SchemaObject]
  private var running = RunningFingerprint()
  /// Where there are rows: which foreign key may point at a row that goes.
  private var keys: ForeignKeyGraph?
  /// Whether a migration fails that would break foreign keys in a new database. Only for a whole history:
  /// in an existing database rows of the app may be the parents.
  package var checksOwnRows = false
  private let toleratesBrokenReferences: Bool
  private let application: Application
  /// A released migration may break a view or a trigger: devices have run it, and nobody can change it.
  package var isReleased: (Migration) -> Bool = { _ in false }
  /// Lint reports what a migration breaks by a rule.
  private let isForLint: Bool
  /// The foreign keys that the migration applied last has broken, in words, where that does not fail it.
  package private(set) var brokenReferences: String?

  /// What one migration does to a schema and to rows.
  package struct Step: Sendable {
    package let migration: Migration
    package let delta: SchemaDelta
    package let writeSet: WriteSet
    package let strategies: [Strategy]
    package let renames: TableRenames
    /// The first call of a function that only the application has.
    let missingCall: Runner.Record.Call?
    /// What the migration made for itself alone, and did not remove.
    package let temporary: [TemporaryObject]
    package var startedAt = Timestamp.now
    package var milliseconds: Int64 = 0

    /// The tables, indexes and so on whose definition or rows it changes, in folded spelling.
    package var touched: Set<Identifier> { writeSet.written.union(delta.keys.map(\.name)) }

    /// Why it cannot run on a database that has drifted: it touches an object that differs. Other drift is only
    /// reported.
    package func obstacle(among drift: [SchemaChange]) -> Failure? {
      let touched = touched
      let inTheWay = drift.filter { touched.contains($0.holder.identifier) }
      guard !inTheWay.isEmpty else { return nil }
      return Context(migration: migration).failure(
        .finding,
        "this migration touches objects that differ from the history: "
          + inTheWay.map(\.sentence).joined(separator: "; "),
        remedy:
          "`schemactl diff` lists every difference. Correct the database with SQL. If the database already "
          + "holds the result of this migration, record that: `schemactl repair "
          + "\(shellQuoted(migration.id)) applied --reason TEXT`")
    }

    /// Why it cannot run on a database: a function that only the application has would be called.
    package var refusal: Failure? { missingCall?.refusal(of: migration) }
  }

  /// - Parameters:
  ///   - base: the schema to begin with: another than the empty one for the plan of a database.
  ///   - isTrusted: whether the history has made it; nil trusts the empty schema only.
  ///   - isForLint: unknown functions and collations are reported with the statement that needs them.
  package convenience init(
    _ application: Application, from base: Schema = Schema(), isTrusted: Bool? = nil,
    isForLint: Bool = false,
    interruption: Interruption = Interruption()
  ) throws(Failure) {
    try self.init(
      application, isForLint: isForLint, interruption: interruption
    ) { () throws(DatabaseError) in
      let connection = try base.scratch(application)
      // Then it will hold what the manifests say, and nothing else.
      connection.set(.trustedSchema, to: isTrusted ?? base.objects.isEmpty)
      // There, so that what names it is refused and not merely unknown.
      try connection.execute(application.ledger.createStatement)
      return connection
    }
  }

  /// A replay whose result becomes a new database.
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

  /// A replay that continues where another one is, on a connection of its own: it has the schema and
  /// the rows, and nothing that only the other connection knows.
  package convenience init(
    continuing other: ScratchDatabase, _ application: Application, interruption: Interruption
  ) throws(Failure) {
    try self.init(
      application, isForLint: false, interruption: interruption
    ) { () throws(DatabaseError) in
      let connection = try Schema().scratch(application)
      try connection.deserialize(try other.connection.serialized())
      connection.set(.trustedSchema, to: true)
      return connection
    }
  }

  /// A replay on a database that holds rows: one that lint fills, or a copy of a real one.
  ///
  /// - Parameters:
  ///   - calls: of the application's functions and collations that are registered there.
  ///   - isCopy: as on a database, assertions are asked, rows are copied a chunk at a time, and a
  ///     foreign key that a migration breaks fails it.
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
    // The replay on empty tables has checked the names already.
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

  /// Tells `observer` of every statement once it has run, and of the schema before it.
  ///
  /// - Parameter comparesSchemas: false leaves out what a statement changes, and gives the schema
  ///   before the migration: to read it after each statement costs a fifth of a replay.
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

  /// Whether rewritten tables are compared with their old rows.
  package var isParanoid: Bool {
    get { runner.isParanoid }
    set { runner.isParanoid = newValue }
  }

  /// Whether messages hold no values of rows.
  package var redactsValues: Bool {
    get { runner.redactsValues }
    set { runner.redactsValues = newValue }
  }

  /// Told of each operation's plan before it runs, and of what those before it write.
  package var onPlan: ((OperationPlan, WriteSet) throws -> Void)? {
    get { runner.onPlan }
    set { runner.onPlan = newValue }
  }

  /// Applies the next migration atomically.
  ///
  /// - Parameter touched: the tables that the migration is known to change. If they have rows, their foreign keys
  ///   and those of their children are checked.
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
          // The first rows of a history: before them there was nothing to check.
          if keys == nil, !record.writeSet.written.isEmpty { keys = ForeignKeyGraph(schema) }
          tables = record.writeSet.written.union(delta.keys.map(\.name))
        }
        let broken = try self.violations(tables)?
          .newViolations(beyond: violations ?? ForeignKeyViolations(), record.renames)
        brokenReferences = broken?.message
        if let (message, tables) = broken, !toleratesBrokenReferences {
          throw Context(migration: migration, lastWriting: tables, in: record.writeSet)
            .failure(.migrationFailed, message)
        }
        // SQLite itself ends a transaction only when memory or disk space is short, even if no statement
        // reported that.
        guard connection.isInTransaction else {
          throw Failure(
            .inputOutput,
            "the replay cannot continue: SQLite ended its transaction, because memory or space "
              + "for temporary files is missing")
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
      // Of a statement within a statement SQLite says something else.
      throw context.failure(.interrupted, "interrupted")
    } catch {
      throw context.failure(error, onScratch: true)
    }
  }

  /// The foreign keys without a parent row; nil without rows.
  private func violations(
    _ touched: Set<Identifier>
  ) throws(DatabaseError) -> ForeignKeyViolations? {
    guard let keys else { return nil }
    return try ForeignKeyViolations(of: keys.affected(by: touched), in: schema, on: connection)
  }

  /// Under `writable_schema` the SQL need not contain a name.
  private func refuseLedgerEdit(_ context: Context) throws(Failure) {
    guard ledger == untouchedLedger else {
      throw context.failure(
        .invalidInput,
        "`\(application.ledger)` is schemactl's ledger: a migration may not use it, nor edit it in "
          + "sqlite_schema")
    }
  }

  /// Names that schemactl keeps for itself, however they came to be.
  private func refuseReserved(_ delta: SchemaDelta, _ context: Context) throws(Failure) {
    for object in delta.after.values where ForeignObjects.isReserved(object.name) {
      throw context.failure(
        .invalidInput,
        "`\(object.name)` begins with `schemactl_`, which schemactl reserves for its own tables")
    }
  }

  /// The fingerprint of the schema as it is now.
  package var fingerprint: String { running.digest() }

  private func refresh() throws(DatabaseError) {
    guard try whole.refresh(on: connection, after: runner.takeReach()) else { return }
    (schema, ledger) = whole.schema.separating(application.ledger)
  }
}

extension Schema {
  /// The schema without the ledger, and the ledger with all that belongs to it.
  fileprivate func separating(_ ledger: Ledger) -> (schema: Schema, ledger: [SchemaObject]) {
    var (ours, others): ([SchemaObject], [SchemaObject]) = ([], [])
    ours.reserveCapacity(objects.count)
    for object in objects {
      if object.isOf(ledger) { others.append(object) } else { ours.append(object) }
    }
    return (Schema(objects: ours), others)
  }
}
