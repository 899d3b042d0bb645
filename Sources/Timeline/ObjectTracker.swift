import SchemaModel
import SchemaSQLText

/// Tracks indexes, views and triggers during a replay.
struct ObjectTracker {
  /// The current objects, with the statements that created them.
  private(set) var creators: [SchemaDelta.Key: CreatedObject] = [:]
  /// The objects that the current migration removed. It may have created others with their names.
  private var vanished: [SchemaDelta.Key: Vanished] = [:]

  private struct Vanished {
    let creator: CreatedObject?
    let place: StatementPlace
    let isImplicit: Bool
  }

  mutating func endMigration() { vanished = [:] }

  /// - Parameter change: the change that a statement makes.
  mutating func note(
    _ change: SchemaDelta, droppedTables: [SchemaObject], at place: StatementPlace
  ) {
    let tables = Set(droppedTables.map { $0.name.identifier })
    for (key, object) in change.before where key.kind != .table && change.after[key] == nil {
      let isImplicit = object.kind != .view && tables.contains(object.table.identifier)
      vanished[key] = Vanished(
        creator: creators.removeValue(forKey: key), place: place, isImplicit: isImplicit)
    }
    for (key, object) in change.after where key.kind != .table {
      // An object that a rebuild recreates unchanged keeps its original place.
      let old = creators[key] ?? vanished[key]?.creator
      let same = old.flatMap { $0.object.readsLike(object) ? $0.place : nil }
      creators[key] = CreatedObject(object: object, place: same ?? place)
    }
  }

  /// - Parameters:
  ///   - delta: the change that a migration made.
  ///   - after: the schema after it.
  func removed(_ delta: SchemaDelta, _ after: Schema) -> [RemovedObject] {
    delta.before.compactMap { key, object -> RemovedObject? in
      // An index that is not unique does not replace a unique one of its name.
      guard key.kind != .table, let old = vanished[key],
        delta.after[key].map({ object.isUniqueIndex && !$0.isUniqueIndex }) ?? true
      else { return nil }
      let replacements =
        object.kind == .view
        ? after.objects.filter { $0.name.identifier == key.name }
        : after.objects(object.kind, on: object.table)
      return RemovedObject(
        object: object, place: old.place, isImplicit: old.isImplicit,
        hasTable: after.object(.table, object.table) != nil
          || after.object(.view, object.table) != nil,
        replacements: replacements)
    }.sorted { ($0.place.number, $0.object.name) < ($1.place.number, $1.object.name) }
  }

  func made(_ delta: SchemaDelta) -> [CreatedObject] {
    delta.after.keys.compactMap { $0.kind == .table ? nil : creators[$0] }
      .sorted { ($0.place.number, $0.object.name) < ($1.place.number, $1.object.name) }
  }
}

extension SchemaObject {
  fileprivate var isUniqueIndex: Bool { IndexShape(self)?.isUnique ?? false }
}
