import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// A manifest's new name.
package struct Renaming: Sendable, Hashable {
  package let from: String
  package let to: String

  package init(from: String, to: String) {
    self.from = from
    self.to = to
  }
}

/// New names with which drafts come after everything else, in the order in which they are now.
///
/// - Parameters:
///   - names: ids, file names, or numbers that only one manifest has.
///   - folder: the path of the migrations, for messages.
///   - ids: of all manifests.
///   - frozen: the ids in the lock.
///   - now: the current time, for histories numbered by timestamps (`20261120130000`).
/// - Returns: nothing when they come last already.
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
  let unknown = Failure(.usage, "\(folder) has no migration `\(name)`")
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
  // Of two with one number, only a draft can be meant.
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
  /// Gives manifests other names, never that of another file: all of them, or none.
  package func rename(_ renamings: [Renaming]) throws(FileError) {
    try FileChange.make(
      keepingOrder(renamings).map {
        .renaming(file(ofMigration: $0.from), to: file(ofMigration: $0.to))
      })
  }

  /// First those that move down, the lowest one first, then those that move up, the highest one
  /// first: so no new name is still another's, and wherever it ends, even by a power cut, the
  /// manifests are in the order in which they were.
  private func keepingOrder(_ renamings: [Renaming]) -> [Renaming] {
    func movesDown(_ renaming: Renaming) -> Bool {
      MigrationNumber(id: renaming.to) < MigrationNumber(id: renaming.from)
    }
    return renamings.filter(movesDown) + renamings.reversed().filter { !movesDown($0) }
  }
}
