import SchemaHistory
import SchemaModel
import SchemaSQLText
import SchemaTimeline

/// Finds the objects that steps can reach, so that an experiment needs only this part of a schema.
/// It remembers the names in each SQL text, because most objects remain the same for many steps.
final class ReachedObjects {
  private var known: [ExactText: Set<Identifier>] = [:]

  /// All words and strings of the SQL: SQLite accepts `'x'` as a name, too.
  func names(in sql: String) -> Set<Identifier> {
    if let names = known[sql] { return names }
    let tokens = TokenizedSQL(sql)
    let names = Set(
      tokens.tokens.filter { [.word, .quotedIdentifier, .string].contains($0.kind) }
        .map { Quoting.unquoted(tokens.text($0)).identifier })
    known[sql] = names
    return names
  }

  /// - Returns: the objects with the given names, with their indexes and triggers, and the objects
  ///   that these name. Tables and views that only refer to one of them are left out.
  func part(of schema: Schema, from names: Set<Identifier>) -> Schema {
    var names = names
    var rest = schema.objects
    var isComplete = false
    while !isComplete {
      isComplete = true
      rest.removeAll { object in
        guard names.contains(object.key.name) || names.contains(object.holder) else { return false }
        names.insert(object.holder)
        names.formUnion(self.names(in: object.sql ?? ""))
        isComplete = false
        return true
      }
    }
    let others = Set(rest.map(\.key))
    return Schema(objects: schema.objects.filter { !others.contains($0.key) })
  }
}
