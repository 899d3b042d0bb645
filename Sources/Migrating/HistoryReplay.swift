import History
import ManifestFormat
import Planning
import SQLite
import SchemaModel

/// The replay of a project's history, from its beginning as far as somebody asks for it.
///
/// What is frozen was replayed before, and will be again with every command. Where it is long, what it
/// did is taken from a record, when the project has a cache, and only what is newer runs. Behind it the
/// replay goes on from a copy, on a connection that knows nothing of what came before, whether there
/// is a record or not: so both give the same.
package final class HistoryReplay {
  /// The schema after the last migration that was applied.
  package private(set) var schema = Schema()
  /// Whether no migration has left a row that breaks a foreign key. Known where it was asked for.
  private(set) var keepsForeignKeys = true

  private let application: Application
  private let isForLint: Bool
  private let makesDatabase: Bool
  private let interruption: Interruption
  private let cache: ReplayCache?
  /// What is frozen, where it is so long that it is recorded.
  private var frozen: [Migration] = []
  /// The names of the records of `frozen`, one for each point; none when nothing is to be recorded.
  private var names: [String] = []
  private var record: ReplayRecord?
  /// How many migrations an earlier replay has recorded.
  package private(set) var recordedCount = 0
  /// What is to be recorded, as far as the replay has come.
  private var steps: [RecordedStep] = []
  private var statements: [ReplayedStatement] = []
  private var applied: [Migration] = []
  /// What `applied` end with, when that is the end of what is frozen and nothing runs yet.
  private var snapshot: Shadow.Snapshot?
  private var shadow: Shadow?
  private var hasFailed = false
  private var knownFingerprint: String?
  private var keys: ForeignKeyGraph?
  private var observer: ((ReplayedStatement, Schema) throws(DatabaseError) -> Void)?

  /// - Parameters:
  ///   - application: instead of the project's.
  ///   - forLint: what no migration may hold does nothing, so that lint can tell of it and of what
  ///     comes after; otherwise it fails.
  ///   - makesDatabase: the end is to be a new database. Then rows that break a foreign key are looked
  ///     for, and no row comes from an earlier replay: some are made by chance, or tell the time.
  package init(
    _ project: Project, _ application: Application? = nil, forLint: Bool = false,
    makesDatabase: Bool = false, interruption: Interruption = Interruption()
  ) throws(Failure) {
    self.application = application ?? project.application
    isForLint = forLint
    self.makesDatabase = makesDatabase
    self.interruption = interruption
    cache = project.cache
    let frozen = Array(project.migrations.prefix(while: project.isFrozen))
    if frozen.count >= ReplayCache.fewestMigrations {
      self.frozen = frozen
      names = cache?.names(of: frozen, self.application, forLint: forLint) ?? []
      record = cache?.record(of: names)
      if let record,
        makesDatabase && record.holdsRows
          || asksConnection(frozen[record.steps.count...], after: record)
      {
        self.record = nil
      }
      recordedCount = self.record?.steps.count ?? 0
    }
    if makesDatabase || isRecording && !forLint { keys = ForeignKeyGraph(Schema()) }
    if record == nil { _ = try running() }
  }

  /// Tells `observer` of every statement once it has run, and of the schema before it; what it
  /// changed is told for lint only.
  package func observe(
    _ observer: @escaping (ReplayedStatement, Schema) throws(DatabaseError) -> Void
  ) {
    self.observer = observer
  }

  /// Where the replay stands. What comes after runs there.
  package var connection: Connection {
    get throws(Failure) { try running().connection }
  }

  /// How many migrations are frozen, where they are so many that they are recorded.
  package var frozenCount: Int { frozen.count }

  /// What became of rows on the way through the migrations that were recorded.
  package func rows<Record: Recordable>() -> Record? {
    recordedCount == 0 ? nil : cache?.read(.rows, names[recordedCount - 1])
  }

  /// Keeps what became of rows on the way to the end of what is frozen.
  package func keepRows(_ record: some Recordable) { cache?.keep(record, .rows, as: names) }

  /// The fingerprint of the schema as it is now.
  package var fingerprint: String {
    let fingerprint = knownFingerprint ?? shadow?.fingerprint ?? schema.fingerprint()
    knownFingerprint = fingerprint
    return fingerprint
  }

  /// Applies the next migration, whole or not at all.
  @discardableResult
  package func apply(_ migration: Migration) throws(Failure) -> Shadow.Step {
    if applied.count < frozen.count, !migration.isSame(as: frozen[applied.count]) { leaveFrozen() }
    let step =
      if shadow == nil, let record, applied.count < record.steps.count {
        try take(record.steps[applied.count], of: migration)
      } else {
        try run(migration)
      }
    applied.append(migration)
    if applied.count == frozen.count { try settle() }
    return step
  }

  /// Another history than the frozen one is not known.
  private func leaveFrozen() {
    frozen = []
    names = []
    record = nil
  }

  /// Whether what runs is new to the cache.
  private var isRecording: Bool {
    !hasFailed && applied.count < frozen.count && !names.isEmpty
      && record?.steps.count != frozen.count
  }

  // MARK: From the record

  private func take(
    _ recorded: RecordedStep, of migration: Migration
  ) throws(Failure) -> Shadow.Step {
    let context = Context(migration: migration)
    guard !interruption.isRequested else { throw context.failure(.interrupted, "interrupted") }
    do {
      for statement in recorded.statements {
        try observer?(statement, schema)
        schema.apply(statement.change)
      }
    } catch {
      throw context.failure(error, onShadow: true)
    }
    schema.apply(recorded.rest)
    knownFingerprint = recorded.fingerprint.isEmpty ? nil : recorded.fingerprint
    keepsForeignKeys = keepsForeignKeys && recorded.keepsForeignKeys
    let step = Shadow.Step(
      migration: migration, change: recorded.change, delta: SchemaDelta(recorded.change),
      touch: recorded.touch, strategies: recorded.strategies,
      missingCalls: recorded.missingCalls, temporary: recorded.temporary)
    keys?.apply(step.delta)
    if isRecording { steps.append(recorded) }
    return step
  }

  // MARK: On a shadow

  private func run(_ migration: Migration) throws(Failure) -> Shadow.Step {
    let shadow = try running()
    statements = []
    let step: Shadow.Step
    do {
      step = try shadow.apply(migration)
    } catch {
      hasFailed = true
      throw error
    }
    var told = schema
    for statement in statements { told.apply(statement.change) }
    schema = shadow.schema
    if !step.delta.isEmpty { knownFingerprint = nil }
    keys?.apply(step.delta)
    if keepsForeignKeys, let tables = keys?.affected(by: step.touched) {
      keepsForeignKeys = shadow.keepsForeignKeys(of: tables)
    }
    if isRecording {
      steps.append(
        RecordedStep(
          change: step.change, touch: step.touch, strategies: step.strategies,
          missingCalls: step.missingCalls, temporary: step.temporary,
          fingerprint: isForLint ? "" : fingerprint, keepsForeignKeys: keepsForeignKeys,
          statements: statements, rest: SchemaSplice(from: told, to: schema)))
    }
    return step
  }

  private func running() throws(Failure) -> Shadow {
    if let shadow { return shadow }
    let end = applied.count == record?.steps.count ? record?.end : snapshot
    let shadow =
      if let end {
        try Shadow(
          continuing: end, application, passesOverRefused: isForLint, interruption: interruption)
      } else {
        try Shadow(application, passesOverRefused: isForLint, interruption: interruption)
      }
    if end == nil { for migration in applied { try shadow.apply(migration) } }
    snapshot = nil
    shadow.observe(comparesSchemas: isForLint) {
      [unowned self] (statement, before) throws(DatabaseError) in
      try hear(statement, before)
    }
    self.shadow = shadow
    return shadow
  }

  private func hear(_ statement: ReplayedStatement, _ before: Schema) throws(DatabaseError) {
    if isRecording {
      var statement = statement
      if !isForLint { statement.events = [] }
      statements.append(statement)
    }
    try observer?(statement, before)
  }

  /// At the end of what is frozen: keeps the record, and has what is newer run from there.
  private func settle() throws(Failure) {
    if let shadow {
      if !isForLint { _ = fingerprint }
      let end = try shadow.snapshot()
      if steps.count == frozen.count, end.database.count <= Shadow.Snapshot.largestDatabase {
        cache?.keep(
          ReplayRecord(steps: steps, end: end, holdsRows: shadow.holdsRows), .replay, as: names)
      }
      snapshot = end
    } else {
      snapshot = record?.end
    }
    shadow = nil
    record = nil
    steps = []
    if !makesDatabase { keys = nil }
  }
}

/// Whether what comes next may ask for what only the connection knows that ran what came before. Of
/// what ends at the same point with and without a record nobody needs to ask.
private func asksConnection(_ next: ArraySlice<Migration>, after record: ReplayRecord) -> Bool {
  guard !next.isEmpty else { return false }
  let texts =
    next.map { String(decoding: $0.manifest.canonicalForm, as: UTF8.self) }
    + record.steps.flatMap(\.change.inserted).compactMap(\.sql)
  return texts.contains { text in
    let text = text.lowercased()
    return ["changes", "last_insert_rowid", "database_list"].contains { text.contains($0) }
  }
}

extension Migration {
  fileprivate func isSame(as other: Migration) -> Bool {
    id == other.id && rawDigest == other.rawDigest && canonicalDigest == other.canonicalDigest
  }
}
