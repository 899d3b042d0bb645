import SchemaModel
import SchemaSQLText

/// The tables before and after a statement. A table after the statement is the same table if it has
/// the same b-tree or, failing that, the same name.
struct TableStep {
  private(set) var dropped: [SchemaObject] = []
  private(set) var created: [SchemaObject]
  /// Tables that exist before and after.
  private(set) var changed: [(old: SchemaObject, new: SchemaObject)] = []

  init(_ change: SchemaDelta) {
    created = change.ordered.filter { $0.kind == .table }
    let old = change.before.values.filter { $0.kind == .table }
      .sorted { ($0.rootPage, $0.key.name) < ($1.rootPage, $1.key.name) }
    for table in old {
      let same =
        created.firstIndex { table.rootPage != 0 && $0.rootPage == table.rootPage }
        ?? created.firstIndex { $0.key == table.key }
      if let same {
        changed.append((table, created.remove(at: same)))
      } else {
        dropped.append(table)
      }
    }
    // Virtual tables have no b-tree of their own. If a statement removes one and adds another, it
    // renamed the table: no other statement does both.
    guard let old = dropped.firstIndex(where: { $0.rootPage == 0 }),
      let new = created.firstIndex(where: { $0.rootPage == 0 })
    else { return }
    changed.append((dropped.remove(at: old), created.remove(at: new)))
  }
}
