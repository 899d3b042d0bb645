import SchemaModel
import SchemaSQLText
import SchemaTimeline

/// Which tables and views a query can depend on, by their names: those that it mentions, and those that
/// the views and triggers mention which it reaches.
struct Mentions {
  /// The folded names of what each migration changes.
  let touched: [Set<Identifier>]
  /// For the folded name of a view, or of a trigger's table, what their texts mention.
  private var reached: [Identifier: Set<Identifier>] = [:]

  init(_ deltas: [SchemaDelta]) {
    touched = deltas.map { delta in
      var names: Set<Identifier> = []
      for object in [delta.before, delta.after].flatMap(\.values) {
        names.insert(object.name.identifier)
        names.insert(object.table.identifier)
      }
      return names
    }
    for object in deltas.flatMap(\.after.values) where [.view, .trigger].contains(object.kind) {
      reached[object.table.identifier, default: []].formUnion(words(of: object.sql ?? ""))
    }
  }

  func names(of query: ApplicationQuery) -> Set<Identifier> {
    var names = words(of: query.sql)
    var new = names
    while !new.isEmpty {
      new = Set(new.flatMap { reached[$0] ?? [] }).subtracting(names)
      names.formUnion(new)
    }
    return names
  }
}

/// Every word that can be a name, folded; strings, too, which SQLite takes for names here and there.
private func words(of text: String) -> Set<Identifier> {
  let sql = TokenizedSQL(text)
  return Set(
    sql.significant.filter { [.word, .quotedIdentifier, .string].contains($0.kind) }
      .map { Quoting.unquoted(sql.text($0)).identifier })
}
