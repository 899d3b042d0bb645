import SchemaSQLText

/// What stands otherwise in a schema after a change: objects in a row that are gone, and those that
/// stand in their place.
///
/// To follow a history by these takes the time of what changes; to compare whole schemas takes, at
/// each step, the time of all that is there.
package struct SchemaPatch: Sendable {
  package let start: Int
  package let removed: [SchemaObject]
  package let inserted: [SchemaObject]

  package init(at start: Int = 0, removed: [SchemaObject] = [], inserted: [SchemaObject] = []) {
    self.start = start
    self.removed = removed
    self.inserted = inserted
  }

  package init(from old: Schema, to new: Schema) {
    let first = countOfSame(old.objects, new.objects)
    let (oldRest, newRest) = (old.objects[first...], new.objects[first...])
    let last = countOfSame(oldRest.reversed(), newRest.reversed())
    start = first
    removed = Array(oldRest.dropLast(last))
    inserted = Array(newRest.dropLast(last))
  }

  package var isEmpty: Bool { removed.isEmpty && inserted.isEmpty }
}

private func countOfSame(
  _ a: some Sequence<SchemaObject>, _ b: some Sequence<SchemaObject>
) -> Int {
  zip(a, b).lazy.prefix { $0 === $1 || $0.rootPage == $1.rootPage && $0.saysTheSame(as: $1) }
    .reduce(0) { count, _ in count + 1 }
}

extension Schema {
  /// - Parameter splice: what was found on this very schema.
  package mutating func apply(_ splice: SchemaPatch) {
    let end = splice.start + splice.removed.count
    objects.replaceSubrange(splice.start..<end, with: splice.inserted)
  }
}

extension SchemaDelta {
  package init(_ splice: SchemaPatch) {
    self.init(from: Schema(objects: splice.removed), to: Schema(objects: splice.inserted))
  }
}
