import SQLText

/// What a change did to a schema, object by object.
package struct SchemaDelta: Sendable {
  package struct Key: Hashable, Sendable {
    package let kind: SchemaObject.Kind
    /// In folded spelling.
    package let name: String

    package init(_ object: SchemaObject) {
      kind = object.kind
      name = object.name.asciiLowercased
    }
  }

  /// The objects that were there before and are gone or read otherwise.
  package private(set) var before: [Key: SchemaObject] = [:]
  /// The objects that are new or read otherwise.
  package private(set) var after: [Key: SchemaObject] = [:]

  package init() {}

  /// Compares the stored texts of all objects, SQLite's own ones apart.
  package init(from old: Schema, to new: Schema) {
    for object in old.objects where !object.isInternal { before[Key(object)] = object }
    for object in new.objects where !object.isInternal {
      let key = Key(object)
      if let known = before[key], known.sql == object.sql, known.name == object.name {
        before[key] = nil
      } else {
        after[key] = object
      }
    }
  }

  package var isEmpty: Bool { before.isEmpty && after.isEmpty }

  package var keys: Set<Key> { Set(before.keys).union(after.keys) }

  /// Whether both did the same, whatever the objects looked like before.
  package func doesTheSame(as other: SchemaDelta) -> Bool {
    guard keys == other.keys, after.keys == other.after.keys else { return false }
    return after.allSatisfy { key, object in
      guard let theirs = other.after[key] else { return false }
      return object.readsLike(theirs)
    }
  }

  /// The schema that the change makes of `schema`.
  package func applied(to schema: Schema) -> Schema {
    var objects = schema.objects.filter { object in
      let key = Key(object)
      return before[key] == nil && after[key] == nil
    }
    objects += after.values.sorted { $0.rootPage < $1.rootPage }
    return Schema(objects: objects)
  }
}

extension SchemaObject {
  /// Whether two objects are the same but for quoting, case, white space and comments.
  package func readsLike(_ other: SchemaObject) -> Bool {
    guard kind == other.kind, name.asciiLowercased == other.name.asciiLowercased,
      table.asciiLowercased == other.table.asciiLowercased
    else { return false }
    if sql == other.sql { return true }
    guard let sql, let theirs = other.sql else { return false }
    return TokenizedSQL(sql).normalTokens == TokenizedSQL(theirs).normalTokens
  }
}
