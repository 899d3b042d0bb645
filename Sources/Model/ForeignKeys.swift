import SchemaSQLText

/// The foreign keys between tables.
package struct ForeignKeyGraph: Sendable {
  /// The parent tables of each child table.
  private var parents: [Identifier: Set<Identifier>] = [:]

  package init(_ schema: Schema) {
    for table in schema.tables { note(table) }
  }

  /// Applies a change of the schema.
  package mutating func apply(_ delta: SchemaDelta) {
    for (key, _) in delta.before where key.kind == .table { parents[key.name] = nil }
    for (_, object) in delta.after where object.kind == .table { note(object) }
  }

  /// The tables whose foreign keys a change of the tables `names` can violate, sorted: those of `names` that
  /// have foreign keys, and all tables that refer to one of `names`.
  package func affected(by names: Set<Identifier>) -> [String] {
    parents.filter { child, parents in
      names.contains(child) || !parents.isDisjoint(with: names)
    }.keys.sorted().map(\.text)
  }

  /// Whether a table refers to the table.
  package func refers(to table: Identifier) -> Bool {
    parents.values.contains { $0.contains(table) }
  }

  private mutating func note(_ table: SchemaObject) {
    // Most tables have no foreign key, so parse only texts that contain the word.
    guard table.tokens.mentions("references"), let parsed = table.createTable else { return }
    let found = Set(parsed.foreignKeys.map(\.reference.table.text.identifier))
    if !found.isEmpty { parents[table.name.identifier] = found }
  }
}

extension TokenizedSQL {
  package func mentions(_ word: Identifier) -> Bool {
    tokens.contains { $0.kind == .word && text($0).identifier == word }
  }
}
