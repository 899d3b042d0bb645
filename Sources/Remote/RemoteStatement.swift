import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A statement that changes the schema or rows.
struct RemoteStatement {
  let sql: String
  let position: Position
  /// The form of the statement for a large table; nil if it cannot be divided.
  let ranged: RangedStatement?
  /// The tables in which the statement may read or write many rows, by their names when it runs.
  let tables: [Identifier]
  /// The tables whose rows the statement may change or remove, directly or through triggers.
  let written: Set<Identifier>
  /// The maximum number of indexes that the statement changes.
  let indexes: Int64
  /// The table, if the statement changes or deletes all its rows.
  let whole: Identifier?
  let kind: Kind
  let renamings: [(from: Identifier, to: Identifier)]

  enum Kind {
    /// UPDATE or DELETE.
    case change
    /// INSERT or CREATE TABLE AS.
    case insertion(into: Identifier)
    case creation(of: Identifier)
    case dropping(Identifier)
    /// DROP COLUMN.
    case rewriting
    case other
  }

  /// - Parameter ranged: nil if the statement cannot be divided.
  init(
    _ statement: ReplayedStatement, _ compiled: CompiledStatement, _ ranged: RangedStatement?
  ) {
    let events = statement.events
    let tokens = TokenizedSQL(statement.sql)
    let writing = WritingStatement(tokens)
    func named(_ action: AuthorizerAction) -> Identifier? {
      events.first { $0.action == action && $0.trigger == nil }?.first?.identifier
    }
    sql = statement.sql
    position = statement.position
    self.ranged = ranged
    indexes = compiled.indexes
    renamings = TableRenames.renamings(by: statement.sql, events)
    let used = compiled.tables(of: [.read, .update, .delete, .analyze])
    if let altered = events.first(where: { $0.action == .alterTable })?.second?.identifier {
      let dropsColumn = tokens.mentions("drop")
      // DROP COLUMN writes every row. A new CHECK or generated column is tested against every row. Other
      // forms of ALTER TABLE change only the schema.
      let readsRows = dropsColumn || ["check", "generated", "as"].contains(where: tokens.mentions)
      kind = dropsColumn ? .rewriting : .other
      tables = readsRows ? [altered] : []
      written = dropsColumn ? [altered] : []
      whole = dropsColumn ? altered : nil
    } else if let dropped = named(.dropTable) {
      kind = .dropping(dropped)
      tables = [dropped]
      (written, whole) = ([], dropped)
    } else if let created = named(.createTable) {
      let isFilled = tokens.mentions("select")
      kind = isFilled ? .insertion(into: created) : .creation(of: created)
      tables = isFilled ? used.sorted() : []
      (written, whole) = ([], nil)
    } else if events.contains(where: { [.dropIndex, .dropVirtualTable].contains($0.action) }) {
      kind = .other
      (tables, written, whole) = ([], [], nil)
    } else {
      let indexed = events.filter { $0.action == .createIndex }.compactMap { $0.second?.identifier }
      tables = used.union(indexed).sorted()
      let target = writing?.table.name.text.identifier
      var written = compiled.tables(of: [.update, .delete])
      switch writing?.kind {
      case .insert:
        kind = target.map { .insertion(into: $0) } ?? .other
        // REPLACE, or a key with this conflict clause.
        if let target, written.isEmpty, compiled.removesRows { written = [target] }
        whole = nil
      case .update, .delete:
        kind = .change
        let isOfAllRows = writing?.condition == nil && writing?.otherClauses.isEmpty == true
        whole = isOfAllRows ? target : nil
      case nil:
        kind = .other
        whole = nil
      }
      self.written = written
    }
  }

  /// Whether the statement writes rows that SQLite does not count as changed.
  var rewritesRows: Bool {
    if case .rewriting = kind { true } else { false }
  }
}
