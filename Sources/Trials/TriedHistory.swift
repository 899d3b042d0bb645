import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The migrations that ran on empty tables so far. Trials run them again on filled tables.
final class TriedHistory {
  private(set) var application: Application
  let interruption: Interruption
  private(set) var migrations: [Migration] = []
  /// The schema before each migration, and after the last one.
  private(set) var schemas: [Schema] = [Schema()]
  /// The foreign keys after the last migration.
  private var keys = ForeignKeyGraph(Schema())
  /// The tables that each migration changes.
  private(set) var touched: [Set<Identifier>] = []
  /// The cost of a run of each migration: the number of its statements. A statement that writes rows
  /// counts as a tenth, because SQLite does not read the schema again after it.
  private(set) var costs: [Int] = []
  /// The cost of all runs for the migration that lint judges.
  private(set) var spent = 0
  /// The older tables that each migration reads or changes.
  private(set) var affected: [AffectedTables] = []
  /// The rows that earlier migrations wrote, by migration and table, as they are before the
  /// migration.
  private var written: [[Identifier: [Insertion]]] = [[:]]
  /// The words of each migration's statements, and the tables that the statements concern.
  private var words: [Set<Identifier>] = []
  /// The names of all objects that existed at any time.
  private var objectNames: Set<Identifier> = []
  private let objects = ReachedObjects()

  /// The maximum cost before lint skips the remaining columns of a migration.
  static let budget = 10_000

  /// The maximum number of SQLite instructions of all runs for a migration. In public histories, only
  /// recursive queries that count up to a generated value need more.
  static let mostInstructions = 100_000_000

  /// The maximum number of written rows of a table that later trials contain.
  private static let mostWritten = 8

  init(_ application: Application, _ interruption: Interruption) {
    self.application = application
    self.interruption = interruption
  }

  /// Call it before the first run for each migration.
  func resetBudget() {
    spent = 0
    application.limit.steps = Self.mostInstructions
  }

  /// The reason why rows cannot decide about a migration: its runs exceed a limit, or SQLite reports an
  /// error. Nil for other errors.
  static func reason(for error: any Error) -> String? {
    let own = error as? DatabaseError
    return switch (own ?? (error as? Failure)?.cause)?.exceeded {
    case .steps?:
      "its runs exceed \(mostInstructions / 1_000_000) million instructions of SQLite"
    case let exceeded?: exceeded.inWords
    case nil: own.flatMap { $0.isEnvironmentalFault ? nil : $0.message }
    }
  }

  /// Records the cost of a run.
  func spend(_ cost: Int = 0, on connection: Connection) {
    spent += cost
    application.limit.steps? -= connection.spentSteps
  }

  /// Records a migration that ran on empty tables.
  func note(
    _ step: ScratchDatabase.Step, on scratch: ScratchDatabase, _ timeline: Timeline
  ) throws(DatabaseError) {
    affected.append(
      AffectedTables(timeline, migrations.count, before: schemas[migrations.count], keys))
    keys.apply(step.delta)
    schemas.append(scratch.schema)
    words.append(words(in: migrations.count, timeline))
    migrations.append(step.migration)
    touched.append(step.touched)
    let statements = timeline.statements(in: costs.count)
    let writing = statements.count { $0.target != nil }
    costs.append(statements.count - writing + writing / 10)
    objectNames.formUnion(step.delta.keys.map(\.name))
    var rows = written[written.count - 1]
    if !step.writeSet.written.isEmpty || step.touched.contains(where: { rows[$0] != nil }) {
      for name in step.touched { rows[name] = try scratch.rows(of: name, limit: Self.mostWritten) }
    }
    written.append(rows)
  }

  // MARK: Migrations that reach the same objects

  /// The first and the last migration, and the migrations between them that reach the same objects.
  func related(_ first: Int, _ last: Int) -> [Int] {
    var steps = [first, last]
    var others = Array((first + 1)..<last)
    while true {
      let reached = Set(steps.flatMap(names(in:)))
      let new = others.filter { !names(in: $0).isDisjoint(with: reached) }
      guard !new.isEmpty else { return steps.sorted() }
      steps += new
      others.removeAll(where: new.contains)
    }
  }

  /// The migration, preceded by the migrations from `first` on that reach the same objects. At most
  /// `limit` migrations; the earliest ones are omitted.
  func leading(to migration: Int, since first: Int, limit: Int) -> [Int] {
    var steps = [migration]
    var reached = names(in: migration).union(affected[migration].children)
    for earlier in (first..<migration).reversed() where steps.count < limit {
      let names = names(in: earlier)
      guard !names.isDisjoint(with: reached) else { continue }
      reached.formUnion(names)
      steps.insert(earlier, at: 0)
    }
    return steps
  }

  /// Whether a migration may store values of the table elsewhere.
  func mayCopy(_ table: Identifier, in migration: Int) -> Bool {
    affected[migration].mayCopy && words[migration].contains(table)
  }

  /// The objects that the statements of a migration name or reach.
  private func names(in migration: Int) -> Set<Identifier> {
    words[migration].intersection(objectNames)
  }

  /// The words of a migration's statements and of the triggers that fire, and the tables whose
  /// indexes or triggers a statement drops.
  private func words(in migration: Int, _ timeline: Timeline) -> Set<Identifier> {
    let statements = timeline.statements(in: migration)
    let texts = statements.map(\.sql) + triggers(in: migration, timeline)
    let holders = statements.flatMap(\.events).filter {
      [.dropIndex, .dropTrigger].contains($0.action)
    }.compactMap(\.second?.identifier)
    return texts.reduce(into: Set(holders).union(statements.flatMap(\.events).mainTables)) {
      $0.formUnion(objects.names(in: $1))
    }
  }

  /// The texts of the triggers that fire in a migration.
  func triggers(in migration: Int, _ timeline: Timeline) -> [String] {
    let names = timeline.statements(in: migration).flatMap(\.events)
      .compactMap(\.trigger?.identifier)
    return Set(names).sorted().flatMap { name in
      schemas[migration...].compactMap { $0.object(.trigger, name)?.sql }
    }
  }

  /// Whether a migration writes or removes rows, and it or an object that it reaches names a function whose
  /// results vary.
  func mayVary(_ migration: Int) -> Bool {
    guard affected[migration].mayCopy || !affected[migration].changed.isEmpty else { return false }
    let part = objects.part(
      of: schemas[migration], from: names(in: migration), enforcesForeignKeys: false)
    return !words[migration].isDisjoint(with: varyingFunctions)
      || part.objects.contains {
        !objects.names(in: $0.sql ?? "").isDisjoint(with: varyingFunctions)
      }
  }

  // MARK: Rows

  /// Whether earlier migrations wrote rows of the table that exist before the migration.
  func hasRows(_ table: Identifier, before migration: Int) -> Bool {
    written[migration][table] != nil
  }

  // MARK: Databases

  /// A private database without rows. It has the schema before the first migration, limited to the
  /// objects that the migrations reach.
  func database(
    before steps: [Int], _ tables: Set<Identifier>
  ) throws(DatabaseError) -> (connection: Connection, schema: Schema, calls: CallRecord) {
    let schema = objects.part(
      of: schemas[steps[0]],
      from: steps.reduce(into: tables) { $0.formUnion(names(in: $1)) },
      enforcesForeignKeys: steps.contains { migrations[$0].manifest.foreignKeys == .enforced })
    let connection = try schema.scratch(application)
    let calls = try application.register(on: connection)
    try connection.fixClockAndChance(ChanceCounter(from: ChanceCounter.range.lowerBound))
    connection.set(.trustedSchema, to: true)
    return (connection, schema, calls)
  }

  /// An experiment without rows.
  func emptyExperiment(_ migration: Int) throws(DatabaseError) -> Experiment {
    let (connection, schema, _) = try database(before: [migration], [])
    let filler = RowFiller(connection, schema, StepText([]), kinds: [])
    return Experiment(try FilledDatabase(filler, on: connection), [migration], of: self)
  }

  /// Inserts the rows that earlier migrations have written.
  func insertRows(
    before migration: Int, _ schema: Schema, on connection: Connection
  ) throws(DatabaseError) {
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: true) }
    for table in schema.tables {
      for row in written[migration][table.name.identifier] ?? [] {
        _ = try connection.refusal(of: row.sql)
      }
    }
  }
}

extension ScratchDatabase {
  /// The first rows of a table; nil if it is empty or virtual, or if SQLite maintains it.
  fileprivate func rows(
    of name: Identifier, limit: Int
  ) throws(DatabaseError) -> [Insertion]? {
    guard let object = schema.table(name), !object.isVirtualTable, !object.isInternal else {
      return nil
    }
    let table = try DeviceTable(object.name, on: connection)
    let rows = try table.rows(on: connection, limit: limit)
    return rows.isEmpty
      ? nil
      : rows.map { values in
        var row = Insertion(object.name)
        for (column, value) in zip(table.columns, values) { row[column.key] = value }
        return row
      }
  }
}
