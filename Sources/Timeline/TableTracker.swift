import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Follows every table through a replay and tells what each migration did to it.
///
/// The engine is the witness: which b-tree answers to which name, which tables a statement read and
/// wrote. SQL text is never searched. A table whose rows were copied from another one, and that has
/// taken that one's name, is its successor: the two together are a rebuild.
package final class TableTracker {
  package private(set) var timeline: Timeline
  private var tables: [TrackedTable] = []
  private var objects = ObjectTracker()
  private let probe: Probe
  /// What kept SQLite from answering a question, so that the timeline is not to be believed.
  package var fault: DatabaseError? { probe.fault }
  /// How the rows came into each table of the schema, and into the temporary ones of this migration.
  private var copies: [RowCopy.Source: [RowCopy]] = [:]
  /// The statements that made what is temporary, by folded name.
  private var temporaryMakers: [Identifier: StatementPlace] = [:]
  /// The tables of the schema, by folded name.
  private var live: [Identifier: Int] = [:]
  /// The tables whose rows each temporary table holds, by folded name.
  private var temporary: [Identifier: Set<Int>] = [:]
  /// The unique indexes that this migration made, by folded name.
  private var uniqueIndexes: [Identifier: CreatedUniqueIndex] = [:]
  private var removed: [Removed] = []
  private var migration = 0
  /// The tables that this migration found and changed, and those that it made.
  private var touched: [Int] = []
  private var created: [Int] = []
  private var statements = 0

  /// A table that a migration dropped or renamed, and that no other one has succeeded.
  private struct Removed {
    let table: Int
    /// As others knew it, with the columns whose loss has not been told yet.
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

  package func begin(_ index: Int) {
    migration = index
    uniqueIndexes = [:]
    touched = []
    created = []
    temporaryMakers = [:]
    copies = copies.filter { if case .table = $0.key { true } else { false } }
    objects.begin()
  }

  private func touch(_ id: Int) {
    guard !tables[id].isDropped, tables[id].created.migration != migration,
      !touched.contains(id)
    else { return }
    touched.append(id)
    tables[id].beginMigration()
  }

  /// - Parameter before: the schema before it.
  package func note(_ statement: ReplayedStatement, on before: Schema) {
    statements += 1
    let place = StatementPlace(
      migration: migration, operation: statement.operation, number: statements,
      position: statement.position)
    noteCalls(statement, at: place)
    noteMove(at: place)
    let flow = RowFlow(statement, before)
    let copy = copy(flow, statement, at: place)
    let target = target(of: statement)
    let sources = Set(flow.read.compactMap { live[$0] }).union(
      flow.temporaryRead.flatMap { temporary[$0] ?? [] })
    for table in flow.temporaryCreated { temporary[table] = [] }
    for table in flow.temporaryWritten { temporary[table, default: []].formUnion(sources) }
    let step = SchemaStep(statement.change)
    if !step.isEmpty { note(step, statement, sources, copy, at: place) }
    noteEffect(statement, target, step, at: place)
    if let copy {
      for table in flow.written.compactMap({ live[$0] }) {
        copies[.table(table), default: []].append(copy)
      }
      for table in flow.temporaryWritten { copies[.temporary(table), default: []].append(copy) }
    }
    for table in flow.written { self.copy(sources, into: live[table]) }
  }

  /// How the statement carries rows of one table into another one; nil when it does not.
  private func copy(
    _ flow: RowFlow, _ statement: ReplayedStatement, at place: StatementPlace
  ) -> RowCopy? {
    let isCopy =
      !flow.written.isEmpty || !flow.temporaryWritten.isEmpty
      || statement.change.after.count > statement.change.before.count
    let tables = flow.read.compactMap { live[$0] }
    guard isCopy, !tables.isEmpty || !flow.temporaryRead.isEmpty else { return nil }
    let isSingle = tables.count == 1 && flow.temporaryRead.isEmpty
    return RowCopy(
      place: place,
      from: tables.map(RowCopy.Source.table)
        + flow.temporaryRead.map(RowCopy.Source.temporary),
      source: isSingle ? self.tables[tables[0]].shape : nil,
      read: isSingle ? flow.columns[self.tables[tables[0]].key] ?? [] : [])
  }

  // MARK: Rows

  private func target(of statement: ReplayedStatement) -> StatementEffect.WrittenTable? {
    let writes = statement.events.filter(\.writesRows)
    guard let name = writes.first?.first?.identifier, let id = live[name] else { return nil }
    let own = writes.filter { $0.first?.identifier == name }
    return StatementEffect.WrittenTable(
      name: tables[id].name, isOld: tables[id].created.migration != migration,
      inserts: own.contains { $0.action == .insert },
      updates: Set(own.lazy.filter { $0.action == .update }.compactMap(\.second?.identifier)),
      deletes: own.contains { $0.action == .delete }, table: id)
  }

  private func noteEffect(
    _ statement: ReplayedStatement, _ target: StatementEffect.WrittenTable?, _ step: SchemaStep,
    at place: StatementPlace
  ) {
    let dropped = Set(
      step.old.lazy.filter { $0.kind == .table }.map { $0.name.identifier }
    ).subtracting(step.new.lazy.filter { $0.kind == .table }.map { $0.name.identifier })
    let isDrop = target.map { dropped.contains($0.name.identifier) } ?? false
    // Which may be a view.
    let written = statement.events.first(where: \.writesRows)?.first?.identifier
    var reached: [String] = []
    if statement.enforcesForeignKeys, let written {
      let others = Set(
        statement.events.lazy.filter { $0.writesRows && $0.action != .insert }
          .compactMap(\.first?.identifier)
      ).subtracting([written]).subtracting(dropped)
      reached = others.compactMap { name in live[name].map { tables[$0].name } }.sorted()
    }
    for event in statement.events {
      guard let name = event.first, event.isTemporaryCreation else { continue }
      temporaryMakers[name.identifier] = place
    }
    timeline.statements.append(
      StatementEffect(
        place: place, sql: statement.sql, events: statement.events,
        warnings: statement.warnings, written: written,
        target: isDrop && reached.isEmpty ? nil : target,
        reached: reached))
  }

  /// - Parameter objects: what is temporary, and still there after the migration.
  package func note(leftBehind objects: [TemporaryObject]) {
    timeline.leftBehind += objects.compactMap { object in
      temporaryMakers[object.name.identifier].map { ($0, object) }
    }
  }

  /// The schema that the history ends with.
  ///
  /// - Parameters:
  ///   - broken: its views and triggers that do not compile.
  ///   - doubleQuoted: those that would not, if a name in double quotes were never a string.
  package func finish(_ schema: Schema, broken: [BrokenObject], doubleQuoted: [BrokenObject]) {
    func placed(_ objects: [BrokenObject]) -> [(StatementPlace, BrokenObject)] {
      objects.compactMap { object in
        self.objects.makers[object.object.key].map { ($0.place, object) }
      }
    }
    var last = LastSchema()
    last.broken = placed(broken)
    last.doubleQuoted = placed(doubleQuoted)
    for object in schema.objects {
      if object.kind == .table {
        last.tableNames.insert(object.name.identifier)
        guard let id = live[object.name.identifier], !tables[id].isShadow else { continue }
        let table = tables[id]
        last.tables.append(
          LastSchema.Table(
            shape: table.shape, created: table.created, shaped: table.shaped,
            columnPlaces: table.columnPlaces))
      } else if let maker = objects.makers[object.key] {
        last.objects.append((maker.place, object))
      }
    }
    last.missing = last.tables.flatMap { table in
      table.shape.columns.compactMap { column in
        guard let name = column.defaultText.flatMap(probe.missingName) else { return nil }
        return (table, column.name, name)
      }
    }
    for index in timeline.statements.indices where timeline.statements[index].target != nil {
      guard let table = timeline.statements[index].target?.table else { continue }
      timeline.statements[index].target?.isCopy = isHeir(table)
    }
    timeline.end = last
  }

  /// Whether the table has taken the place of another one.
  private func isHeir(_ id: Int) -> Bool {
    tables[id].ancestors.contains { tables[$0].successor == id }
  }

  private func noteCalls(_ statement: ReplayedStatement, at place: StatementPlace) {
    for event in statement.events {
      guard event.action == .function, let name = event.second?.identifier else { continue }
      if name.hasPrefix("crsql_") { timeline.alterCalls.append((place, name.text)) }
    }
  }

  private func note(
    _ step: SchemaStep, _ statement: ReplayedStatement, _ sources: Set<Int>, _ copy: RowCopy?,
    at place: StatementPlace
  ) {
    let found = step.tables
    objects.note(step, droppedTables: found.dropped, at: place)
    for table in found.dropped {
      guard let id = live.removeValue(forKey: table.name.identifier) else { continue }
      touch(id)
      tables[id].drop(at: place)
    }
    // All names first: two tables may exchange theirs.
    let ids = found.changed.map { live.removeValue(forKey: $0.old.name.identifier) }
    for case (let id?, let (_, new)) in zip(ids, found.changed) {
      live[new.name.identifier] = id
      guard let shape = TableShape(new) else { continue }
      touch(id)
      tables[id].become(shape, moved: moved(statement.operation), at: place)
    }
    let hasVirtual = found.created.contains { $0.rootPage == 0 }
    for table in found.created {
      guard let shape = TableShape(table) else { continue }
      let id = tables.count
      tables.append(
        TrackedTable(
          id: id, shape: shape, isShadow: hasVirtual && !shape.isVirtual, at: place))
      live[table.name.identifier] = id
      created.append(id)
      // CREATE TABLE … AS SELECT.
      if let copy { copies[.table(id)] = [copy] }
      self.copy(sources, into: id)
    }
    for case let id? in ids { succeed(by: id) }
    // ALTER TABLE makes no index; it writes those anew whose table or column it renames.
    let isAltering = statement.events.contains { $0.action == .alterTable }
    for index in step.new where index.kind == .index {
      if isAltering, uniqueIndexes[index.name.identifier] == nil { continue }
      note(index, at: place)
    }
  }

  /// Must be told before the first statement of the operation changes the table.
  private func noteMove(at place: StatementPlace) {
    guard case .moveColumn(let move)? = timeline.operation(place)?.kind,
      timeline.moves.last.map({
        $0.place.migration != place.migration || $0.place.operation != place.operation
      }) ?? true,
      let id = live[move.table.identifier]
    else { return }
    timeline.moves.append((place, move, tables[id].shape))
  }

  /// The column that an operation moves.
  private func moved(_ operation: Int) -> Identifier? {
    let operations = timeline.migrations[migration].manifest.operations
    guard operations.indices.contains(operation),
      case .moveColumn(let move) = operations[operation].kind
    else { return nil }
    return move.from.identifier
  }

  private func note(_ index: SchemaObject, at place: StatementPlace) {
    guard let sql = index.sql, case .createIndex(let parsed)? = try? parseCreate(TokenizedSQL(sql)),
      parsed.isUnique
    else { return }
    uniqueIndexes[index.name.identifier] = CreatedUniqueIndex(
      name: index.name, table: index.table, isPartial: parsed.condition != nil,
      columns: parsed.terms.map { $0.column?.text.identifier }, place: place)
  }

  // MARK: Copies

  private func copy(_ sources: Set<Int>, into id: Int?) {
    guard let id, !sources.isEmpty else { return }
    let indirect = sources.reduce(into: Set<Int>()) { $0.formUnion(tables[$1].ancestors) }
    tables[id].copyRows(from: sources, indirect)
    succeed(by: id)
  }

  /// Looks whether a table has taken the place of one that it was copied from.
  private func succeed(by id: Int) {
    let heir = tables[id]
    for old in heir.ancestors.sorted() {
      let table = tables[old]
      guard table.successor == nil, !table.isShadow, table.names.contains(heir.key),
        table.isDropped || table.key != heir.key
      else { continue }
      touch(id)
      touch(old)
      tables[old].successor = id
      tables[old].isLeftover = true
      tables[id].inheritColumns(of: table)
      // What the rows went through on their way is left over, too.
      guard !heir.sources.contains(old) else { continue }
      for between in heir.ancestors where tables[between].ancestors.contains(old) {
        touch(between)
        tables[between].isLeftover = true
      }
    }
  }

  // MARK: The end of a migration

  /// - Parameter after: the schema after the migration.
  package func end(_ delta: SchemaDelta, _ after: Schema) {
    let first = timeline.changes.count
    // The tables that took the place of another one.
    var replacing: Set<Int> = []
    let present = touched.filter { !tables[$0].isShadow && !tables[$0].startedAsLeftover }
    for id in present { endRebuild(of: id, &replacing) }
    endLateRebuilds(&replacing)
    for id in present where !tables[id].isLeftover && !replacing.contains(id) { endChange(of: id) }
    for id in created where !replacing.contains(id) { endCreation(of: id) }
    endIndexes(delta)
    timeline.gone += objects.gone(delta, after)
    timeline.made += objects.made(delta)
    for index in first..<timeline.changes.count {
      timeline.changes[index] = looked(at: timeline.changes[index])
    }
  }

  /// A change with what only SQLite can tell of it.
  private func looked(at change: TableChange) -> TableChange {
    guard let before = change.before else { return change }
    var change = change
    guard let after = change.after else {
      // Another table that had to be renamed for it, or that had to make room, was to replace it.
      guard let id = live[before.name.identifier] else { return change }
      let isRenamedInto = tables[id].names.count > 1
      let madeRoom = change.removal.map { tables[id].created.number < $0.number } ?? false
      if isRenamedInto || madeRoom { change.replacement = tables[id].shaped }
      return change
    }
    let renamed = Set(change.renamedColumns.values)
    for column in after.columns
    where before.column(column.name) == nil && !renamed.contains(column.key) {
      guard !change.isRebuilt else { break }
      change.addedInPlace.insert(column.key)
      if let value = column.defaultText, !probe.isConstant(value) {
        change.nonConstantDefaults.insert(column.key)
      }
    }
    let known = before.checks.map { $0.renaming(change.renamedColumns) }
    let removed = known.filter { !after.checks.contains($0) }
    let settled = settledColumns(change, after)
    let neverNull = Set(
      change.keptColumns.lazy.filter { $0.old.notNull != nil || before.rowidAlias == $0.old.key }
        .map(\.new.key))
    change.newChecks = after.checks.filter { !known.contains($0) }.compactMap { check in
      let replacesOther = removed.contains { !$0.columns.isDisjoint(with: check.columns) }
      let isBounded =
        replacesOther
        || check.columns.isSubset(of: known.reduce(into: Set()) { $0.formUnion($1.columns) })
      switch probe.refused(
        by: check, of: after, after: known, settled: settled, neverNull: neverNull)
      {
      case .values(let values): return NewCheck(check: check, refused: values)
      case .never: return nil
      case .nothing where isBounded: return nil
      case .nothing, .unknown: return NewCheck(check: check, refused: nil)
      }
    }
    return change
  }

  /// What the new columns hold in every row that was there before, as SQL.
  private func settledColumns(_ change: TableChange, _ after: TableShape) -> [Identifier: String] {
    let kept = Set(change.keptColumns.map(\.new.key))
    let moved = timeline.moves.lazy.filter { $0.place.migration == self.migration }
      .map { $0.move.to.name.identifier }
    let new = after.columns.filter { column in
      !kept.contains(column.key) && !column.isGenerated && !moved.contains(column.key)
        && change.addedInPlace.contains(column.key)
    }
    return Dictionary(
      new.map { ($0.key, $0.defaultText ?? "NULL") }, uniquingKeysWith: { first, _ in first })
  }

  /// The statements that carried rows of one table into another one, over any number of others.
  private func copies(from old: Int, to new: Int) -> [RowCopy] {
    var found: [RowCopy] = []
    var seen: Set<RowCopy.Source> = []
    var open: [RowCopy.Source] = [.table(new)]
    while let next = open.popLast() {
      guard next != .table(old), seen.insert(next).inserted else { continue }
      for copy in copies[next] ?? [] where copy.from.contains(where: { comes($0, from: old) }) {
        found.append(copy)
        open += copy.from
      }
    }
    return found
  }

  private func comes(_ source: RowCopy.Source, from old: Int) -> Bool {
    switch source {
    case .table(let id): id == old || tables[id].ancestors.contains(old)
    case .temporary(let name): temporary[name]?.contains(old) ?? false
    }
  }

  /// The tables that took the place of one after another.
  private func heirs(of id: Int) -> [Int] {
    var heirs: [Int] = []
    var last = id
    while let next = tables[last].successor {
      heirs.append(next)
      last = next
    }
    return heirs
  }

  private func endRebuild(of id: Int, _ replacing: inout Set<Int>) {
    guard let successor = tables[id].successor, let start = tables[id].start,
      let displaced = tables[id].left[start.name.identifier],
      tables[successor].names.contains(start.name.identifier)
    else { return }
    appendRebuild(of: id, from: start, displaced, &replacing)
  }

  private func appendRebuild(
    of id: Int, from start: TableShape, _ displaced: StatementPlace, _ replacing: inout Set<Int>
  ) {
    let heirs = heirs(of: id)
    let new = tables[heirs.last ?? id]
    replacing.insert(new.id)
    guard !new.isDropped else {
      append(
        TableChange(
          migration: migration, before: start, after: nil, shaped: new.shaped,
          removal: new.removal))
      return
    }
    var change = TableChange(
      migration: migration, before: start, after: new.shape,
      staged: touched.contains(new.id) ? new.start : nil,
      shaped: new.shaped, removal: new.removal)
    change.lost = start.columns.compactMap { column in
      lostColumn(column.name, of: id, start.name, displaced, heirs)
    }
    change.columnPlaces = new.columnPlaces
    change.created = new.createdColumns
    change.isRebuilt = true
    change.copies = copies(from: id, to: new.id)
    append(change)
  }

  /// What an earlier migration dropped or renamed may have its successor only now.
  private func endLateRebuilds(_ replacing: inout Set<Int>) {
    for gone in removed {
      guard tables[gone.table].successor != nil else { continue }
      timeline.changes[gone.change].isSucceeded = true
      appendRebuild(of: gone.table, from: gone.start, gone.displaced, &replacing)
    }
    removed.removeAll { tables[$0.table].successor != nil }
  }

  private func endChange(of id: Int) {
    let table = tables[id]
    guard let start = table.start else { return }
    var change = TableChange(
      migration: migration, before: start, after: table.isDropped ? nil : table.shape,
      shaped: table.shaped, removal: table.removal)
    if !table.isDropped {
      change.lost = start.columns.compactMap { lostColumn($0.name, of: id, start.name, nil, []) }
      change.columnPlaces = table.columnPlaces
      change.created = table.createdColumns
    }
    if change.isDropped || change.isRenamed, let displaced = table.left[start.name.identifier] {
      var known = start
      if let after = change.after {
        known = after
        known.name = start.name
      }
      removed.append(
        Removed(
          table: id, start: known, displaced: displaced, change: timeline.changes.count))
      append(change)
    } else if table.shaped.migration == migration {
      append(change)
    }
  }

  private func endCreation(of id: Int) {
    let table = tables[id]
    guard !table.isShadow, !table.isLeftover, !table.isDropped else { return }
    var change = TableChange(
      migration: migration, before: nil, after: table.shape, shaped: table.shaped)
    change.columnPlaces = table.columnPlaces
    append(change)
  }

  private func append(_ change: TableChange) {
    for case let text? in change.after?.columns.map(\.defaultText) ?? []
    where timeline.defaults[text] == nil {
      timeline.defaults[text] = probe.outcome(ofDefault: text)
    }
    timeline.changes.append(change)
  }

  /// What became of a column that is not there any more under its name; nil when it is.
  private func lostColumn(
    _ name: String, of id: Int, _ table: String, _ displaced: StatementPlace?, _ heirs: [Int]
  ) -> LostColumn? {
    let key = name.identifier
    let now = tables[heirs.last ?? id]
    if let same = now.columns.first(where: { $0.key == key }) {
      // Another old column may have taken the name, or one that is younger than the loss, and so
      // cannot have the values.
      let isNew =
        same.origin == nil
        && (tables[id].losses[key].map { $0.number < same.created.number } ?? false)
      guard heirs.isEmpty, isNew || (same.origin.map { $0 != key } ?? false) else { return nil }
    }
    if let renamed = now.columns.first(where: { $0.origin == key }) {
      let renames = [now.renames[key], tables[id].renames[key], displaced].compactMap { $0 }
      let place = renames.first { $0.migration == migration } ?? now.shaped
      return LostColumn(name: name, fate: .renamed(to: renamed.name), place: place)
    }
    return LostColumn(
      name: name, fate: .dropped, place: placeOfLoss(key, id, table, displaced, heirs) ?? now.shaped
    )
  }

  /// The statement that took a column away, or the last table that had it.
  private func placeOfLoss(
    _ key: Identifier, _ id: Int, _ table: String, _ displaced: StatementPlace?, _ heirs: [Int]
  ) -> StatementPlace? {
    var place = displaced
    if let loss = tables[id].losses[key] { return loss }
    for heir in heirs {
      if let loss = tables[heir].losses[key] { return loss }
      guard tables[heir].columns.contains(where: { $0.origin == key }) else { break }
      place = tables[heir].left[table.identifier]
    }
    return place
  }

  /// An index that says what it said before (a rebuild makes it again) is not new.
  private func endIndexes(_ delta: SchemaDelta) {
    for (key, var index) in uniqueIndexes.sorted(by: {
      $0.value.place.number < $1.value.place.number
    }) {
      let renamed = timeline.change(of: index.table, in: migration)?.renamedColumns ?? [:]
      guard let live = live[index.table.identifier], !tables[live].isShadow,
        let object = delta.after.first(where: { $0.key.kind == .index && $0.key.name == key })
      else { continue }
      index.before = delta.before[object.key].flatMap { IndexShape($0)?.renaming(renamed) }
      index.after = IndexShape(object.value)
      if let after = index.after, index.before?.isAsUnique(as: after) ?? false { continue }
      timeline.indexes.append(index)
    }
  }
}

extension AuthorizerAction {
  /// `SQLITE_CREATE_TEMP_TABLE`.
  package static let createTemporaryTable = AuthorizerAction(rawValue: 4)
  /// `SQLITE_CREATE_TEMP_TRIGGER` and `SQLITE_CREATE_TEMP_VIEW`.
  fileprivate static let createTemporaryTrigger = AuthorizerAction(rawValue: 5)
  fileprivate static let createTemporaryView = AuthorizerAction(rawValue: 6)
}

extension AuthorizerEvent {
  /// Whether the statement itself, or a foreign key for it, writes rows of a table that is not
  /// temporary.
  fileprivate var writesRows: Bool {
    [.insert, .update, .delete].contains(action) && trigger == nil && database != "temp"
      && first.map { !$0.identifier.isInternal } ?? false
  }

  fileprivate var isTemporaryCreation: Bool {
    [.createTemporaryTable, .createTemporaryTrigger, .createTemporaryView].contains(action)
  }
}
