import SchemaModel
import SchemaSQLText
import SchemaTimeline

/// Determines by name which queries a change of the schema may affect. These queries mention a
/// changed object directly, or through views and triggers.
struct Mentions {
  /// The indices of the queries that mention a word.
  private var queries: [Identifier: [Int]] = [:]
  /// The views whose text mentions a word, and the tables of triggers whose text mentions it.
  private var readers: [Identifier: Set<Identifier>] = [:]

  init(_ queries: [ApplicationQuery]) {
    for (index, query) in queries.enumerated() {
      let text = ([query.sql] + (query.preparation ?? [])).joined(separator: "\n")
      for word in TokenizedSQL(text).possibleNames { self.queries[word, default: []].append(index) }
    }
  }

  /// The indices of the queries that the change may affect. Call it for each migration, in order.
  mutating func affected(by delta: SchemaDelta) -> Set<Int> {
    for object in delta.after.values where [.view, .trigger].contains(object.kind) {
      for word in object.tokens.possibleNames {
        readers[word, default: []].insert(object.table.identifier)
      }
    }
    let changed = [delta.before, delta.after].flatMap(\.values)
      .flatMap { [$0.name.identifier, $0.table.identifier] }
    let names = reached(from: changed) { readers[$0] ?? [] }
    return Set(names.flatMap { queries[$0] ?? [] })
  }
}
