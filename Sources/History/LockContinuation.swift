import SQLText

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
  ///   - name: whose lock the older one is.
  ///   - restoring: the command that brings the older one back.
  package func divergence(
    from older: HistoryLock, named name: String, restoring: String
  ) -> LockDivergence? {
    guard let place = older.firstPlaceMissing(in: self, by: ==) else {
      return insertion(into: older, named: name, restoring: restoring)
    }
    let line = older.lines[place]
    let number = LockFormat.headerLines.count + place + 1
    if place == lines.count, older.lines.starts(with: lines) {
      return LockDivergence(
        kind: .truncated, older: name,
        message: "it ends before line \(number), which in \(name) holds \(line.subject): what is "
          + "frozen stays frozen; restore it with \(restoring)")
    }
    let what =
      rewriting(of: place, in: older)
      ?? "line \(number) in \(name), \(line.subject), is not in it any more"
    return LockDivergence(
      kind: .rewritten, older: name,
      message: "\(what), unlike in \(name): the lock was rewritten, and its chain made anew; "
        + "restore it with \(restoring)")
  }

  /// What stands here in place of a line of an older lock; nil when nothing does.
  private func rewriting(of place: Int, in older: HistoryLock) -> String? {
    let line = older.lines[place]
    // Of several accepted edits of one migration, the same one.
    let nth = older.lines[..<place].count { $0.isAbout(line) }
    let twins = lines.indices.filter { lines[$0].isAbout(line) }
    if nth < twins.count, let difference = lines[twins[nth]].difference(from: line) {
      return "line \(self.number(twins[nth])) holds \(line.subject) \(difference)"
    }
    let next = lines.firstIndex { other in
      other.isEntry && line.isEntry
        && MigrationNumber(id: other.id) >= MigrationNumber(id: line.id)
    }
    return next.map {
      "line \(self.number($0)) holds \(lines[$0].subject) instead of \(line.subject)"
    }
  }

  /// A migration that is frozen here before one that was frozen first.
  private func insertion(
    into older: HistoryLock, named name: String, restoring: String
  ) -> LockDivergence? {
    guard let last = older.entries.last,
      let place = lines.firstIndex(where: { line in
        line.isEntry && !older.contains(line.id)
          && MigrationNumber(id: line.id) < MigrationNumber(id: last.id)
      })
    else { return nil }
    return LockDivergence(
      kind: .rewritten, older: name,
      message:
        "line \(number(place)) freezes \(lines[place].id) before \(last.id), which is frozen "
        + "in \(name): databases that have run that one would never run it in this place; restore "
        + "the lock with \(restoring), renumber \(lines[place].id) (`schemactl rebase "
        + "\(shellQuoted(lines[place].id))`) and freeze it again")
  }

  private func number(_ place: Int) -> Int { LockFormat.headerLines.count + place + 1 }

  /// The place of our first line that the other lock lacks. The frozen ones ascend in both; of the
  /// accepted edits only those of one migration have an order that matters.
  ///
  /// - Parameter besides: what may be missing.
  func firstPlaceMissing(
    in lock: HistoryLock, besides: Set<ExactText> = [], by isSame: (LockLine, LockLine) -> Bool
  ) -> Int? {
    var passed: [ExactText: Int] = [:]
    return lines.indices.first { index in
      let line = lines[index]
      if besides.contains(line.id) { return false }
      let start = line.isEntry ? 0 : passed[line.id] ?? 0
      guard let place = lock.lines[start...].firstIndex(where: { isSame($0, line) }) else {
        return true
      }
      if !line.isEntry { passed[line.id] = place + 1 }
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

  /// Whether both freeze, or accept an edit of, one migration, in whatever form.
  func isAbout(_ other: LockLine) -> Bool { isEntry == other.isEntry && id == other.id }

  /// What the line says otherwise than one about the same; nil when nothing.
  func difference(from other: LockLine) -> String? {
    var differences: [String] = []
    if digests.canonical != other.digests.canonical {
      differences.append("other digests")
    } else if digests.raw != other.digests.raw {
      differences.append("another layout of the file")
    }
    if release != other.release {
      differences.append("the release \(release ?? "-") instead of \(other.release ?? "-")")
    }
    if reason != other.reason {
      differences.append("another reason (\(reason ?? "") instead of \(other.reason ?? ""))")
    }
    if differences.isEmpty, digests != other.digests { differences.append("another fingerprint") }
    return differences.isEmpty ? nil : "with " + differences.joined(separator: " and ")
  }

  private var digests: LockedDigests {
    switch self {
    case .entry(let entry): entry.digests
    case .acceptance(let acceptance): acceptance.digests
    }
  }

  private var release: String? { if case .entry(let entry) = self { entry.release } else { nil } }

  private var reason: String? {
    if case .acceptance(let acceptance) = self { acceptance.reason } else { nil }
  }

  var id: String {
    switch self {
    case .entry(let entry): entry.id
    case .acceptance(let acceptance): acceptance.id
    }
  }
}
