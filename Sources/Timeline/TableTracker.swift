import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Tracks every table during a replay, and records the changes that each migration makes.
///
/// It observes SQLite instead of searching in SQL text: the b-tree of each name, and the tables
/// that a statement reads and writes. A table that contains rows copied from another one and has
/// taken its name is its successor; the two changes together are a rebuild.
package final class TableTracker {
  package private(set) var timeline: Timeline
  private var tables: [TrackedTable] = []
  private var objects = ObjectTracker()
  private let probe: Probe
  /// The error that prevented SQLite from answering a question. The timeline is invalid then.
  package var fault: DatabaseError? { probe.fault }
  private var copies = CopyGraph()
  /// The tables of the schema, by folded name.
  private var live: [Identifier: Int] = [:]
  private var removed: [Removed] = []
  private var migration = 0
  /// The older tables that the current migration changed, and the tables that it created.
  private var touched: [Int] = []
  private var created: [Int] = []

  /// A table that a migration dropped or renamed, and that has no successor yet.
  private struct Removed {
    let table: Int
    /// The definition from which a later rebuild starts, under the name that the table had before
    /// the removal. It includes the column changes that have been recorded.
    let start: TableShape
    let displaced: StatementPlace
    /// The index of its change.
    let change: Int
  }

  package init(_ migrations: [Migration], _ application: Application) {
    timeline = Timeline(migrations: migrations)
    probe = Probe(application)
  }

  // MARK: Statements

  private func touch(_ id: Int) {
    guard !tables[id].isDropped, tables[id].created.migration != migration,
      !touched.contains(id)
    else { return }
    touched.append(id)
    tables[id].beginMigration()
  }

  /// - Parameter before: the schema before the statement.
  package func note(_ statement: ReplayedStatement, on before: Schema) {
    let place = StatementPlace(
      migration: migration, operation: statement.operation, number: timeline.statements.count + 1,
      position: statement.position)
    noteMove(at: place)
    let flow = RowFlow(statement, before)
    let target = target(of: statement)
    let sources = Set(
      flow.read.compactMap { table -> CopyGraph.Holder? in
        table.isTemporary ? .temporary(table.name) : live[table.name].map { .table($0) }
      })
    for table in flow.created { copies.empty(table) }
    for table in flow.written where table.isTemporary {
      copies.note(sources, into: .temporary(table.name), at: place)
    }
    let step = TableStep(statement.change)
    objects.note(statement.change, droppedTables: step.dropped, at: place)
    note(step, sources, at: place)
    // With enforced foreign keys, SQLite reports that DROP TABLE deletes rows.
    let isDrop = step.dropped.contains { $0.name.identifier == target?.name.identifier }
    timeline.statements.append(
      StatementEffect(
        place: place, sql: statement.sql, events: statement.events,
        warnings: statement.warnings, target: isDrop ? nil : target))
    for table in flow.written where !table.isTemporary {
      copy(sources, into: live[table.name], at: place)
    }
  }

  // MARK: Rows

  private func target(of statement: ReplayedStatement) -> StatementEffect.WrittenTable? {
    let writes = statement.events.filter(\.writesRows)
    guard let name = writes.first?.first?.identifier, let id = live[name] else { return nil }
    let own = writes.filter { $0.first?.identifier == name }
    return StatementEffect.WrittenTable(
      name: tables[id].name, isOld: isOld(id),
      inserts: own.contains { $0.action == .insert },
      updates: Set(own.lazy.filter { $0.action == .update }.compactMap(\.second?.identifier)),
      deletes: own.contains { $0.action == .delete }, table: id)
  }

  /// Whether the table, or the one that it replaces, existed before the migration.
  private func isOld(_ id: Int) -> Bool {
    tables[id].created.migration != migration || predecessors(of: id).contains(where: isOld)
  }

  private func note(leftBehind objects: [TemporaryObject]) {
    timeline.leftBehind += objects.compactMap { object in
      let maker = timeline.statements(in: migration).last { statement in
        statement.events.contains {
          $0.isTemporaryCreation && $0.first?.identifier == object.name.identifier
        }
      }
      return maker.map { ($0.place, object) }
    }
  }

  /// Records the schema after the last migration.
  ///
  /// - Parameters:
  ///   - broken: its views and triggers that do not compile.
  ///   - doubleQuoted: its views and triggers that do not compile if SQLite rejects strings in
  ///     double quotes.
  package func finish(_ schema: Schema, broken: [BrokenObject], doubleQuoted: [BrokenObject]) {
    timeline.end = LastSchema(
      schema, broken: broken, doubleQuoted: doubleQuoted, objects
    ) { name in
      live[name].map { tables[$0] }
    }
    for index in timeline.statements.indices {
      guard let id = timeline.statements[index].target?.table else { continue }
      timeline.statements[index].target?.isCopy = !predecessors(of: id).isEmpty
    }
  }

  private func note(
    _ step: TableStep, _ sources: Set<CopyGraph.Holder>, at place: StatementPlace
  ) {
    for table in step.dropped {
      guard let id = live.removeValue(forKey: table.name.identifier) else { continue }
      touch(id)
      tables[id].drop(at: place)
    }
    // Remove all old names first, because two tables may exchange names.
    let ids = step.changed.map { live.removeValue(forKey: $0.old.name.identifier) }
    for case (let id?, let (_, new)) in zip(ids, step.changed) {
      live[new.name.identifier] = id
      guard let shape = TableShape(new) else { continue }
      touch(id)
      tables[id].become(shape, moved: timeline.move(at: place)?.from.identifier, at: place)
    }
    let hasVirtual = step.created.contains { $0.rootPage == 0 }
    for table in step.created {
      guard let shape = TableShape(table) else { continue }
      let id = tables.count
      tables.append(
        TrackedTable(
          id: id, shape: shape, isShadow: hasVirtual && !shape.isVirtual, at: place))
      live[table.name.identifier] = id
      created.append(id)
      // CREATE TABLE … AS SELECT.
      copy(sources, into: id, at: place)
    }
    for case let id? in ids { succeed(by: id) }
  }

  /// Records a `move_column`. Call it before the operation's first statement changes the table.
  private func noteMove(at place: StatementPlace) {
    guard let move = timeline.move(at: place),
      timeline.moves.last.map({
        $0.place.migration != place.migration || $0.place.operation != place.operation
      }) ?? true,
      let id = live[move.table.identifier]
    else { return }
    timeline.moves.append((place, move, tables[id].shape))
  }

  // MARK: Copies

  private func copy(_ sources: Set<CopyGraph.Holder>, into id: Int?, at place: StatementPlace) {
    guard let id, !sources.isEmpty else { return }
    copies.note(sources, into: .table(id), at: place)
    succeed(by: id)
  }

  /// Records a rebuild if the table has taken the name of the table that it was copied from.
  private func succeed(by id: Int) {
    let new = tables[id]
    let origins = copies.copies(into: id)
    for (old, copy) in origins.sorted(by: { $0.key < $1.key }) {
      let table = tables[old]
      guard table.successor == nil, !table.isShadow, table.names.contains(new.key),
        table.isDropped || table.key != new.key, !replacements(of: id).contains(old)
      else { continue }
      touch(id)
      touch(old)
      tables[old].successor = id
      tables[old].isLeftover = true
      tables[id].inheritColumns(of: tables[old])
      // Intermediate copies of the rows are leftovers of the rebuild, too.
      guard !copy.isDirect else { continue }
      for between in origins.keys where copies.copies(into: between)[old] != nil {
        touch(between)
        tables[between].isLeftover = true
      }
    }
  }

  // MARK: The end of a migration

  /// Records the changes of the current migration. Later statements belong to the next one.
  ///
  /// - Parameters:
  ///   - after: the schema after the migration.
  ///   - leftBehind: temporary objects that exist after it.
  package func end(
    _ delta: SchemaDelta, _ after: Schema, leftBehind: [TemporaryObject]
  ) {
    note(leftBehind: leftBehind)
    let first = timeline.changes.count
    // The tables that replaced another one.
    var replacing: Set<Int> = []
    let present = touched.filter { !tables[$0].isShadow }
    for id in present where !tables[id].startedAsLeftover { endRebuild(of: id, &replacing) }
    endLateRebuilds(&replacing)
    for id in present where !replacing.contains(id) {
      // Record a leftover of an earlier migration only if this one drops it or removes columns from
      // it.
      let ends = tables[id].isDropped || !tables[id].losses.isEmpty
      if tables[id].startedAsLeftover ? ends : !tables[id].isLeftover { endChange(of: id) }
    }
    for id in created where !replacing.contains(id) { endCreation(of: id) }
    let made = objects.made(delta)
    timeline.indexes += made.compactMap { newUniqueIndex($0, delta) }
    timeline.removed += objects.removed(delta, after)
    timeline.made += made
    let moved = Set(
      timeline.moves.lazy.filter { $0.place.migration == self.migration }
        .map { $0.move.to.name.identifier })
    for index in first..<timeline.changes.count {
      timeline.changes[index] = probe.judged(replaced(timeline.changes[index]), moved: moved)
    }
    migration += 1
    touched = []
    created = []
    copies.endMigration()
    objects.endMigration()
  }

  /// The unique index that the migration created. Nil if the object is not a unique index, or if
  /// the index with its name before the migration was at least as strict.
  private func newUniqueIndex(
    _ made: CreatedObject, _ delta: SchemaDelta
  ) -> CreatedUniqueIndex? {
    guard let index = IndexShape(made.object), index.isUnique,
      let id = live[index.table.identifier], !tables[id].isShadow
    else { return nil }
    let renamed = timeline.change(of: index.table, in: migration)?.renamedColumns ?? [:]
    let before = delta.before[made.object.key].flatMap { IndexShape($0)?.renaming(renamed) }
    guard before?.isAtLeastAsStrict(as: index) != true else { return nil }
    return CreatedUniqueIndex(index: index, place: made.place, before: before)
  }

  /// Adds to a dropped table's change the new table that now has its name.
  private func replaced(_ change: TableChange) -> TableChange {
    guard let before = change.before, change.after == nil, let id = live[before.name.identifier]
    else { return change }
    // The new table is meant as a replacement if a statement renamed it to the name, or if it was
    // created before the old table was removed.
    var change = change
    let isRenamedInto = tables[id].names.count > 1
    // If another table now has the older table's former name, the older table is the copy that a rebuild left.
    if let former = tables[id].start?.name.identifier, live[former] != nil, former != before.key {
      return change
    }
    let existedBeforeRemoval = change.removal.map { tables[id].created.number < $0.number } ?? false
    if isRenamedInto || existedBeforeRemoval { change.replacement = tables[id].shaped }
    return change
  }

  /// The tables that a table replaces directly.
  private func predecessors(of id: Int) -> [Int] {
    copies.copies(into: id).keys.filter { tables[$0].successor == id }
  }

  /// The successive replacements of a table.
  private func replacements(of id: Int) -> [Int] {
    var replacements: [Int] = []
    var last = id
    while let next = tables[last].successor {
      replacements.append(next)
      last = next
    }
    return replacements
  }

  private func endRebuild(of id: Int, _ replacing: inout Set<Int>) {
    guard let successor = tables[id].successor, let start = tables[id].start,
      let displaced = tables[id].displacement(from: start.key),
      // The migration may rename the table and then rebuild it under its new name.
      tables[successor].names.contains(start.name.identifier) || tables[id].isDropped
    else { return }
    appendRebuild(of: id, from: start, displaced, &replacing)
  }

  private func appendRebuild(
    of id: Int, from start: TableShape, _ displaced: StatementPlace, _ replacing: inout Set<Int>
  ) {
    let replacements = replacements(of: id)
    let new = tables[replacements.last ?? id]
    replacing.insert(new.id)
    var change = TableChange(of: new, from: start, in: migration)
    if !new.isDropped {
      let chain = TableChain(
        tables: ([id] + replacements).map { tables[$0] }, name: start.name, displaced: displaced,
        migration: migration)
      change.lost = start.columns.compactMap { chain.lost($0.name) }
      change.isRebuilt = true
      change.former = tables[id].isDropped ? nil : tables[id].shape
      change.leftovers = Set(
        (touched + created).filter { tables[$0].isLeftover && !tables[$0].isDropped }
          .map { tables[$0].key })
      change.copies = copies.copies(into: new.id)[id]?.places ?? []
    }
    append(change)
  }

  /// Completes rebuilds whose old table an earlier migration dropped or renamed.
  private func endLateRebuilds(_ replacing: inout Set<Int>) {
    for entry in removed where isReplaced(entry) {
      timeline.changes[entry.change].isReplacedLater = true
      appendRebuild(of: entry.table, from: entry.start, entry.displaced, &replacing)
    }
    removed.removeAll { tables[$0.table].successor != nil }
  }

  /// Whether a copy has the name that the table had before it was removed.
  private func isReplaced(_ entry: Removed) -> Bool {
    tables[entry.table].successor.map { tables[$0].names.contains(entry.start.key) } ?? false
  }

  private func endChange(of id: Int) {
    let table = tables[id]
    guard let start = table.start else { return }
    var change = TableChange(of: table, from: start, in: migration)
    if !table.isDropped {
      let chain = TableChain(
        tables: [table], name: start.name, displaced: nil, migration: migration)
      change.lost = start.columns.compactMap { chain.lost($0.name) }
    }
    if change.isDropped || change.isRenamed, let displaced = table.displacement(from: start.key) {
      var known = start
      if let after = change.after {
        known = after
        known.name = start.name
      }
      removed.append(
        Removed(
          table: id, start: known, displaced: displaced, change: timeline.changes.count))
      append(change)
    } else if change.last.migration == migration {
      append(change)
    }
  }

  private func endCreation(of id: Int) {
    let table = tables[id]
    guard !table.isShadow, !table.isLeftover, !table.isDropped else { return }
    append(TableChange(of: table, from: nil, in: migration))
  }

  private func append(_ change: TableChange) {
    for case let text? in change.after?.columns.map(\.defaultText) ?? []
    where timeline.defaults[text] == nil {
      timeline.defaults[text] = probe.outcome(ofDefault: text)
    }
    timeline.changes.append(change)
  }
}

extension TableChange {
  fileprivate init(of table: TrackedTable, from before: TableShape?, in migration: Int) {
    self.init(
      migration: migration, before: before, after: table.isDropped ? nil : table.shape,
      columnPlaces: table.isDropped ? [:] : table.columnPlaces, shaped: table.shaped,
      removal: table.removal, created: table.isDropped ? [] : table.createdColumns)
  }
}
