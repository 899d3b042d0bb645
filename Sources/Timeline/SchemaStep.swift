import SchemaModel
import SchemaSQLText

/// The objects of a schema that one statement removed, changed or created.
struct SchemaStep {
  /// The removed objects, and the changed ones with their old text.
  let old: [SchemaObject]
  /// The created objects, and the changed ones with their new text.
  let new: [SchemaObject]

  var isEmpty: Bool { old.isEmpty && new.isEmpty }

  init(_ change: SchemaDelta) {
    old = change.before.values.sorted { ($0.rootPage, $0.key.name) < ($1.rootPage, $1.key.name) }
    new = change.ordered
  }

  struct Tables {
    var dropped: [SchemaObject] = []
    var created: [SchemaObject] = []
    /// Tables that exist before and after.
    var changed: [(old: SchemaObject, new: SchemaObject)] = []
  }

  /// The tables before and after the statement. A table is the same as long as its rows remain in
  /// the same b-tree, whatever its name.
  var tables: Tables {
    var tables = Tables()
    tables.created = new.filter(\.isOurTable)
    for table in old where table.isOurTable {
      let key = table.name.identifier
      let same =
        tables.created.firstIndex { table.rootPage != 0 && $0.rootPage == table.rootPage }
        ?? tables.created.firstIndex { $0.name.identifier == key }
      if let same {
        tables.changed.append((table, tables.created.remove(at: same)))
      } else {
        tables.dropped.append(table)
      }
    }
    matchVirtual(&tables)
    return tables
  }

  /// Matches virtual tables, which have no b-tree of their own. If a statement removes one and adds
  /// another, it renamed the table: no other statement does both.
  private func matchVirtual(_ tables: inout Tables) {
    guard let old = tables.dropped.firstIndex(where: { $0.rootPage == 0 }),
      let new = tables.created.firstIndex(where: { $0.rootPage == 0 })
    else { return }
    tables.changed.append((tables.dropped.remove(at: old), tables.created.remove(at: new)))
  }
}

extension SchemaObject {
  fileprivate var isOurTable: Bool { kind == .table && !isInternal }
}
