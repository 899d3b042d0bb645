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
  /// The keys of `after` in the order of the new schema: each object follows its dependencies.
  private var order: [Key] = []

  package init() {}

  /// Compares the stored texts of all objects except SQLite's own.
  package init(from old: Schema, to new: Schema) {
    // Skip the unchanged objects at the beginning and at the end, usually most of the schema.
    let first = countOfSame(old.objects, new.objects)
    let (oldRest, newRest) = (old.objects[first...], new.objects[first...])
    let last = countOfSame(oldRest.reversed(), newRest.reversed())
    for object in oldRest.dropLast(last) where !object.isInternal { before[object.key] = object }
    for object in newRest.dropLast(last) where !object.isInternal {
      let key = object.key
      if before[key]?.isIdentical(to: object) == true {
        before[key] = nil
      } else {
        after[key] = object
        order.append(key)
      }
    }
  }

  /// The new and changed objects in the order of the new schema: each follows its dependencies.
  package var ordered: [SchemaObject] { order.compactMap { after[$0] } }

  package var isEmpty: Bool { before.isEmpty && after.isEmpty }

  package var keys: Set<Key> { Set(before.keys).union(after.keys) }

  /// Whether both deltas have the same result, regardless of the earlier form of the objects.
  package func doesTheSame(as other: SchemaDelta) -> Bool {
    guard keys == other.keys, after.keys == other.after.keys else { return false }
    return after.allSatisfy { key, object in
      guard let theirs = other.after[key] else { return false }
      return object.readsLike(theirs)
    }
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
  zip(a, b).lazy.prefix { $0 === $1 || $0.saysTheSame(as: $1) }.reduce(0) {
    n, _ in n + 1
  }
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

extension SchemaObject {
  /// Whether two objects are equal except for quoting, case, white space and comments.
  package func readsLike(_ other: SchemaObject) -> Bool {
    guard key == other.key, table.identifier == other.table.identifier
    else { return false }
    if hasSameSQL(as: other) { return true }
    guard let sql, let theirs = other.sql else { return false }
    return TokenizedSQL(sql).normalTokens == TokenizedSQL(theirs).normalTokens
  }

  func hasSameSQL(as other: SchemaObject) -> Bool {
    sql == other.sql
  }

  /// Compares byte by byte, except for the root page.
  package func saysTheSame(as other: SchemaObject) -> Bool {
    key == other.key && isIdentical(to: other)
  }

  fileprivate func isIdentical(to other: SchemaObject) -> Bool {
    name == other.name && table == other.table && hasSameSQL(as: other)
  }
}
