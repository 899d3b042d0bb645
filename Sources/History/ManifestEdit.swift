import ManifestFormat
import SQLText

/// One difference in what two forms of a manifest do.
package struct ManifestChange: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    case changed, added, removed
    /// The same operation in another place among the others.
    case moved
  }

  /// What became of one key.
  package struct Key: Sendable, Hashable {
    /// From the operation down: `column.default`, `rows[2].title`.
    package let path: String
    /// On one line, nil when the key was not there.
    package let old: String?
    /// Nil when the key is gone.
    package let new: String?
  }

  package let kind: Kind
  /// The operation's name, or the manifest's key: `before`, `after`, `foreign_keys`, `requires`.
  package let name: String
  /// The table, index, view or trigger that the operation names; nil when it names none.
  package let object: String?
  /// The operation's number in the older form, from 1; nil when it is new, and for no operation.
  package let oldNumber: Int?
  package let newNumber: Int?
  package let keys: [Key]
  /// In the file as it is now; nil for what is gone.
  package let position: Position?

  fileprivate init(
    _ kind: Kind, _ name: String, from oldNumber: Int? = nil, to newNumber: Int? = nil,
    _ keys: [Key], on object: String? = nil, at position: Position? = nil
  ) {
    self.kind = kind
    self.name = name
    self.object = object
    self.oldNumber = oldNumber
    self.newNumber = newNumber
    // An operation that is a text or a list itself has no keys: its name stands for one.
    self.keys = keys.map { key in
      key.path.isEmpty || key.path.hasPrefix("[")
        ? Key(path: name + key.path, old: key.old, new: key.new) : key
    }
    self.position = position
  }
}

/// What an edit changed, operation by operation: first the operations in the order of the newer
/// form, those that are gone where they stood, then the manifest's other keys.
package func compareManifests(_ old: Manifest, _ new: Manifest) -> [ManifestChange] {
  guard let before = CanonicalValue(form: old.canonicalForm),
    let after = CanonicalValue(form: new.canonicalForm)
  else { return [] }
  let operations = OperationComparison(
    before["operations"]?.elements ?? [], after["operations"]?.elements ?? [],
    new.operations.map(\.position))
  return operations.changes
    + ["before", "after", "foreign_keys", "requires"].compactMap { key in
      guard before[key] != after[key] else { return nil }
      return ManifestChange(
        before[key] == nil ? .added : after[key] == nil ? .removed : .changed, key,
        differences(before[key], after[key], at: ""))
    }
}

/// Whether both forms do the same to rows, as far as their operations tell: those that may write or
/// check rows are the same, in the same order.
package func treatRowsAlike(_ old: Manifest, _ new: Manifest) -> Bool {
  func writing(_ manifest: Manifest) -> [CanonicalValue] {
    (CanonicalValue(form: manifest.canonicalForm)?["operations"]?.elements ?? [])
      .filter(\.mayWriteRows)
  }
  return old.foreignKeys == new.foreignKeys && writing(old) == writing(new)
}

/// Finds which operation of the newer form was which of the older one.
private struct OperationComparison {
  private let old: [CanonicalValue]
  private let new: [CanonicalValue]
  private let positions: [Position]
  /// For each newer operation the older one that it was.
  private var origins: [Int?]
  /// The newer operations that are not in line with the others that stayed what they were.
  private var moved: Set<Int> = []

  init(_ old: [CanonicalValue], _ new: [CanonicalValue], _ positions: [Position]) {
    self.old = old
    self.new = new
    self.positions = positions
    origins = Array(repeating: nil, count: new.count)
    for (a, b) in commonSubsequence(old, new) { origins[b] = a }
    pair { a, b in
      a == b
    } found: {
      $0.moved.insert($1)
    }
    pair { a, b in a.operationName == b.operationName && a.subject == b.subject }
    pair { a, b in a.operationName == b.operationName }
  }

  private mutating func pair(
    _ belong: (CanonicalValue, CanonicalValue) -> Bool,
    found: (inout Self, Int) -> Void = { _, _ in }
  ) {
    var free = old.indices.filter { !origins.contains($0) }
    for index in new.indices where origins[index] == nil {
      guard let place = free.firstIndex(where: { belong(old[$0], new[index]) }) else { continue }
      origins[index] = free.remove(at: place)
      found(&self, index)
    }
  }

  var changes: [ManifestChange] {
    var changes: [ManifestChange] = []
    var gone = old.indices.filter { !origins.contains($0) }[...]
    for index in new.indices {
      if let origin = origins[index] {
        while let first = gone.first, first < origin { changes.append(removal(gone.removeFirst())) }
      }
      if let change = change(index) { changes.append(change) }
    }
    return changes + gone.map(removal)
  }

  private func change(_ index: Int) -> ManifestChange? {
    let origin = origins[index]
    let isMoved = moved.contains(index)
    if let origin, old[origin] == new[index], !isMoved { return nil }
    return ManifestChange(
      origin == nil ? .added : isMoved ? .moved : .changed, new[index].operationName,
      from: origin.map { $0 + 1 }, to: index + 1,
      differences(origin.map { old[$0].body }, new[index].body, at: ""), on: new[index].object,
      at: index < positions.count ? positions[index] : nil)
  }

  private func removal(_ index: Int) -> ManifestChange {
    ManifestChange(
      .removed, old[index].operationName, from: index + 1,
      differences(old[index].body, nil, at: ""), on: old[index].object)
  }
}

extension CanonicalValue {
  fileprivate var operationName: String {
    if case .mapping(let entries) = self, case .text(let name)? = entries.first?.key { return name }
    return ""
  }

  fileprivate var mayWriteRows: Bool {
    switch operationName {
    // A table that is new has no rows; one that fills itself is made by `sql`.
    case "create_table", "create_view", "drop_view", "assert": false
    // What `INSERT OR REPLACE` replaces hangs on a unique one.
    case "create_index": body["unique"] == .plain("true")
    default: true
    }
  }

  fileprivate var body: CanonicalValue {
    if case .mapping(let entries) = self, let entry = entries.first { return entry.value }
    return self
  }

  /// What an operation is about: two with the same are taken for one that was changed.
  fileprivate var subject: [CanonicalValue?] {
    let body = self.body
    return [
      body["table"], body["name"], body["column"]?["name"] ?? body["column"], body["from"],
    ]
  }

  fileprivate var object: String? {
    if case .text(let name)? = body["table"] ?? body["name"] { return name }
    return nil
  }

  /// The name of a list's element that has one.
  fileprivate var elementName: String? {
    if case .text(let name)? = self["name"] ?? self["column"] { return name }
    return nil
  }
}

// MARK: Keys

/// - Parameter path: of the two values, empty for an operation's own.
private func differences(
  _ old: CanonicalValue?, _ new: CanonicalValue?, at path: String
) -> [ManifestChange.Key] {
  if old == new { return [] }
  switch (old, new) {
  case (.mapping(let a)?, .mapping(let b)?): return mappingDifferences(a, b, at: path)
  case (.mapping(let a)?, nil) where path.isEmpty: return mappingDifferences(a, [], at: path)
  case (nil, .mapping(let b)?) where path.isEmpty: return mappingDifferences([], b, at: path)
  case (.list(let a)?, .list(let b)?): return listDifferences(a, b, at: path)
  case (.sql(let a)?, .sql(let b)?):
    let (old, new) = onlyDifference(a, b)
    return [ManifestChange.Key(path: path, old: old, new: new)]
  default: return [ManifestChange.Key(path: path, old: old?.rendered, new: new?.rendered)]
  }
}

private typealias Entries = [(key: CanonicalValue, value: CanonicalValue)]

private func mappingDifferences(
  _ old: Entries, _ new: Entries, at path: String
) -> [ManifestChange.Key] {
  let added = new.filter { entry in !old.contains { $0.key == entry.key } }.map(\.key)
  return (old.map(\.key) + added).flatMap { key in
    differences(
      old.first { $0.key == key }?.value, new.first { $0.key == key }?.value,
      at: path.isEmpty ? key.rendered : "\(path).\(key.rendered)")
  }
}

private func listDifferences(
  _ old: [CanonicalValue], _ new: [CanonicalValue], at path: String
) -> [ManifestChange.Key] {
  let (a, b) = (old.compactMap(\.elementName), new.compactMap(\.elementName))
  guard a.count == old.count, b.count == new.count, Set(a.map(\.exact)).count == a.count,
    Set(b.map(\.exact)).count == b.count
  else { return placedDifferences(old, new, at: path) }
  let byName = { (names: [String], values: [CanonicalValue]) in
    Dictionary(uniqueKeysWithValues: zip(names.map(\.exact), values))
  }
  let (older, newer) = (byName(a, old), byName(b, new))
  let names = a + b.filter { older[$0] == nil }
  var keys = names.flatMap { differences(older[$0], newer[$0], at: "\(path).\($0)") }
  let (stayed, now) = (a.filter { newer[$0] != nil }, b.filter { older[$0] != nil })
  if stayed != now {
    keys.append(
      ManifestChange.Key(
        path: "the order of \(path)", old: a.joined(separator: ", "),
        new: b.joined(separator: ", ")))
  }
  return keys
}

/// What differs between the elements that both begin with and those that both end with.
private func placedDifferences(
  _ old: [CanonicalValue], _ new: [CanonicalValue], at path: String
) -> [ManifestChange.Key] {
  let common = zip(old, new).prefix { $0 == $1 }.count
  let ending = zip(old.dropFirst(common).reversed(), new.dropFirst(common).reversed())
    .prefix { $0 == $1 }.count
  let (a, b) = (old.dropFirst(common).dropLast(ending), new.dropFirst(common).dropLast(ending))
  return (0..<max(a.count, b.count)).flatMap { index in
    differences(
      index < a.count ? a[a.startIndex + index] : nil,
      index < b.count ? b[b.startIndex + index] : nil, at: "\(path)[\(common + index + 1)]")
  }
}

/// Two SQL texts without what they begin and end with alike, but for a few tokens around.
private func onlyDifference(_ old: [String], _ new: [String]) -> (String, String) {
  let around = 4
  let common = zip(old, new).prefix { $0.utf8.elementsEqual($1.utf8) }.count
  let ending = zip(old.dropFirst(common).reversed(), new.dropFirst(common).reversed())
    .prefix { $0.utf8.elementsEqual($1.utf8) }.count
  let start = common > around + 2 ? common - around : 0
  let cut = ending > around + 2 ? ending - around : 0
  func shown(_ tokens: [String]) -> String {
    (start > 0 ? "… " : "") + joinedSQL(Array(tokens.dropFirst(start).dropLast(cut)))
      + (cut > 0 ? " …" : "")
  }
  return (shown(old), shown(new))
}

/// The places of a longest common subsequence. Of very long lists, what lies between their common
/// beginning and end is passed over.
private func commonSubsequence(_ a: [CanonicalValue], _ b: [CanonicalValue]) -> [(Int, Int)] {
  let start = zip(a, b).prefix { $0 == $1 }.count
  let end = zip(a.dropFirst(start).reversed(), b.dropFirst(start).reversed()).prefix { $0 == $1 }
    .count
  let (rows, columns) = (a.count - start - end, b.count - start - end)
  var pairs = (0..<start).map { ($0, $0) }
  pairs += (0..<end).map { (a.count - end + $0, b.count - end + $0) }
  guard rows > 0, columns > 0, rows * columns <= 1_000_000 else { return pairs }
  var lengths = [[Int]](repeating: [Int](repeating: 0, count: columns + 1), count: rows + 1)
  for i in (0..<rows).reversed() {
    for j in (0..<columns).reversed() {
      lengths[i][j] =
        a[start + i] == b[start + j]
        ? lengths[i + 1][j + 1] + 1 : max(lengths[i + 1][j], lengths[i][j + 1])
    }
  }
  var (i, j) = (0, 0)
  while i < rows, j < columns {
    if a[start + i] == b[start + j] {
      pairs.append((start + i, start + j))
      (i, j) = (i + 1, j + 1)
    } else if lengths[i + 1][j] >= lengths[i][j + 1] {
      i += 1
    } else {
      j += 1
    }
  }
  return pairs
}
