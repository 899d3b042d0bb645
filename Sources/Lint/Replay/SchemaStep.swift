import SchemaModel
import SchemaSQLText

/// What one statement did to the objects of a schema.
struct SchemaStep {
  /// There before, and gone or another text now.
  private(set) var old: ArraySlice<SchemaObject>
  /// There now, and not before or with another text.
  private(set) var new: ArraySlice<SchemaObject>

  var isEmpty: Bool { old.isEmpty && new.isEmpty }

  init(_ change: SchemaPatch) {
    old = change.removed[...]
    new = change.inserted[...]
    guard old.count > 1, new.count > 1 else { return }
    let kept = Set(old).intersection(new)
    guard !kept.isEmpty else { return }
    old = old.filter { !kept.contains($0) }[...]
    new = new.filter { !kept.contains($0) }[...]
  }

  struct Tables {
    var dropped: [SchemaObject] = []
    var created: [SchemaObject] = []
    /// The same table before and after.
    var changed: [(old: SchemaObject, new: SchemaObject)] = []
  }

  /// The tables, each with what became of it: a table stays the same one as long as its rows stay
  /// in the same b-tree, whatever its name.
  var tables: Tables {
    var tables = Tables()
    tables.created = new.filter(\.isOurTable)
    for table in old where table.isOurTable {
      let key = table.name.identifier
      let heir =
        tables.created.firstIndex { table.rootPage != 0 && $0.rootPage == table.rootPage }
        ?? tables.created.firstIndex { $0.name.identifier == key }
      if let heir {
        tables.changed.append((table, tables.created.remove(at: heir)))
      } else {
        tables.dropped.append(table)
      }
    }
    matchVirtual(&tables)
    return tables
  }

  /// A virtual table has no b-tree of its own. One that goes while another comes was renamed: no
  /// statement does both otherwise.
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
