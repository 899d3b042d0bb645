import SchemaSQLText

/// Which table's foreign keys point at which table.
package struct ForeignKeyGraph: Sendable {
  /// By the child.
  private var parents: [Identifier: Set<Identifier>] = [:]

  package init(_ schema: Schema) {
    for table in schema.tables { note(table) }
  }

  /// Follows a change of the schema.
  package mutating func apply(_ delta: SchemaDelta) {
    for (key, _) in delta.before where key.kind == .table { parents[key.name] = nil }
    for (_, object) in delta.after where object.kind == .table { note(object) }
  }

  /// The tables among `names` that have foreign keys, and all tables whose foreign keys point at
  /// one of `names`: those in which a change of `names` can break a reference. Sorted.
  package func affected(by names: Set<Identifier>) -> [String] {
    parents.filter { child, parents in
      names.contains(child) || !parents.isDisjoint(with: names)
    }.keys.sorted().map(\.text)
  }

  private mutating func note(_ table: SchemaObject) {
    // Most tables have none: only a text with the word in it is taken apart.
    let tokens = TokenizedSQL(table.sql ?? "")
    guard tokens.mentions("references"), case .createTable(let parsed)? = try? parseCreate(tokens)
    else { return }
    let found = Set(parsed.parents.map(\.identifier))
    if !found.isEmpty { parents[table.name.identifier] = found }
  }
}

extension CreateTable {
  /// The tables that the foreign keys point at.
  package var parents: [String] {
    columns.flatMap(\.references).map(\.table.text)
      + constraints.compactMap { constraint in
        if case .foreignKey(_, let reference) = constraint.kind {
          reference.table.text
        } else {
          nil
        }
      }
  }
}

extension TokenizedSQL {
  package func mentions(_ word: Identifier) -> Bool {
    tokens.contains { $0.kind == .word && text($0).identifier == word }
  }
}
