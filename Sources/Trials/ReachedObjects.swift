import SchemaModel
import SchemaSQLText
import SchemaTimeline

/// Finds the objects that steps can reach, so that an experiment needs only this part of a schema.
/// It remembers the names in each SQL text, because most objects remain the same for many steps.
final class ReachedObjects {
  private var known: [ExactText: Set<Identifier>] = [:]

  func names(in sql: String) -> Set<Identifier> {
    if let names = known[sql] { return names }
    let names = TokenizedSQL(sql).possibleNames
    known[sql] = names
    return names
  }

  /// - Parameter enforcesForeignKeys: whether the statements enforce foreign keys, so that they
  ///   also read the parents of parents.
  /// - Returns: the objects with the given names, their indexes and triggers, and the objects that
  ///   these name. A table that only a foreign key names comes without its triggers and parents.
  ///   Tables and views that only refer to these objects are omitted.
  func part(of schema: Schema, from names: Set<Identifier>, enforcesForeignKeys: Bool) -> Schema {
    var names = names
    var parents: Set<Identifier> = []
    let objects = schema.objects
    var isReached = Array(repeating: false, count: objects.count)
    var isComplete = false
    while !isComplete {
      isComplete = true
      for (index, object) in objects.enumerated() where !isReached[index] {
        guard names.contains(object.key.name) || names.contains(object.holder) else { continue }
        names.insert(object.holder)
        let named = self.names(in: object.sql ?? "")
        if object.kind == .table, !object.isVirtualTable, !enforcesForeignKeys {
          parents.formUnion(named)
        } else {
          names.formUnion(named)
        }
        isReached[index] = true
        isComplete = false
      }
    }
    for (index, object) in objects.enumerated() where parents.contains(object.holder) {
      if [.table, .index].contains(object.kind) { isReached[index] = true }
    }
    return Schema(objects: zip(objects, isReached).filter(\.1).map(\.0))
  }
}
