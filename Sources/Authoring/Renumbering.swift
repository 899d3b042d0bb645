import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// The old and the new id of a manifest.
package struct Renaming: Sendable, Hashable {
  package let from: String
  package let to: String

  package init(from: String, to: String) {
    self.from = from
    self.to = to
  }
}

/// Computes new ids with which drafts come after all other migrations and keep their order.
///
/// - Parameters:
///   - names: the drafts: ids, file names, or numbers that only one manifest has.
///   - folder: the path of the migrations directory, for messages.
///   - ids: the ids of all manifests.
///   - frozen: the ids in the lock.
///   - now: the current time, for histories that are numbered by timestamps (`20261120130000`).
/// - Returns: no renamings if the drafts already come last, in order.
package func renumbering(
  _ names: [String], in folder: String, among ids: [String], frozen: Set<ExactText>, now: Timestamp
) throws(Failure) -> [Renaming] {
  var drafts: Set<ExactText> = []
  for name in names { drafts.insert(try resolve(name, folder, ids, frozen)) }
  let moving = ids.filter(drafts.contains).sorted { a, b in
    (MigrationNumber(id: a), a.exact) < (MigrationNumber(id: b), b.exact)
  }
  let others = Set(ids.map(\.exact)).union(frozen).subtracting(drafts).map(\.text)
  guard let last = others.max(by: { MigrationNumber(id: $0) < MigrationNumber(id: $1) }) else {
    return []
  }
  let order = ([last] + moving).map { MigrationNumber(id: $0) }
  guard zip(order, order.dropFirst()).contains(where: { $0 >= $1 }) else { return [] }
  var number = last
  return moving.map { id in
    number = MigrationNumber.digits(after: number, at: now)
    return Renaming(from: id, to: number + id.utf8.drop(while: \.isDigit).text)
  }.filter { $0.from != $0.to }
}

private func resolve(
  _ name: String, _ folder: String, _ ids: [String], _ frozen: Set<ExactText>
) throws(Failure) -> String {
  let unknown = Failure(.usage, "`\(folder)` has no migration `\(name)`")
  func isFrozen(_ id: String) -> Failure {
    Failure(
      .usage,
      "`\(id)` is frozen, here or in another revision, so it keeps its number: devices know it by "
        + "this name",
      remedy: "Renumber the drafts")
  }
  let file = name.utf8.split(separator: UInt8(ascii: "/")).last.map { $0.text } ?? name
  let id = file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
  if frozen.contains(id) { throw isFrozen(id) }
  if ids.contains(id) { return id }
  guard !name.isEmpty, name.utf8.allSatisfy(\.isDigit) else { throw unknown }
  let candidates = ids.filter { MigrationNumber(id: $0) == MigrationNumber(id: name) }
  guard let first = candidates.first else { throw unknown }
  // If a frozen migration and a draft share a number, the number means the draft.
  let drafts = candidates.filter { !frozen.contains($0) }
  guard drafts.count <= 1 else {
    throw Failure(
      .usage, "`\(name)` is the number of \(drafts.map { "`\($0)`" }.joined(separator: " and "))",
      remedy: "Name a draft by its id")
  }
  guard let draft = drafts.first else { throw isFrozen(first) }
  return draft
}

extension Sequence<UInt8> {
  fileprivate var text: String { String(decoding: Array(self), as: UTF8.self) }
}

extension MigrationFolder {
  /// Renames manifests atomically: either all or none. Never replaces another file.
  package func rename(_ renamings: [Renaming]) throws(FileError) {
    try FileChange.make(
      keepingOrder(renamings).map {
        .renaming(file(ofMigration: $0.from), to: file(ofMigration: $0.to))
      })
  }

  /// Sorts renamings so that no new name is still in use. The manifests that move down come first, beginning
  /// with the lowest; then come those that move up, beginning with the highest. So the manifests keep their
  /// order at every point, even if a power failure interrupts the renaming.
  private func keepingOrder(_ renamings: [Renaming]) -> [Renaming] {
    func movesDown(_ renaming: Renaming) -> Bool {
      MigrationNumber(id: renaming.to) < MigrationNumber(id: renaming.from)
    }
    return renamings.filter(movesDown) + renamings.reversed().filter { !movesDown($0) }
  }
}
