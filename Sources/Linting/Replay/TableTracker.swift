import History
import ManifestFormat
import Migrating
import Planning
import SQLText
import SQLite
import SchemaModel

/// Follows every table through a replay and tells what each migration did to it.
///
/// The engine is the witness: which b-tree answers to which name, which tables a statement read and
/// wrote. SQL text is never searched. A table whose rows were copied from another one, and that has
/// taken that one's name, is its successor: the two together are a rebuild.
final class TableTracker {
  private(set) var timeline: Timeline
  private var tables: [TrackedTable] = []
  /// The statements that made the views and triggers.
  private var makers: [SchemaDelta.Key: StatementPlace] = [:]
  /// The tables of the schema, by folded name.
  private var live: [String: Int] = [:]
  /// The tables whose rows each temporary table holds, by folded name.
  private var temporary: [String: Set<Int>] = [:]
  /// The unique indexes that this migration made, by folded name.
  private var uniqueIndexes: [String: CreatedUniqueIndex] = [:]
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

  init(_ migrations: [Migration]) {
    timeline = Timeline(migrations: migrations)
  }

  // MARK: Statements

  func begin(_ index: Int) {
    migration = index
    uniqueIndexes = [:]
    touched = []
    created = []
  }

  private func touch(_ id: Int) {
    guard !tables[id].isDropped, tables[id].created.migration != migration,
      !touched.contains(id)
    else { return }
    touched.append(id)
    tables[id].beginMigration()
  }

  func note(_ statement: ReplayedStatement) {
    statements += 1
    let place = StatementPlace(
      migration: migration, operation: statement.operation, number: statements,
      position: statement.position)
    noteCalls(statement, at: place)
    let flow = RowFlow(statement)
    let sources = Set(flow.read.compactMap { live[$0] }).union(
      flow.temporaryRead.flatMap { temporary[$0] ?? [] })
    for table in flow.temporaryCreated { temporary[table] = [] }
    for table in flow.temporaryWritten { temporary[table, default: []].formUnion(sources) }
    let step = SchemaStep(from: statement.before, to: statement.after)
    for object in step.new where object.kind == .view || object.kind == .trigger {
      makers[object.key] = place
    }
    if !step.isEmpty { note(step, statement, sources, at: place) }
    for table in flow.written { copy(sources, into: live[table]) }
  }

  /// What of the schema that the history ends with does not compile.
  func note(_ broken: [BrokenObject]) {
    timeline.broken = broken.compactMap { object in
      makers[object.object.key].map { ($0, object) }
    }
  }

  private func noteCalls(_ statement: ReplayedStatement, at place: StatementPlace) {
    for event in statement.events {
      switch event.action {
      case .transaction:
        timeline.transactionControl.append((place, event.first ?? "BEGIN"))
      case .savepoint:
        let what = event.first == "BEGIN" ? "SAVEPOINT" : event.first ?? "SAVEPOINT"
        timeline.transactionControl.append((place, what))
      case .function:
        let name = event.second?.asciiLowercased ?? ""
        if name.hasPrefix("crsql_") { timeline.alterCalls.append((place, name)) }
      default: break
      }
    }
  }

  private func note(
    _ step: SchemaStep, _ statement: ReplayedStatement, _ sources: Set<Int>,
    at place: StatementPlace
  ) {
    let found = step.tables
    for table in found.dropped {
      guard let id = live.removeValue(forKey: table.name.asciiLowercased) else { continue }
      touch(id)
      tables[id].drop(at: place)
    }
    // All names first: two tables may exchange theirs.
    let ids = found.changed.map { live.removeValue(forKey: $0.old.name.asciiLowercased) }
    for case (let id?, let (_, new)) in zip(ids, found.changed) {
      live[new.name.asciiLowercased] = id
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
      live[table.name.asciiLowercased] = id
      created.append(id)
      // CREATE TABLE … AS SELECT.
      copy(sources, into: id)
    }
    for case let id? in ids { succeed(by: id) }
    for index in step.new where index.kind == .index { note(index, at: place) }
  }

  /// The folded name of the column that an operation moves.
  private func moved(_ operation: Int) -> String? {
    let operations = timeline.migrations[migration].manifest.operations
    guard operations.indices.contains(operation),
      case .moveColumn(let move) = operations[operation].kind
    else { return nil }
    return move.from.asciiLowercased
  }

  private func note(_ index: SchemaObject, at place: StatementPlace) {
    guard let sql = index.sql, case .createIndex(let parsed)? = try? parseCreate(TokenizedSQL(sql)),
      parsed.isUnique
    else { return }
    uniqueIndexes[index.name.asciiLowercased] = CreatedUniqueIndex(
      name: index.name, table: index.table, isPartial: parsed.condition != nil, place: place)
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

  func end(_ delta: SchemaDelta) {
    // The tables that took the place of another one.
    var replacing: Set<Int> = []
    let present = touched.filter { !tables[$0].isShadow && !tables[$0].startedAsLeftover }
    for id in present { endRebuild(of: id, &replacing) }
    endLateRebuilds(&replacing)
    for id in present where !tables[id].isLeftover && !replacing.contains(id) { endChange(of: id) }
    for id in created where !replacing.contains(id) { endCreation(of: id) }
    endIndexes(delta)
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
      let displaced = tables[id].left[start.name.asciiLowercased],
      tables[successor].names.contains(start.name.asciiLowercased)
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
    }
    if change.isDropped || change.isRenamed, let displaced = table.left[start.name.asciiLowercased]
    {
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
    timeline.changes.append(change)
  }

  /// What became of a column that is not there any more under its name; nil when it is.
  private func lostColumn(
    _ name: String, of id: Int, _ table: String, _ displaced: StatementPlace?, _ heirs: [Int]
  ) -> LostColumn? {
    let key = name.asciiLowercased
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
      let place = now.renames[key] ?? tables[id].renames[key] ?? now.shaped
      return LostColumn(name: name, fate: .renamed(to: renamed.name), place: place)
    }
    return LostColumn(
      name: name, fate: .dropped, place: placeOfLoss(key, id, table, displaced, heirs) ?? now.shaped
    )
  }

  /// The statement that took a column away, or the last table that had it.
  private func placeOfLoss(
    _ key: String, _ id: Int, _ table: String, _ displaced: StatementPlace?, _ heirs: [Int]
  ) -> StatementPlace? {
    var place = displaced
    if let loss = tables[id].losses[key] { return loss }
    for heir in heirs {
      if let loss = tables[heir].losses[key] { return loss }
      guard tables[heir].columns.contains(where: { $0.origin == key }) else { break }
      place = tables[heir].left[table.asciiLowercased]
    }
    return place
  }

  /// An index that says what it said before (a rebuild makes it again) is not new.
  private func endIndexes(_ delta: SchemaDelta) {
    for (key, index) in uniqueIndexes.sorted(by: { $0.value.place.number < $1.value.place.number })
    {
      guard let live = live[index.table.asciiLowercased], !tables[live].isShadow,
        let object = delta.after.first(where: { $0.key.kind == .index && $0.key.name == key })
      else { continue }
      let before = delta.before[object.key]
      guard !(before?.isUnique(like: object.value) ?? false) else { continue }
      timeline.indexes.append(index)
    }
  }
}

extension SchemaObject {
  /// Whether two indexes are unique over the same terms, be it on a table that was renamed.
  fileprivate func isUnique(like other: SchemaObject) -> Bool {
    func terms(_ object: SchemaObject) -> [[UInt8]]? {
      let tokens = TokenizedSQL(object.sql ?? "")
      guard case .createIndex(let index)? = try? parseCreate(tokens), index.isUnique else {
        return nil
      }
      let parts = index.terms.map(\.range) + [index.condition?.range].compactMap { $0 }
      return parts.flatMap { tokens.normalTokens(in: $0) + [[]] }
    }
    return terms(self).map { $0 == terms(other) } ?? false
  }
}

/// Between which tables a statement moves rows; names are folded.
private struct RowFlow {
  private(set) var read: Set<String> = []
  private(set) var written: Set<String> = []
  private(set) var temporaryRead: Set<String> = []
  private(set) var temporaryWritten: Set<String> = []
  private(set) var temporaryCreated: Set<String> = []

  init(_ statement: ReplayedStatement) {
    for event in statement.events {
      guard let name = event.first?.asciiLowercased, !name.hasPrefix("sqlite_") else { continue }
      let isTemporary = event.database == "temp"
      switch event.action {
      // What a trigger does is not the statement's own copying. A view or a subquery is named in
      // the same way as a trigger.
      case .read where !statement.isInTrigger(event):
        if isTemporary { temporaryRead.insert(name) } else { read.insert(name) }
      case .insert where event.trigger == nil:
        if isTemporary { temporaryWritten.insert(name) } else { written.insert(name) }
      case .createTemporaryTable:
        temporaryCreated.insert(name)
        temporaryWritten.insert(name)
      default: break
      }
    }
  }
}

extension ReplayedStatement {
  fileprivate func isInTrigger(_ event: AuthorizerEvent) -> Bool {
    guard let name = event.trigger else { return false }
    return before.object(.trigger, name) != nil
  }
}

extension AuthorizerAction {
  /// `SQLITE_CREATE_TEMP_TABLE`.
  fileprivate static let createTemporaryTable = AuthorizerAction(rawValue: 4)
}
