import SchemaModel
import SchemaSQLText

/// Tracks the unique indexes that a migration creates.
struct UniqueIndexTracker {
  private var created: [Identifier: CreatedUniqueIndex] = [:]

  /// - Parameter isAltering: whether the statement is an ALTER TABLE. It creates no index; it
  ///   rewrites the text of those whose table or column it renames.
  mutating func note(_ index: SchemaObject, isAltering: Bool, at place: StatementPlace) {
    let key = index.name.identifier
    guard !isAltering || created[key] != nil, let sql = index.sql,
      case .createIndex(let parsed)? = try? parseCreate(TokenizedSQL(sql)), parsed.isUnique
    else { return }
    created[key] = CreatedUniqueIndex(
      name: index.name, table: index.table, isPartial: parsed.condition != nil,
      columns: parsed.terms.map { $0.column?.text.identifier }, place: place)
  }

  /// The indexes that are new after the migration. An index that a rebuild recreates unchanged is
  /// not new.
  ///
  /// - Parameter renamed: the renamed columns of a table, by their old names; nil for a table to
  ///   ignore.
  func created(
    by delta: SchemaDelta, renamed: (Identifier) -> [Identifier: Identifier]?
  ) -> [CreatedUniqueIndex] {
    created.sorted { $0.value.place.number < $1.value.place.number }.compactMap { key, index in
      var index = index
      guard let renamed = renamed(index.table.identifier),
        let object = delta.after.first(where: { $0.key.kind == .index && $0.key.name == key })
      else { return nil }
      index.before = delta.before[object.key].flatMap { IndexShape($0)?.renaming(renamed) }
      index.after = IndexShape(object.value)
      if let after = index.after, index.before?.isAsUnique(as: after) ?? false { return nil }
      return index
    }
  }
}
