import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Finds the statements of a migration that fail on rows similar to those of an app.
///
/// It inserts the rows before the earlier migrations of the same release, because these may prepare
/// them.
struct RowFailures {
  let history: TriedHistory
  let timeline: Timeline
  let migration: Int

  /// The maximum number of migrations that run on the rows.
  private static let mostSteps = 20
  /// The maximum number of failures that it handles.
  private static let mostFailures = 20

  /// Whether a migration that runs on marked rows may fail on other rows, or leave rows without
  /// parents.
  func mayFail(_ tables: AffectedTables) -> Bool {
    !newIndexes.isEmpty || !newReferences.isEmpty || updatesKey || !newlyRequired.isEmpty
      || !timeline.statementsThatBreakReferences(in: migration).isEmpty
      || !tables.children.isEmpty
        && (!tables.removals.isEmpty
          || history.migrations[migration].manifest.foreignKeys == .enforced)
  }

  /// Whether an UPDATE changes columns of a unique key, so that rows may collide.
  private var updatesKey: Bool {
    let targets = timeline.statements(in: migration).compactMap(\.target)
    let schema = history.schemas[migration]
    return Dictionary(grouping: targets, by: \.name.identifier).contains { name, targets in
      let updated = targets.reduce(into: Set()) { $0.formUnion($1.updates) }
      guard !updated.isEmpty, let table = schema.table(name).flatMap(TableShape.init) else {
        return false
      }
      let indexes = schema.objects(.index, on: name.text).compactMap(IndexShape.init)
      return (table.keys + indexes.filter(\.isUnique).map { $0.columns.compactMap(\.self) })
        .contains { !updated.isDisjoint(with: $0) }
    }
  }

  /// The statements that remove parents of rows although no foreign key acts during the migration.
  private var removals: [AffectedTables.Removal] {
    history.migrations[migration].manifest.foreignKeys == .enforced
      ? [] : history.affected[migration].removals
  }

  /// New unique indexes on columns whose values the migration does not set, so that values may
  /// repeat.
  private var newIndexes: [CreatedUniqueIndex] {
    timeline.indexes.filter { index in
      index.place.migration == migration && !timeline.isNew(index.table, in: migration)
        && timeline.columnsUpdated(before: index).isEmpty
    }
  }

  private typealias NewReference = (table: Identifier, key: TableShape.ForeignKey, number: Int)

  /// The foreign keys whose values the migration itself wrote, because they are of new columns that have a
  /// default or refer to new tables. Each has the number of the last statement that writes rows of the table.
  private var newReferences: [NewReference] {
    timeline.tables.filter { $0.change.migration == migration }.flatMap {
      (change, after) -> [NewReference] in
      let write = timeline.statements(in: migration).last {
        change.copies.contains($0.place) || $0.target?.name.identifier == after.key
      }
      guard let write else { return [] }
      return after.foreignKeys.filter { key in
        (timeline.isNew(key.parent, in: migration)
          || key.columns.contains { after.column($0)?.defaultText != nil })
          && !change.keptColumns.contains { key.columns.contains($0.new.key) }
      }.map { (after.key, $0, write.place.number) }
    }
  }

  /// The numbers of the statements that write the same key of a missing row to several rows.
  private func dangling(in contents: Contents?) -> Set<Int> {
    Set(
      newReferences.filter { table, key, _ in
        contents?.tables[table]?.hasOneKey(key, contents) ?? false
      }.map(\.number))
  }

  /// - Parameters:
  ///   - first: the first migration that is released together with this one.
  ///   - refusal: the failure of the migration on other rows, which an app may not have.
  func found(since first: Int, besides refusal: Failure?) throws -> [RowFailure] {
    var steps = history.leading(to: migration, since: first, limit: Self.mostSteps)
    while true {
      switch try filled(after: steps) {
      case .experiment(let experiment):
        let found = try failures(in: experiment, released: history.schemas[first])
        // An earlier migration may convert the values.
        let isFirst = steps.dropLast().allSatisfy { step in
          history.affected[step].changed.isDisjoint(with: history.affected[migration].changed)
        }
        let check =
          isFirst ? refusal.map { FailureAnalysis($0, migration, timeline) }?.ofNewCheck : nil
        let lookup = found.isEmpty ? try failureOfLookup(in: experiment) : nil
        return found
          + [check, lookup].compactMap(\.self).filter { new in
            !found.contains { $0.place == new.place }
          }
      // The next attempt inserts its first rows after the failed migration.
      case .failed(let failed): steps.removeAll { $0 <= failed }
      }
    }
  }

  /// The tables with rows of earlier migrations that the migration changes, and whose rows no statement of
  /// these migrations updates. An app may have added rows; otherwise the history knows all rows.
  private func tightened(after steps: [Int]) -> Set<Identifier> {
    let updated = Set(
      steps.flatMap { timeline.statements(in: $0) }.compactMap(\.target)
        .filter { !$0.updates.isEmpty }.map(\.name.identifier))
    return history.affected[migration].changed.union(newIndexes.map(\.table.identifier))
      .filter { history.hasRows($0, before: migration) }.subtracting(updated)
  }

  private enum Filled {
    case experiment(Experiment)
    /// An earlier migration failed on the rows.
    case failed(Int)
  }

  /// A database on which all of these migrations except the last ran. Each table is filled before
  /// the first migration that finds it.
  private func filled(after steps: [Int]) throws -> Filled {
    let tables = steps.reduce(into: Set<Identifier>()) { tables, step in
      tables.formUnion(history.affected[step].all.union(history.affected[step].children))
    }
    let (connection, schema, calls) = try history.database(before: steps, tables)
    defer { history.spend(on: connection) }
    let scratch = try ScratchDatabase(
      on: connection, history.application, calls, isCopy: false,
      interruption: history.interruption)
    try history.insertRows(before: steps[0], schema, on: connection)
    var marks = MarkMaker()
    var known: Set<Identifier> = []
    let seeded = tightened(after: steps)
    // Where a foreign key has an action, an app may delete any parent, including one that the
    // migration names.
    let namesParents = removals.contains { $0.kind == .withAction }
    let text = StepText(
      namesParents ? timeline.statements(in: migration).map(\.sql) : [], joinsRows: false)
    let kinds =
      RowFiller.likelyKinds + (namesParents ? (0..<10).map(RowKind.literals) : [])
    func fill(before step: Int) throws(DatabaseError) -> FilledDatabase {
      // Tables that an earlier migration has emptied on purpose stay empty.
      var emptied: [Identifier] = []
      for table in known where scratch.schema.table(table) != nil {
        let rows = "SELECT 1 FROM main.\(Quoting.quoted(table.text)) LIMIT 1"
        if try connection.value(rows) == nil { emptied.append(table) }
      }
      var filler = RowFiller(
        connection, scratch.schema, text, kinds: kinds, marks: marks,
        later: history.schemas[step + 1])
      try filler.fill(tables.sorted(), beside: seeded.subtracting(known))
      connection.set(.triggers, to: false)
      for table in emptied {
        try connection.execute("DELETE FROM main.\(Quoting.quoted(table.text))")
      }
      connection.set(.triggers, to: true)
      known = tables.filter { scratch.schema.table($0) != nil }
      try repeatValues(in: filler.filled, on: connection)
      marks = filler.marks
      return try FilledDatabase(filler, on: connection)
    }
    for step in steps.dropLast() {
      _ = try fill(before: step)
      do throws(Failure) {
        try scratch.apply(history.migrations[step])
      } catch {
        // A call of a function of the application makes a manifest invalid here.
        guard [.migrationFailed, .invalidInput].contains(error.status),
          error.cause?.exceeded == nil
        else { throw error }
        return .failed(step)
      }
    }
    return .experiment(Experiment(try fill(before: migration), [migration], of: history))
  }

  /// Makes the values of columns that become unique equal in all rows, as far as the table allows.
  private func repeatValues(
    in tables: [Identifier: FilledDatabase.Table], on connection: Connection
  ) throws(DatabaseError) {
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: true) }
    for index in newIndexes {
      guard let table = tables[index.table.identifier],
        table.rows.contains(where: { $0.kind != .seeded })
      else { continue }
      let name = Quoting.quoted(table.shape.name)
      for column in index.columns.compactMap({ $0.flatMap(table.shape.column) }) {
        let column = Quoting.quoted(column.name)
        _ = try connection.refusal(
          of:
            "UPDATE OR IGNORE main.\(name) SET \(column) = (SELECT max(\(column)) FROM main.\(name))"
        )
      }
    }
  }

  /// Whether the rows of a rebuilt table keep their primary keys.
  private func keepsKeys(
    _ table: Identifier, in experiment: Experiment, _ outcome: Experiment.Outcome?
  ) -> Bool {
    let change = timeline.changes(in: migration).first { $0.before?.key == table }
    guard let filled = experiment.database.tables[table],
      let after = change?.after.flatMap({ outcome?.contents.tables[$0.key] })
    else { return false }
    let key = filled.shape.primaryKey.map { column in
      (old: filled.index(of: column.key) ?? 0, new: after.index(of: column.key))
    }
    return filled.rows.allSatisfy { row in
      after.rows.contains { now in
        key.allSatisfy { old, new in new.map { now[$0].isSame(as: row.cells[old]) } ?? false }
      }
    }
  }

  /// Returns the failures on the rows. After a failure, removes the rows at fault or changes their values, so
  /// that later statements run, too.
  ///
  /// - Parameter released: the schema before the release of the migration.
  private func failures(
    in experiment: Experiment, released: Schema
  ) throws -> [RowFailure] {
    var failures: [RowFailure] = []
    var emptied: Set<Identifier> = []
    var removed: [Experiment.Change] = []
    var reset: [Experiment.Change] = []
    var indexes: Set<Identifier> = []
    let text = StepText(timeline.statements(in: migration).map(\.sql), joinsRows: false)
    for _ in 0..<Self.mostFailures {
      let outcome = try experiment.run(removed + reset, checksReferences: removed.isEmpty)
      let broken = outcome?.brokenReferences
      guard
        let failure = broken.map({ Failure(.migrationFailed, $0.message) }) ?? experiment.failure,
        failure.status == .migrationFailed
      else { break }
      let analysis = FailureAnalysis(
        failure, migration, timeline,
        removals: removals.filter { removal in
          broken?.tables.contains(removal.table) ?? false
            && !(removal.kind == .rebuilt && keepsKeys(removal.table, in: experiment, outcome))
        },
        dangling: dangling(in: outcome?.contents))
      // A generated row may have the same key as a row that the migration inserts.
      let own = analysis.collidingTables.intersection(experiment.database.tables.keys)
        .subtracting(emptied)
      // If a table accepts only one row, such as settings, a database may already have it.
      let isOnly =
        !own.isEmpty
        && own.allSatisfy { table in
          experiment.database.tables[table]?.rows.count == 1 && released.table(table) != nil
        }
      var resets: [Experiment.Change] = []
      if let index = analysis.newUnique, indexes.insert(index.name.identifier).inserted {
        resets = experiment.resets(
          of: index, updated: timeline.columnsUpdated(before: index), or: analysis.tables)
      }
      let isNew = !failures.contains {
        $0.place == analysis.failure.place && $0.message == analysis.failure.message
      }
      // Generated duplicates are not evidence if the migration sets the values itself.
      if isNew, own.isEmpty || isOnly, !experiment.calledUnknown, analysis.isOfRows,
        resets.isEmpty || analysis.failure.isOfNewConstraint,
        try analysis.formatted.isEmpty || analysis.isOfOwnCheck
          || experiment.failsOnNull(analysis, text)
      {
        failures.append(analysis.failure)
        failures[failures.count - 1].insertsOnlyRow = isOnly
        resets += experiment.withoutNulls(analysis.failure).filter { change in
          !reset.contains { $0.sql == change.sql }
        }
      }
      reset += resets
      if !resets.isEmpty { continue }
      let next = (own.isEmpty ? analysis.tables : own)
        .intersection(experiment.database.tables.keys).subtracting(emptied)
      guard outcome == nil, !next.isEmpty else { break }
      // Keep most of the budget for the trials of columns.
      let culprits =
        history.spent > TriedHistory.budget / 10
        ? [] : try experiment.culprits(of: failure, in: next, removed + reset)
      removed +=
        culprits.isEmpty ? next.sorted().map { .remove(table: $0.text, address: "1") } : culprits
      if culprits.isEmpty { emptied.formUnion(next) }
    }
    return failures
  }
}

extension Contents.Table {
  /// Whether several rows have a key in these columns, always the same one, and its row does not exist.
  fileprivate func hasOneKey(_ key: TableShape.ForeignKey, _ contents: Contents?) -> Bool {
    guard key.columns.count == 1, let index = index(of: key.columns[0]),
      let parent = contents?.tables[key.parent.identifier]
    else { return false }
    let values = rows.map { $0[index] }.filter { $0 != .null }
    return values.count > 1 && Set(values).count == 1
      && !parent.rows.contains { $0.contains { $0.isSame(as: values[0]) } }
  }
}

extension Experiment {
  /// Whether a NULL causes a failure of NOT NULL, and not the format of a generated value: the migrations
  /// accept a row of dates and JSON, but not if one of its columns is NULL or an empty object.
  fileprivate func failsOnNull(
    _ analysis: FailureAnalysis, _ text: StepText
  ) throws(Failure) -> Bool {
    guard analysis.failure.constraint == .notNull else { return false }
    for (_, table) in database.tables.sorted(by: { $0.key < $1.key }) {
      let shape = table.shape
      let columns = shape.columns.filter { column in
        analysis.formatted.contains([shape.key, column.key]) && !column.isInKey
          && ![.integer, .real].contains(column.affinity) && !shape.refers(by: column)
      }
      guard let row = table.rows.first(where: { ![.likely(0), .seeded].contains($0.kind) }),
        !columns.isEmpty
      else {
        continue
      }
      func changes(clearing null: Identifier? = nil) -> [Change] {
        let values = columns.map { column in
          let formatted =
            text.readsJSON(in: column.key)
            ? text.form(of: .integer(7_500_006), for: column.key) : "2026-01-01 12:00:00"
          let empty: Value = column.isNotNull ? "{}" : .null
          return Change.set(
            table: shape.name, address: row.address, column: column.name,
            value: column.key == null ? empty : formatted)
        }
        return [.remove(table: shape.name, address: "NOT (\(row.address))")] + values
      }
      guard try run(changes()) != nil else { continue }
      for column in columns where !column.isNotNull || text.readsJSON(in: column.key) {
        let outcome = try run(changes(clearing: column.key))
        if outcome == nil, failure?.message == analysis.failure.message { return true }
      }
    }
    return false
  }

  /// Changes that remove the rows of one table that each cause the same failure. Empty if no row does, or if
  /// every row does.
  fileprivate func culprits(
    of failure: Failure, in tables: Set<Identifier>, _ changes: [Change]
  ) throws(Failure) -> [Change] {
    for table in tables.sorted().compactMap({ database.tables[$0] }) {
      var culprits: [Change] = []
      func columns(_ failure: Failure?) -> Set<Identifier> {
        failure?.message.words.intersection(table.shape.columns.map(\.key)) ?? []
      }
      for row in table.rows {
        let others = Change.remove(table: table.shape.name, address: "NOT (\(row.address))")
        guard try run(changes + [others]) == nil, self.failure?.place == failure.place,
          columns(self.failure) == columns(failure)
        else { continue }
        culprits.append(.remove(table: table.shape.name, address: row.address))
      }
      if !culprits.isEmpty, culprits.count < table.rows.count { return culprits }
    }
    return []
  }

  /// Changes that replace NULL, in the column that refuses it, by a value of another row.
  fileprivate func withoutNulls(_ failure: RowFailure) -> [Change] {
    guard failure.constraint == .notNull else { return [] }
    return failure.tables.sorted().compactMap { database.tables[$0] }.flatMap { table in
      table.shape.columns.enumerated().compactMap { index, column -> Change? in
        let value = table.rows.lazy.map { $0.cells[index] }.first { $0 != .null }
        guard let value, !column.isNotNull, failure.words.contains(column.key) else { return nil }
        return .reset(
          table: table.shape.name, address: "\(Quoting.quoted(column.name)) IS NULL",
          column: column.name, value: value.sql)
      }
    }
  }
}
