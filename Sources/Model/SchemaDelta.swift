import SchemaSQLText

/// The change of a schema, object by object.
package struct SchemaDelta: Sendable {
  package struct Key: Hashable, Sendable {
    package let kind: SchemaObject.Kind
    package let name: Identifier

    package init(_ kind: SchemaObject.Kind, _ name: Identifier) {
      self.kind = kind
      self.name = name
    }
  }

  /// The removed objects, and the old form of changed ones.
  package private(set) var before: [Key: SchemaObject] = [:]
  /// The new objects, and the new form of changed ones.
  package private(set) var after: [Key: SchemaObject] = [:]
  /// The new and changed objects in the order of the new schema: each follows its dependencies.
  package private(set) var ordered: [SchemaObject] = []

  package init() {}

  /// Compares the stored SQL of all objects except SQLite's own.
  package init(from old: Schema, to new: Schema) {
    // Skip the unchanged objects at the beginning and at the end, usually most of the schema.
    let first = countOfSame(old.objects, new.objects)
    let (oldRest, newRest) = (old.objects[first...], new.objects[first...])
    let last = countOfSame(oldRest.reversed(), newRest.reversed())
    for object in oldRest.dropLast(last) where !object.isInternal { before[object.key] = object }
    for object in newRest.dropLast(last) where !object.isInternal {
      if before[object.key]?.saysTheSame(as: object) == true {
        before[object.key] = nil
      } else {
        after[object.key] = object
        ordered.append(object)
      }
    }
  }

  package var isEmpty: Bool { before.isEmpty && after.isEmpty }

  package var keys: Set<Key> { Set(before.keys).union(after.keys) }

  /// The keys of new and removed objects, without changed ones.
  package var addedOrRemoved: Set<Key> { Set(before.keys).symmetricDifference(after.keys) }

  /// Whether both deltas have the same result, regardless of the earlier form of the objects.
  package func doesTheSame(as other: SchemaDelta) -> Bool {
    keys == other.keys && after.keys == other.after.keys
      && after.allSatisfy { key, object in other.after[key].map(object.readsLike) ?? false }
  }

  /// The schema after the change: changed objects keep their place, and new ones come last.
  package func applied(to schema: Schema) -> Schema {
    Schema(applying: CollectionOfOne(self), to: schema)
  }
}

/// The length of the common prefix of two lists.
private func countOfSame(
  _ a: some Sequence<SchemaObject>, _ b: some Sequence<SchemaObject>
) -> Int {
  zip(a, b).lazy.prefix { $0 === $1 || $0.saysTheSame(as: $1) }.count { _ in true }
}

extension Schema {
  /// The schema after all changes: changed objects keep their place, and new ones come last.
  package init(applying deltas: some Sequence<SchemaDelta>, to base: Schema = Schema()) {
    var objects: [SchemaObject?] = base.objects
    var places = Dictionary(
      base.objects.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    for delta in deltas {
      for key in delta.before.keys where delta.after[key] == nil {
        if let place = places.removeValue(forKey: key) { objects[place] = nil }
      }
      for object in delta.ordered {
        if let place = places[object.key] {
          objects[place] = object
        } else {
          places[object.key] = objects.count
          objects.append(object)
        }
      }
    }
    self.init(objects: objects.compactMap { $0 })
  }
}
