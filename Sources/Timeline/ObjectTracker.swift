import SchemaModel
import SchemaSQLText

/// Tracks indexes, views and triggers during a replay.
struct ObjectTracker {
  /// The current objects, with the statements that created them.
  private(set) var makers: [SchemaDelta.Key: (place: StatementPlace, object: SchemaObject)] = [:]
  /// The objects that the current migration removed.
  private var vanished: [SchemaDelta.Key: (place: StatementPlace, isImplicit: Bool)] = [:]

  mutating func begin() {
    for key in vanished.keys { makers[key] = nil }
    vanished = [:]
  }

  mutating func note(_ step: SchemaStep, droppedTables: [SchemaObject], at place: StatementPlace) {
    let kept = Set(step.new.map(\.key))
    let tables = Set(droppedTables.map { $0.name.identifier })
    for object in step.old where object.kind != .table && !object.isInternal {
      guard !kept.contains(object.key) else { continue }
      let isImplicit = object.kind != .view && tables.contains(object.table.identifier)
      vanished[object.key] = (place, isImplicit)
    }
    for object in step.new where object.kind != .table && !object.isInternal {
      // An object that a rebuild recreates unchanged keeps its original place.
      let isSame = makers[object.key].map { $0.object.readsLike(object) } ?? false
      makers[object.key] = (isSame ? makers[object.key]?.place ?? place : place, object)
      vanished[object.key] = nil
    }
  }

  func removed(_ delta: SchemaDelta, _ after: Schema) -> [RemovedObject] {
    let lost = delta.before.filter { key, object in
      key.kind != .table && delta.after[key] == nil && vanished[key] != nil
    }
    guard !lost.isEmpty else { return [] }
    return lost.values.compactMap { object in
      guard let (place, isImplicit) = vanished[object.key] else { return nil }
      let replacements =
        object.kind == .view
        ? after.objects.filter { $0.name.identifier == object.name.identifier }
        : after.objects(object.kind, on: object.table)
      return RemovedObject(
        object: object, place: place, isImplicit: isImplicit,
        hasTable: after.object(.table, object.table) != nil
          || after.object(.view, object.table) != nil,
        replacements: replacements)
    }.sorted { ($0.place.number, $0.object.name) < ($1.place.number, $1.object.name) }
  }

  func made(_ delta: SchemaDelta) -> [CreatedObject] {
    delta.after.values.compactMap { object in
      guard object.kind != .table, let maker = makers[object.key] else { return nil }
      return CreatedObject(object: object, place: maker.place)
    }.sorted { ($0.place.number, $0.object.name) < ($1.place.number, $1.object.name) }
  }
}
