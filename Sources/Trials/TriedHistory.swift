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
  let application: Application
  let interruption: Interruption
  private(set) var migrations: [Migration] = []
  /// The schema before each migration, and after the last one.
  private(set) var schemas: [Schema] = [Schema()]
  /// The tables that each migration changes.
  private(set) var touched: [Set<Identifier>] = []
  /// The older tables that each migration reads or changes.
  private(set) var affected: [AffectedTables] = []
  /// The rows that the migrations have written, before each of them.
  private var written: [[Identifier: [Insertion]]] = [[:]]
  /// The names of all objects that existed at any time.
  private var objectNames: Set<Identifier> = []
  let objects = ReachedObjects()

  /// The maximum number of rows of a table that a migration writes and later trials contain.
  private static let mostWritten = 8

  init(_ application: Application, _ interruption: Interruption) {
    self.application = application
    self.interruption = interruption
  }

  /// Records a migration that ran on empty tables.
  func note(
    _ step: ScratchDatabase.Step, on scratch: ScratchDatabase, _ timeline: Timeline
  ) throws(DatabaseError) {
    affected.append(
      AffectedTables(timeline, migrations.count, before: schemas[migrations.count]))
    migrations.append(step.migration)
    schemas.append(scratch.schema)
    touched.append(step.touched)
    objectNames.formUnion(step.delta.keys.map(\.name))
    var rows = written[written.count - 1]
    if !step.writeSet.written.isEmpty || step.touched.contains(where: { rows[$0] != nil }) {
      for name in step.touched { rows[name] = try scratch.rows(of: name, limit: Self.mostWritten) }
    }
    written.append(rows)
  }

  // MARK: Migrations that reach the same objects

  /// The first and the last migration, and those between them that reach the same objects.
  func related(_ first: Int, _ last: Int, _ timeline: Timeline) -> [Int] {
    var steps = [first, last]
    var others = Array((first + 1)..<last)
    while true {
      let reached = Set(steps.flatMap { names(in: $0, timeline) })
      let new = others.filter { !names(in: $0, timeline).isDisjoint(with: reached) }
      guard !new.isEmpty else { return steps.sorted() }
      steps += new
      others.removeAll(where: new.contains)
    }
  }

  /// A migration after those before it that reach the same objects, without the first ones if there
  /// are more than `limit`.
  ///
  /// - Parameter isTogether: whether an earlier migration is released together with it.
  func leading(
    to migration: Int, limit: Int, _ timeline: Timeline, _ isTogether: (Int) -> Bool
  ) -> [Int] {
    var steps = [migration]
    var reached = names(in: migration, timeline)
    for earlier in (0..<migration).reversed() {
      guard steps.count < limit, isTogether(earlier) else { break }
      let names = names(in: earlier, timeline)
      guard !names.isDisjoint(with: reached) else { continue }
      reached.formUnion(names)
      steps.insert(earlier, at: 0)
    }
    return steps
  }

  /// The objects that the statements of a migration name or reach, and the tables whose indexes or
  /// triggers they drop.
  private func names(in migration: Int, _ timeline: Timeline) -> Set<Identifier> {
    timeline.statements(in: migration).reduce(into: []) { names, statement in
      let holders = statement.events.filter { [.dropIndex, .dropTrigger].contains($0.action) }
        .compactMap(\.second?.identifier)
      names.formUnion(
        objects.names(in: statement.sql).union(statement.events.mainTables).union(holders)
          .intersection(objectNames))
    }
  }

  // MARK: Databases

  /// A private database before the first of the migrations, without rows, with the part of the schema
  /// that they reach.
  func database(
    before steps: [Int], _ tables: Set<Identifier>, _ timeline: Timeline
  ) throws(DatabaseError) -> (connection: Connection, schema: Schema, calls: CallRecord) {
    let schema = objects.part(
      of: schemas[steps[0]],
      from: steps.reduce(into: tables) { $0.formUnion(names(in: $1, timeline)) },
      enforcesForeignKeys: steps.contains { migrations[$0].manifest.foreignKeys == .enforced })
    let connection = try schema.scratch(application)
    let calls = try application.register(on: connection)
    try connection.fixClockAndChance(ChanceCounter(from: ChanceCounter.range.lowerBound))
    connection.set(.trustedSchema, to: true)
    return (connection, schema, calls)
  }

  /// Inserts the rows that earlier migrations have written.
  func insertRows(
    before migration: Int, _ schema: Schema, on connection: Connection
  ) throws(DatabaseError) {
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: true) }
    let inserter = RowInserter(connection)
    for table in schema.tables {
      for row in written[migration][table.name.identifier] ?? [] {
        _ = try inserter.refusal(of: row)
      }
    }
  }
}

extension ScratchDatabase {
  /// The first rows of a table; nil if there are none.
  fileprivate func rows(
    of name: Identifier, limit: Int
  ) throws(DatabaseError) -> [Insertion]? {
    guard let object = schema.table(name), !object.isVirtualTable, !object.isInternal else {
      return nil
    }
    let table = try DeviceTable(object.name, on: connection)
    guard !table.columns.isEmpty else { return nil }
    let columns = table.columns.map { Quoting.quoted($0.name) }.joined(separator: ", ")
    let rows = try connection.rows(
      "SELECT \(columns) FROM main.\(Quoting.quoted(object.name)) LIMIT \(limit)")
    return rows.isEmpty
      ? nil
      : rows.map { values in
        var row = Insertion(object.name)
        for (column, value) in zip(table.columns, values) { row[column.key] = value }
        return row
      }
  }
}
