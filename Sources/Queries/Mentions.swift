import SchemaModel
import SchemaSQLText
import SchemaTimeline

/// Determines by name the tables and views that a query may depend on: those that it mentions, and
/// those that views and triggers mention which it uses.
struct Mentions {
  /// The folded names of the objects that each migration changes.
  let touched: [Set<Identifier>]
  /// The names that a view's text mentions, or the texts of a table's triggers; by folded name.
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

/// Every word that can be a name, folded. Includes strings, which SQLite accepts as names in some
/// places.
private func words(of text: String) -> Set<Identifier> {
  let sql = TokenizedSQL(text)
  return Set(
    sql.significant.filter { [.word, .quotedIdentifier, .string].contains($0.kind) }
      .map { Quoting.unquoted(sql.text($0)).identifier })
}
