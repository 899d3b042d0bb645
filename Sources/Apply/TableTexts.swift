import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Schema {
  /// The edits that give tables the text of the history before a migration changes them.
  ///
  /// Another tool may have created a table with a constraint in another place than the history, for example in
  /// the table instead of in a column. SQLite treats both texts alike, but operations and ALTER TABLE change the
  /// text.
  ///
  /// - Parameters:
  ///   - step: the migration. The tables that it changes differ from the history only in style.
  ///   - expected: the schema that the history promises before the migration.
  package func edits(
    before step: ScratchDatabase.Step, like expected: Schema, _ application: Application
  ) throws(Failure) -> [SchemaEdit] {
    var edits: [SchemaEdit] = []
    for name in step.changedTables.sorted() {
      guard let promised = expected.table(name), let stored = table(name),
        !stored.saysTheSame(as: promised), stored.name.exact == promised.name.exact,
        promised.createTable != nil
      else { continue }
      do {
        // If they differ, the new text would give the indexes of the table to other constraints.
        guard try stored.automaticIndexes(application) == promised.automaticIndexes(application)
        else { continue }
      } catch {
        throw Failure(of: error)
      }
      edits.append(SchemaEdit(table: stored.name, sql: promised.sql ?? ""))
    }
    return edits
  }

  /// Gives a table the text of an edit.
  package mutating func apply(_ edit: SchemaEdit) {
    guard let index = objects.firstIndex(where: { $0.key == .init(.table, edit.table.identifier) })
    else { return }
    let old = objects[index]
    objects[index] = SchemaObject(
      kind: .table, name: old.name, table: old.table, sql: edit.sql, rootPage: old.rootPage)
  }
}

extension ScratchDatabase.Step {
  /// The tables whose definitions the migration changes, or that its operations would change if the
  /// definition were another one.
  fileprivate var changedTables: Set<Identifier> {
    Set(delta.before.keys.filter { $0.kind == .table }.map(\.name))
      .union(migration.manifest.operations.compactMap(\.changedTable?.identifier))
  }
}

extension SchemaObject {
  /// The indexes of the table's constraints. Their order depends on the text, and numbers their names.
  fileprivate func automaticIndexes(
    _ application: Application
  ) throws(DatabaseError) -> [StoredTable.Index] {
    try StoredTable(name, on: Schema(objects: [self]).scratch(application)).indexes
  }
}
