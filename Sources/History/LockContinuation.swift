/// How a lock fails to go on from an older one.
package struct LockDivergence: Error, Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    /// Lines at the end are gone.
    case truncated
    case rewritten
    /// There is no lock any more.
    case removed
  }

  package let kind: Kind
  /// Whose lock the older one is: `the last commit`.
  package let older: String
  /// What is wrong and what to do next.
  package let message: String

  init(kind: Kind, older: String, message: String) {
    self.kind = kind
    self.older = older
    self.message = message
  }

  package init(removedFrom older: String, restoring: String) {
    self.init(
      kind: .removed, older: older,
      message: "it is in \(older), and gone here: what is frozen stays frozen; restore it with "
        + restoring)
  }
}

extension HistoryLock {
  /// Holds this lock against an older one, whose lines it must begin with.
  ///
  /// - Parameters:
  ///   - other: the lock of the other branch while a merge is under way: then only the order of the
  ///     lines of each must be kept.
  ///   - name: whose lock the older one is.
  ///   - restoring: the command that brings the older one back.
  package func divergence(
    from older: HistoryLock, merging other: HistoryLock? = nil, named name: String,
    restoring: String
  ) -> LockDivergence? {
    if let other {
      let missing = older.firstLineMissing(in: self) ?? other.firstLineMissing(in: self)
      return missing.map { line in
        LockDivergence(
          kind: .rewritten, older: name,
          message: "both branches are being merged, and the lock lacks what one of them has "
            + "frozen (\(line.subject)); run `schemactl freeze --resolve`, or restore it with "
            + restoring)
      }
    }
    let common = zip(lines, older.lines).prefix { $0 == $1 }.count
    guard common < older.lines.count else { return nil }
    let number = LockFormat.headerLines.count + common + 1
    let line = older.lines[common]
    guard common < lines.count else {
      return LockDivergence(
        kind: .truncated, older: name,
        message: "it ends before line \(number), which in \(name) holds \(line.subject): what is "
          + "frozen stays frozen; restore it with \(restoring)")
    }
    let now = lines[common]
    let change =
      now.subject == line.subject
      ? "\(line.subject) with other digests" : "\(now.subject) instead of \(line.subject)"
    return LockDivergence(
      kind: .rewritten, older: name,
      message: "line \(number) holds \(change), unlike in \(name): the lock was rewritten, and its "
        + "chain made anew; restore it with \(restoring)")
  }

  /// In the order of the lines.
  private func firstLineMissing(in lock: HistoryLock) -> LockLine? {
    var rest = lock.lines[...]
    return lines.first { line in
      // Fingerprints are computed again where lines of the other branch come before.
      guard let place = rest.firstIndex(where: { $0.holdsTheSame(as: line) }) else { return true }
      rest = rest[(place + 1)...]
      return false
    }
  }
}

extension LockLine {
  /// What the line is about: `0001_create_lists`.
  var subject: String {
    switch self {
    case .entry(let entry): entry.id
    case .acceptance(let acceptance): "the accepted edit of \(acceptance.id)"
    }
  }

  /// Whether both freeze, or accept, the same form of the same migration.
  func holdsTheSame(as other: LockLine) -> Bool {
    switch (self, other) {
    case (.entry(let a), .entry(let b)):
      a.id == b.id && a.digests.canonical == b.digests.canonical
    case (.acceptance(let a), .acceptance(let b)):
      a.id == b.id && a.digests.canonical == b.digests.canonical
    default: false
    }
  }

  var id: String {
    switch self {
    case .entry(let entry): entry.id
    case .acceptance(let acceptance): acceptance.id
    }
  }
}
