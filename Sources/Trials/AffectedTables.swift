import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The tables that a step reads or writes, and the tables whose stored rows it may change or
/// remove.
struct AffectedTables {
  private(set) var all: Set<Identifier> = []
  private(set) var changed: Set<Identifier> = []
  /// Whether the step writes rows or renames something, so that other places may contain a value
  /// afterwards.
  private(set) var mayCopy = false
  /// The tables whose rows may refer to rows that the step deletes, or whose keys it changes.
  private(set) var children: Set<Identifier> = []
  /// The statements that delete rows with children, or may change their keys.
  private(set) var removals: [Removal] = []

  struct Removal {
    /// The statement's number.
    let number: Int
    let table: Identifier
    let kind: RowFailure.RemovedParents
  }

  /// - Parameters:
  ///   - schema: the schema before the step.
  ///   - graph: its foreign keys.
  init(
    _ timeline: Timeline, _ migration: Int, before schema: Schema,
    _ graph: @autoclosure () -> ForeignKeyGraph
  ) {
    let old = schema.withoutShadowTables()
    func isOld(_ name: Identifier) -> Bool {
      old.table(name).map { !$0.isVirtualTable && !$0.isInternal } ?? false
    }
    var altered: Set<Identifier> = []
    var deleted: Set<Identifier> = []
    var dropsColumns = false
    var writers: [StatementEffect] = []
    for statement in timeline.statements(in: migration) {
      all.formUnion(statement.events.mainTables)
      if timeline.convertsKey(statement.place) { continue }
      // A replaced row loses the values that the statement does not name.
      let sql = TokenizedSQL(statement.sql)
      let replaces = sql.mentions("replace")
      mayCopy = mayCopy || statement.storesRows || sql.mentions("rename")
      // A trigger replaces rows that it computes, such as those of a search index.
      let computed = Set(
        statement.events.filter { $0.action == .insert && $0.trigger != nil }
          .compactMap(\.mainTable))
      for event in statement.events {
        switch event.action {
        case .delete where event.trigger != nil && event.mainTable.map(computed.contains) ?? false:
          continue
        case .insert where replaces && event.trigger == nil:
          if let name = event.mainTable { changed.insert(name) }
        case .update, .delete, .dropTable:
          guard let name = event.mainTable else { continue }
          changed.insert(name)
          if event.action != .update { deleted.insert(name) }
        case .alterTable:
          if let name = event.second { altered.insert(name.identifier) }
          // For DROP COLUMN, this field contains the name of the column.
          if event.database != nil { dropsColumns = true }
        default: break
        }
      }
      // A rebuild drops a table whose rows have a copy.
      if !statement.events.contains(where: { $0.action == .dropTable }) {
        writers.append(statement)
      }
      // SQLite does not report every table that an INSERT reads.
      if statement.inserts { all.formUnion(sql.possibleNames) }
    }
    // The statement may use a new name of the table. `altered` contains the old one.
    if dropsColumns || !changed.allSatisfy(isOld) { changed.formUnion(altered) }
    changed = changed.filter(isOld)
    // An edit of `sqlite_schema` causes no event for the table.
    for change in timeline.changes(in: migration) where change.before != nil {
      all.formUnion([change.before, change.after].compactMap { $0?.key })
      all.formUnion((change.after?.foreignKeys ?? []).map(\.parent.identifier))
    }
    all = all.filter(isOld)
    all.formUnion(changed)
    let parents = Set(
      writers.flatMap(\.events).filter { [.delete, .update].contains($0.action) }
        .compactMap(\.mainTable))
    guard !deleted.isEmpty || !parents.isEmpty else { return }
    let graph = graph()
    let keys = graph.affected(by: parents).compactMap { old.table($0).flatMap(TableShape.init) }
      .flatMap(\.foreignKeys).filter { parents.contains($0.parent.identifier) }
    for statement in writers { noteRemovals(by: statement, keys, in: old) }
    for change in timeline.changes(in: migration) where change.isRebuilt {
      guard let table = change.before?.key, graph.refers(to: table) else { continue }
      removals += change.copies.map { Removal(number: $0.number, table: table, kind: .rebuilt) }
    }
    deleted.formUnion(removals.map(\.table))
    children = Set(graph.affected(by: deleted).map(\.identifier)).filter(isOld)
  }

  /// - Parameter keys: the foreign keys to the tables from which the step removes rows.
  private mutating func noteRemovals(
    by statement: StatementEffect, _ keys: [TableShape.ForeignKey], in schema: Schema
  ) {
    let events = statement.events
    for key in keys {
      let parent = key.parent.identifier
      let columns =
        key.parentColumns.isEmpty
        ? schema.table(parent).flatMap(TableShape.init)?.primaryKey?.columns ?? []
        : key.parentColumns
      let removal = events.first { event in
        event.mainTable == parent
          && (event.action == .delete
            || event.action == .update && columns.contains(event.second?.identifier ?? ""))
      }
      guard let removal else { continue }
      let action = removal.action == .delete ? key.onDelete : key.onUpdate
      removals.append(
        Removal(
          number: statement.place.number, table: parent,
          kind: [.cascade, .setNull, .setDefault].contains(action) ? .withAction : .withoutAction))
    }
  }

  mutating func formUnion(_ other: AffectedTables) {
    all.formUnion(other.all)
    changed.formUnion(other.changed)
  }
}

extension StatementEffect {
  /// Whether it inserts or changes rows, also in a temporary table or by CREATE TABLE AS.
  fileprivate var storesRows: Bool {
    if events.contains(where: { [.insert, .update].contains($0.action) && $0.isOfTable }) {
      return true
    }
    guard
      let created = events.first(where: {
        [.createTable, .createTemporaryTable].contains($0.action)
      })
    else { return false }
    // The new table's own columns do not count: its CHECKs read them.
    return events.contains { $0.action == .read && $0.isOfTable && $0.first != created.first }
  }

  fileprivate var inserts: Bool { events.contains { $0.action == .insert && $0.isOfTable } }
}

extension AuthorizerEvent {
  /// Whether it concerns a table that SQLite does not maintain itself.
  fileprivate var isOfTable: Bool { first.map { !$0.identifier.isInternal } ?? false }

  /// The table of the database that it reads, writes or drops. Nil for a table that SQLite
  /// maintains, such as `sqlite_schema`, which every change of the schema updates.
  fileprivate var mainTable: Identifier? {
    guard database == "main", let name = first?.identifier else { return nil }
    return name.isInternal ? nil : name
  }
}

extension [AuthorizerEvent] {
  /// The tables of the schema that a statement reads, writes or changes.
  var mainTables: Set<Identifier> {
    Set(
      lazy.compactMap { event -> Identifier? in
        switch event.action {
        case .read, .insert, .update, .delete, .dropTable: return event.mainTable
        case .alterTable: return event.first == "main" ? event.second?.identifier : nil
        case .createIndex: return event.database == "main" ? event.second?.identifier : nil
        default: return nil
        }
      }.filter { !$0.isInternal })
  }
}
