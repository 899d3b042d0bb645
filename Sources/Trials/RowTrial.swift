import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Runs the steps of a history on generated rows, to determine which data they lose, and whether they fail on
/// rows. Each step must run on empty tables first.
package final class RowTrial {
  package private(set) var evidence = LossEvidence()
  package private(set) var failures: [RowFailure] = []
  private let history: TriedHistory
  private let isJudged: (Migration) -> Bool
  private let lock: HistoryLock?
  /// The latest outcomes of experiments over several drafts, by the first draft. Other columns of
  /// the table usually need the same outcomes.
  private var combined: (last: Int, table: Identifier, outcomes: [Int: TableOutcome?])?

  package init(
    _ project: Project, _ application: Application, isFull: Bool, _ interruption: Interruption
  ) {
    history = TriedHistory(application, interruption)
    isJudged = { isFull || !project.isFrozen($0) }
    lock = project.lock
  }

  /// Tries a migration with rows. Call it for each migration after it ran on empty tables.
  ///
  /// - Parameter scratch: the scratch database of that run.
  package func follow(
    _ step: ScratchDatabase.Step, on scratch: ScratchDatabase, _ timeline: Timeline
  ) throws(Failure) {
    note(step.migration)
    try reportingFailure(of: "the trial with rows") {
      try history.note(step, on: scratch, timeline)
      try look(at: history.migrations.count - 1, timeline)
    }
  }

  private func look(at migration: Int, _ timeline: Timeline) throws {
    guard isJudged(history.migrations[migration]) else {
      evidence.untried.insert(migration)
      return
    }
    let tables = history.affected[migration]
    history.resetBudget()
    do {
      let judge = try tables.all.isEmpty ? nil : prepared([migration], tables, timeline)
      if history.mayVary(migration) {
        let experiment = try judge?.experiment ?? history.emptyExperiment(migration)
        evidence.varying += try VaryingValues.found(by: experiment, in: migration)
      }
      if let judge { try self.judge(judge, migration, tables, timeline) }
      if !tables.all.isEmpty { try judgeRebuilds(migration, timeline) }
    } catch {
      guard let reason = TriedHistory.reason(for: error) else { throw error }
      note(migration, reason)
    }
    let skipped = evidence.skipped.count { $0.migration == migration }
    if skipped > 0 {
      evidence.notes.append(
        "lint did not check \(counted(skipped, "column")) of `\(history.migrations[migration].id)` for "
          + "changed values: the migration has too many statements. Divide it")
    }
  }

  /// Records the release of the next migration.
  private func note(_ migration: Migration) {
    let isSame =
      history.migrations.last.map { last in
        let (before, now) = (lock?.entry(last.id), lock?.entry(migration.id))
        return (before == nil) == (now == nil) && before?.release == now?.release
      } ?? true
    let release = evidence.releases.last ?? 0
    evidence.releases.append(isSame ? release : release + 1)
  }

  private func note(_ migration: Int, _ why: String) {
    evidence.notes.append("lint judged `\(history.migrations[migration].id)` without rows: \(why)")
  }

  // MARK: One step

  private func judge(
    _ judge: LossJudge, _ migration: Int, _ tables: AffectedTables, _ timeline: Timeline
  ) throws {
    for table in tables.changed.sorted() {
      guard let filled = judge.experiment.database.tables[table] else { continue }
      guard !filled.rows.isEmpty else {
        note(migration, "no row fits `\(filled.shape.name)`")
        continue
      }
      let change = timeline.changes(in: migration).first { $0.before?.key == table }
      // `drop-table` reports a dropped table, even if the migration later creates an unrelated
      // table of the same name.
      let isDropped = change.map { $0.isDropped && $0.replacement == nil } ?? false
      let isThere = !isDropped && history.schemas[migration + 1].table(table) != nil
      let name = change?.after?.key ?? (isThere ? table : nil)
      var outcome = try TableOutcome(judge, filled, after: name)
      // An earlier draft may have copied the rows to another table.
      let starts = outcome.lost.isEmpty ? [] : starts(table, nil, migration, timeline)
      for start in starts where start.table == table {
        guard let together = try combinedOutcome(of: table, from: start, migration, timeline)
        else { continue }
        if together.lost.count < outcome.lost.count { outcome = together }
        outcome.losesAll = outcome.losesAll && together.losesAll
      }
      if let change, change.after != nil { try evidence.note(change, outcome) }
      try report(outcome, change?.renamedColumns ?? [:], migration, timeline)
      evidence.judged.insert(.init(migration: migration, table: table))
      if outcome.lost.isEmpty, name != nil {
        try judgeWithEmptyTables(outcome, tables, migration, timeline)
      }
    }
  }

  /// Judges the rows of a table while a table that the migration only reads is empty. A join without
  /// a common column, for example with a table of settings, then finds no row.
  private func judgeWithEmptyTables(
    _ outcome: TableOutcome, _ tables: AffectedTables, _ migration: Int, _ timeline: Timeline
  ) throws {
    let (judge, filled) = (outcome.judge, outcome.table)
    let parents = judge.database.ancestors(of: filled.shape.key)
    for other in tables.all.subtracting(tables.changed).subtracting(parents).sorted()
    where !history.hasRows(other, before: migration) {
      guard let name = judge.database.tables[other]?.shape.name else { continue }
      let experiment = Experiment(judge.experiment, emptying: name)
      guard let base = try experiment.run() else { continue }
      let emptied = try TableOutcome(
        LossJudge(
          experiment, base, judge.text, schemaAfter: judge.schemaAfter, mayCopy: judge.mayCopy),
        filled, after: outcome.name)
      let place = Place(timeline: timeline, migration: migration, outcome: emptied)
      guard emptied.lost.count == filled.rows.count, let statement = try place.ofRows() else {
        continue
      }
      evidence.losses.append(emptied.loss(.rows(isAll: true, if: .empty(name)), at: statement))
    }
  }

  /// - Parameter isCombined: whether the experiment ran the earlier drafts that may have copied values, too.
  private func report(
    _ outcome: TableOutcome, _ renamed: [Identifier: Identifier], _ migration: Int,
    _ timeline: Timeline, isCombined: Bool = false
  ) throws {
    let place = Place(timeline: timeline, migration: migration, outcome: outcome)
    if outcome.name == nil, !outcome.lost.isEmpty {
      evidence.partlyLost.insert(.init(migration: migration, table: outcome.table.shape.key))
    } else if !outcome.lost.isEmpty, let statement = try place.ofRows() {
      evidence.losses.append(
        outcome.loss(.rows(isAll: outcome.losesAll, if: outcome.unmatched), at: statement))
    }
    var exchanged: [(from: String, to: String)] = []
    var exchange: StatementPlace?
    var moved: [DeviceTable.Column] = []
    for column in outcome.table.shape.columns {
      let name = renamed[column.key] ?? column.key
      let isThere = outcome.judge.exists(name, in: outcome.name)
      let key = LossEvidence.Key(
        migration: migration, table: outcome.table.shape.key, column: column.key)
      switch try outcome.verdict(on: column, as: name) {
      case .unknown: break
      case .skipped: evidence.skipped.insert(key)
      case .untried where !isThere && !history.mayCopy(key.table, in: migration):
        evidence.destinations[key] = .nowhere
      case .untried:
        note(migration, "no second value fits `\(outcome.table.shape.name).\(column.name)`")
      case .kept(let destination):
        evidence.destinations[key] = destination
        if !isThere { moved.append(column) }
        guard isThere, let other = outcome.otherColumn(destination, than: name),
          let statement = try place.ofCells(outcome.marked(column.key), name)
        else { continue }
        exchanged.append((column.name, other))
        exchange = statement
      // Other rows keep the values of this column; `partlyLost` reports the lost rows.
      case .lost(_, isAll: false) where outcome.name == nil && !outcome.lost.isEmpty:
        evidence.destinations[key] = .elsewhere
      case .lost(let cells, let isAll):
        let destination =
          try isCombined
          ? .nowhere
          : destination(of: column.key, as: name, outcome.table.shape.key, migration, timeline)
        evidence.destinations[key] = destination
        guard isThere, case .nowhere = destination,
          let statement = try place.ofCells(cells, column.key)
        else { continue }
        let by = place.trigger(of: statement, writing: column.key)
        evidence.losses.append(
          outcome.loss(.values(isAll: isAll, by: by), of: column, at: statement))
      case .moved(let cells):
        guard let statement = try place.ofMoved(cells, column.key) else { continue }
        evidence.losses.append(outcome.loss(.moved, of: column, at: statement))
      case .narrowed(let cell, let a, let b):
        let equal = (a.literal(besides: b), b.literal(besides: a))
        evidence.destinations[key] = .narrowed(equal.0, equal.1)
        guard isThere, let statement = try place.ofCells([cell], column.key, equal: (a, b)) else {
          continue
        }
        evidence.losses.append(
          outcome.loss(.narrowed(equal.0, equal.1), of: column, at: statement))
      }
    }
    for column in try outcome.detached(of: moved) {
      evidence.destinations[
        .init(migration: migration, table: outcome.table.shape.key, column: column.key)] =
        .detached
    }
    if let exchange { evidence.losses.append(outcome.loss(.exchanged(exchanged), at: exchange)) }
  }

  // MARK: Several drafts

  /// The maximum number of drafts that run together: each experiment runs them all.
  private static let mostSteps = 20

  /// Judges rebuilds that earlier drafts began. A single draft may only copy the rows or only drop
  /// a table, so that the drafts run together.
  private func judgeRebuilds(_ migration: Int, _ timeline: Timeline) throws {
    let (before, after) = (history.schemas[migration], history.schemas[migration + 1])
    // `judge` has handled the rebuilds of tables that exist before the migration.
    let judged = timeline.changes(in: migration).filter { change in
      change.isRebuilt && change.before.map { before.table($0.key) != nil } ?? false
    }.compactMap(\.after?.key)
    for change in timeline.changes where change.isRebuilt {
      guard evidence.areInOneRelease(change.migration, migration), let old = change.before?.key,
        let new = change.after?.key
      else { continue }
      let start: LossEvidence.Key?
      if change.migration == migration {
        guard before.table(old) == nil, !judged.contains(new) else { continue }
        start = starts(old, nil, migration, timeline).last
      } else {
        let isOver = change.leftovers.contains { before.table($0) != nil && after.table($0) == nil }
        guard isOver, after.table(new) != nil else { continue }
        start =
          starts(old, nil, change.migration, timeline).last
          ?? LossEvidence.Key(migration: change.migration, table: old)
      }
      guard let start, let outcome = try combinedOutcome(of: new, from: start, migration, timeline)
      else { continue }
      try report(outcome, change.renamedColumns, migration, timeline, isCombined: true)
    }
  }

  /// The destination of values that a draft drops, according to experiments that start at an
  /// earlier draft.
  private func destination(
    of column: Identifier, as newName: Identifier, _ table: Identifier, _ migration: Int,
    _ timeline: Timeline
  ) throws -> Destination {
    var found = Destination.nowhere
    for start in starts(table, column, migration, timeline) {
      guard let outcome = try combinedOutcome(of: table, from: start, migration, timeline),
        let old = start.column.flatMap(outcome.table.shape.column),
        let destination = try outcome.destination(of: old, as: newName)
      else { continue }
      found = destination
      if case .column = destination { break }
    }
    return found
  }

  /// The earlier drafts at which experiments start: the last and the first draft that may copy rows of the
  /// table. A draft between them may change the copied values.
  private func starts(
    _ table: Identifier, _ column: Identifier?, _ last: Int, _ timeline: Timeline
  ) -> [LossEvidence.Key] {
    var (newest, oldest): (LossEvidence.Key?, LossEvidence.Key?)
    // Within a rebuild over several drafts, the table may not exist: start before it.
    var isCopied = false
    for name in timeline.names(of: table, column, upTo: last) {
      guard evidence.areInOneRelease(name.migration, last) else { break }
      isCopied = isCopied || history.mayCopy(name.table, in: name.migration)
      guard isCopied, history.schemas[name.migration].table(name.table) != nil else { continue }
      if name.migration < last { (newest, oldest) = (newest ?? name, name) }
      isCopied = false
    }
    return [newest?.migration == oldest?.migration ? nil : newest, oldest].compactMap { $0 }
  }

  private func combinedOutcome(
    of table: Identifier, from start: LossEvidence.Key, _ last: Int, _ timeline: Timeline
  ) throws -> TableOutcome? {
    let first = start.migration
    if combined?.last != last || combined?.table != table { combined = (last, table, [:]) }
    if let known = combined?.outcomes[first] { return known }
    let steps = history.related(first, last)
    guard steps.count <= Self.mostSteps else { return nil }
    var tables = history.affected[first]
    for later in steps.dropFirst() {
      tables.formUnion(
        AffectedTables(
          timeline, later, before: history.schemas[first], ForeignKeyGraph(history.schemas[first])))
    }
    var outcome: TableOutcome?
    if let judge = try prepared(steps, tables, timeline),
      let filled = judge.experiment.database.tables[start.table], !filled.rows.isEmpty
    {
      outcome = try TableOutcome(
        judge, filled, after: history.schemas[last + 1].table(table) == nil ? nil : table)
    }
    combined?.outcomes[first] = .some(outcome)
    return outcome
  }

  // MARK: Rows

  /// A filled database on which the migrations ran, with their outcome. Nil if no row fits the
  /// tables, or if the migrations fail on all kinds of rows.
  ///
  /// - Parameter joinsRows: whether columns that the text compares share keys.
  private func prepared(
    _ steps: [Int], _ tables: AffectedTables, _ timeline: Timeline, joinsRows: Bool = true
  ) throws -> LossJudge? {
    let first = steps[0]
    let isSingle = steps.count == 1
    let changes = steps.flatMap { timeline.changes(in: $0) }
    let text = StepText(
      steps.flatMap { timeline.statements(in: $0).map(\.sql) },
      newKeys: Set(changes.flatMap(\.newKeys)),
      columns: Set(
        tables.all.compactMap { history.schemas[first].table($0).flatMap(TableShape.init) }
          .flatMap { $0.columns.map(\.key) }),
      triggers: steps.flatMap { history.triggers(in: $0, timeline) }, joinsRows: joinsRows)
    let checks = NewChecks(changes, in: history.schemas[first], text)
    func experiment(
      _ kinds: [RowKind], under enforced: NewChecks = NewChecks()
    ) throws -> Experiment {
      let (connection, schema, _) = try history.database(before: steps, tables.all)
      let later = enforced.isEmpty ? Schema() : history.schemas[steps[steps.count - 1] + 1]
      var filler = RowFiller(connection, schema, text, kinds: kinds, later: later)
      try enforced.enforce(on: connection) { () throws(DatabaseError) in
        try filler.fill(tables.all.sorted())
      }
      return Experiment(
        try FilledDatabase(filler, on: connection), steps, of: history, checks: checks)
    }
    func judge(_ experiment: Experiment, _ base: Experiment.Outcome) -> LossJudge {
      LossJudge(
        experiment, base, text, schemaAfter: history.schemas[steps[steps.count - 1] + 1],
        mayCopy: steps.contains { history.affected[$0].mayCopy })
    }
    let combined = RowFiller.combinedKinds(text.compared.count)
    let kinds =
      RowFiller.allKinds + combined + (text.readsJSON ? RowFiller.memberKinds : [])
      + (text.readsTimes ? RowFiller.dateKinds : []) + (text.readsTypes ? [.otherTypes] : [])
    let full = try experiment(kinds)
    func noteNoRows() {
      guard isSingle, !tables.changed.isEmpty else { return }
      let names = tables.changed.sorted().map { "`\($0.text)`" }
      note(first, "no row fits \(names.joined(separator: ", "))")
    }
    guard full.database.tables.keys.contains(where: full.database.hasRows) else {
      noteNoRows()
      return nil
    }
    let base = try full.run()
    if isSingle, joinsRows {
      let search = RowFailures(history: history, timeline: timeline, migration: first)
      if base == nil || search.mayFail(tables) {
        failures += try search.found(
          since: evidence.releaseStart(of: first), besides: base == nil ? full.failure : nil)
      }
    }
    if let base {
      if isSingle { evidence.runOnAllRows.insert(first) }
      return judge(full, base)
    }
    guard !isSingle || !tables.changed.isEmpty else { return nil }
    if !checks.isEmpty {
      let checked = try experiment(kinds, under: checks)
      if let base = try checked.run() { return judge(checked, base) }
    }
    let reason = full.refusal ?? ""
    let accepted = try full.acceptedKinds(of: RowFiller.groups + [combined])
    let members = accepted.contains(where: \.isMarked) ? [] : RowFiller.memberKinds + accepted
    // Rows of a parent alone show nothing about its children.
    let changed = tables.changed.filter { full.database.hasRows($0) }
    guard !changed.isEmpty else {
      noteNoRows()
      return nil
    }
    var best: (judge: LossJudge, filled: Int)?
    let dates = RowFiller.dateKinds
    for kinds in [members, accepted, accepted.isEmpty ? [] : accepted + dates, dates]
    where !kinds.isEmpty && best.map({ $0.filled < changed.count }) ?? true {
      let simpler = try experiment(kinds)
      let filled = changed.count { simpler.database.hasRows($0) }
      guard filled > best?.filled ?? 0, let base = try simpler.run() else { continue }
      best = (judge(simpler, base), filled)
    }
    if let best { return best.judge }
    // Equal keys of two tables collide if the migration copies the rows of one to the other.
    if !text.joined.isEmpty { return try prepared(steps, tables, timeline, joinsRows: false) }
    if isSingle { note(first, "it does not run on generated rows (\(reason.shortened(to: 300)))") }
    return nil
  }
}
