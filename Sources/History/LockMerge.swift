import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Two locks that were frozen on two branches, as one.
///
/// Where both sides hold one line with another release, layout or reason, that of the merged branch
/// stays: it is the one that others go on from.
package struct LockMerge: Sendable {
  private struct Line {
    let line: LockLine
    /// The other branch's migrations come before it, and count for its fingerprint.
    let isStale: Bool
  }

  /// What both begin with.
  private let common: HistoryLock
  /// What comes after. Each side's lines keep their order, accepted edits stand as far behind as
  /// that allows.
  private let lines: [Line]
  /// What our lines said otherwise, in sentences.
  package let dropped: [String]
  /// What only our side has frozen.
  package let own: [String]
  /// Of that, what comes before something that the other one has.
  package let early: [String]
  /// Whether neither side's migrations all come after the other's: then some database has run
  /// them in another order.
  package let isInterleaved: Bool

  /// - Parameter file: the lock's path, as commands have to name it.
  /// - Throws: two migrations with one number, or two edits of one that were both accepted.
  package init(
    ours: HistoryLock, theirs: HistoryLock, file: String = HistoryLock.fileName
  ) throws(LockError) {
    let shared = zip(ours.lines, theirs.lines).prefix { $0 == $1 }.count
    let (mine, others) = (
      Array(ours.lines.dropFirst(shared)), Array(theirs.lines.dropFirst(shared))
    )
    var common = HistoryLock()
    for (index, line) in ours.lines.prefix(shared).enumerated() {
      try common.append(line, line: LockFormat.headerLines.count + index + 1)
    }
    self.common = common

    let pairs = try Self.pairs(mine, others, file)
    dropped = pairs.compactMap { pair in
      mine[pair.ours].difference(from: others[pair.theirs]).map {
        "\(others[pair.theirs].subject): both branches have it, this one \($0); the line of the "
          + "branch that is being merged stays"
      }
    }
    let both = (ours: Set(pairs.map(\.ours)), theirs: Set(pairs.map(\.theirs)))
    let onlyMine = mine.indices.filter { !both.ours.contains($0) }.map { mine[$0] }
    let onlyOthers = others.indices.filter { !both.theirs.contains($0) }.map { others[$0] }
    let first = (ours: onlyMine.numbers.min(), theirs: onlyOthers.numbers.min())
    lines =
      Self.inOrder(
        onlyMine.map { Line(line: $0, isStale: $0.comes(after: first.theirs)) },
        others.map { Line(line: $0, isStale: $0.comes(after: first.ours)) })

    own = onlyMine.filter(\.isEntry).map(\.id)
    early = onlyMine.filter { line in
      line.isEntry && others.numbers.contains { MigrationNumber(id: line.id) < $0 }
    }.map(\.id)
    isInterleaved =
      !early.isEmpty
      && onlyOthers.contains { line in
        line.isEntry && mine.numbers.contains { MigrationNumber(id: line.id) < $0 }
      }
  }

  /// The places of the lines that both sides have.
  private static func pairs(
    _ mine: [LockLine], _ others: [LockLine], _ file: String
  ) throws(LockError) -> [(ours: Int, theirs: Int)] {
    var pairs: [(ours: Int, theirs: Int)] = []
    for (place, line) in others.enumerated() where line.isEntry {
      let number = MigrationNumber(id: line.id)
      guard
        let rival = mine.firstIndex(where: { $0.isEntry && MigrationNumber(id: $0.id) == number })
      else { continue }
      guard mine[rival].holdsTheSame(as: line) else {
        throw mine[rival].id == line.id
          ? twoForms(of: line, file) : dispute(over: number, mine, others, file)
      }
      pairs.append((rival, place))
    }
    func places(_ lines: [LockLine], _ id: String) -> [Int] {
      lines.indices.filter { !lines[$0].isEntry && lines[$0].id == id }
    }
    for id in Set(others.filter { !$0.isEntry }.map(\.id.exact)).sorted().map(\.text) {
      let (a, b) = (places(mine, id), places(others, id))
      guard let first = b.first, !a.isEmpty else { continue }
      guard a.count == b.count, zip(a, b).allSatisfy({ mine[$0].holdsTheSame(as: others[$1]) })
      else { throw twoForms(of: others[first], file) }
      pairs += zip(a, b).map { ($0, $1) }
    }
    return pairs
  }

  /// Both, by the numbers of what they freeze.
  private static func inOrder(_ ours: [Line], _ theirs: [Line]) -> [Line] {
    var (a, b) = (ours[...], theirs[...])
    var lines: [Line] = []
    while !a.isEmpty || !b.isEmpty {
      let next = (a.map(\.line).numbers.first, b.map(\.line).numbers.first)
      let isOurs =
        switch next {
        case (let x?, let y?): x < y
        case (_?, nil): true
        case (nil, _): b.isEmpty
        }
      lines.append(isOurs ? a.removeFirst() : b.removeFirst())
    }
    return lines
  }

  private static func twoForms(of line: LockLine, _ file: String) -> LockError {
    let taking = "\(taking(file)), or keep this one's (the same with `--ours`)"
    let message =
      line.isEntry
      ? "both branches froze \(line.id), each in another form. One of the two must give way: "
        + "\(taking), with its \(line.id).yaml, and put what the other one did into a new migration"
      : "both branches accepted an edit of \(line.id), and not the same one: \(taking), and accept "
        + "again what is to hold"
    return LockError(.duplicate, line: LockFormat.headerLines.count + 1, message)
  }

  /// What gives way moves as a whole: a later one of the same branch may need an earlier one.
  private static func dispute(
    over number: MigrationNumber, _ mine: [LockLine], _ others: [LockLine], _ file: String
  ) -> LockError {
    func own(_ lines: [LockLine], _ theirs: [LockLine]) -> [String] {
      lines.filter { line in line.isEntry && !theirs.contains { $0.isAbout(line) } }.map(\.id)
    }
    let (ours, theirs) = (own(mine, others), own(others, mine))
    let rivals = (ours + theirs).filter { MigrationNumber(id: $0) == number }
    return LockError(
      .duplicate, line: LockFormat.headerLines.count + 1,
      "both branches froze a migration with the number \(number): "
        + "\(rivals.joined(separator: " and ")). What has not shipped must give way: \(taking(file)) "
        + "and renumber this one's (`\(rebaseCommand(ours))`), or keep this branch's (the same with "
        + "`--ours`) and renumber the other one's (`\(rebaseCommand(theirs))`); then freeze it anew"
    )
  }

  /// How the other branch's lock becomes this one's.
  package static func taking(_ file: String) -> String {
    let lock = shellQuoted(file)
    return "take the other branch's lock (`git checkout --theirs -- \(lock) && git add \(lock)`)"
  }

  /// What comes after the common beginning, in its order.
  package var entries: [LockEntry] {
    lines.compactMap { if case .entry(let entry) = $0.line { entry } else { nil } }
  }

  /// Whether the fingerprints of some lines have to be computed again.
  package var needsReplay: Bool { lines.contains(where: \.isStale) }

  /// - Parameters:
  ///   - fingerprints: of the schema after each migration, replayed in the order of the numbers.
  ///   - sqlite: the version that made them.
  package func lock(
    fingerprints: [ExactText: String], sqlite: String
  ) throws(LockError) -> HistoryLock {
    var lock = common
    for (index, line) in lines.enumerated() {
      // Only the newest form of a migration is there to be replayed.
      let isNewest = !lines[(index + 1)...].contains { $0.line.id == line.line.id }
      let number = LockFormat.headerLines.count + lock.lines.count + 1
      if line.isStale, isNewest, let schema = fingerprints[line.line.id] {
        try lock.append(line.line.withFingerprint(schema, sqlite), line: number)
      } else {
        try lock.append(line.line, line: number)
      }
    }
    return lock
  }
}

extension [LockLine] {
  /// Of what they freeze.
  fileprivate var numbers: [MigrationNumber] {
    filter(\.isEntry).map { MigrationNumber(id: $0.id) }
  }
}

extension LockLine {
  var isEntry: Bool { if case .entry = self { true } else { false } }

  fileprivate func comes(after number: MigrationNumber?) -> Bool {
    number.map { $0 < MigrationNumber(id: id) } ?? false
  }

  fileprivate func withFingerprint(_ schema: String, _ sqlite: String) -> LockLine {
    func changed(_ digests: LockedDigests) -> LockedDigests {
      LockedDigests(
        raw: digests.raw, canonical: digests.canonical, schema: schema, sqlite: sqlite)
    }
    switch self {
    case .entry(let entry):
      return .entry(
        LockEntry(id: entry.id, release: entry.release, digests: changed(entry.digests)))
    case .acceptance(let acceptance):
      return .acceptance(
        LockAcceptance(
          id: acceptance.id, digests: changed(acceptance.digests), reason: acceptance.reason))
    }
  }
}

// MARK: Conflicts

/// The two sides of a lock whose merge is in conflict.
package struct LockConflict: Sendable {
  package let ours: HistoryLock
  package let theirs: HistoryLock

  /// What either side has frozen.
  package var frozenIDs: Set<ExactText> { Set((ours.entries + theirs.entries).map(\.id.exact)) }

  package init(ours: [UInt8], theirs: [UInt8]) throws(LockError) {
    self.ours = try Self.parse(ours, "our side of the conflict")
    self.theirs = try Self.parse(theirs, "their side of the conflict")
  }

  private static func parse(_ bytes: [UInt8], _ side: String) throws(LockError) -> HistoryLock {
    do throws(LockError) {
      return try HistoryLock(parsing: bytes)
    } catch {
      throw LockError(error.kind, line: error.line, "\(side): \(error.message)")
    }
  }

  /// Takes a text apart at the marks that git leaves in it; nil when it holds none.
  ///
  /// - Parameter file: the lock's path, as commands have to name it.
  /// - Throws: marks that do not stand in their order, or a side that is no lock.
  package init?(
    marked bytes: [UInt8], file: String = HistoryLock.fileName
  ) throws(LockError) {
    enum Part { case both, ours, base, theirs }
    var part = Part.both
    var (ours, theirs): ([UInt8], [UInt8]) = ([], [])
    var isMarked = false
    let lines = readingCRLFAsLF(bytes).split(separator: lineFeed, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      // The last line's end ends the file.
      let text = index + 1 < lines.count ? Array(line) + [lineFeed] : Array(line)
      guard let mark = line.first, line.count >= 7, line.prefix(7).allSatisfy({ $0 == mark }),
        "<|=>".utf8.contains(mark)
      else {
        if part == .both || part == .ours { ours += text }
        if part == .both || part == .theirs { theirs += text }
        continue
      }
      isMarked = true
      let isWhole = line.count == 7 || line[line.startIndex + 7] == UInt8(ascii: " ")
      switch (mark, part) {
      case (UInt8(ascii: "<"), .both) where isWhole: part = .ours
      case (UInt8(ascii: "|"), .ours) where isWhole: part = .base
      case (UInt8(ascii: "="), .ours) where isWhole, (UInt8(ascii: "="), .base) where isWhole:
        part = .theirs
      case (UInt8(ascii: ">"), .theirs) where isWhole: part = .both
      default:
        throw LockError(
          .mergeConflict, line: index + 1,
          "the marks of the merge conflict are nested or broken; make git write them again "
            + "(`git checkout -m -- \(shellQuoted(file))`)")
      }
    }
    guard isMarked else { return nil }
    guard part == .both else {
      throw LockError(
        .mergeConflict, line: lines.count,
        "the merge conflict has no end; make git write its marks again "
          + "(`git checkout -m -- \(shellQuoted(file))`)")
    }
    try self.init(ours: ours, theirs: theirs)
  }
}

extension MigrationFolder {
  /// The two sides of the lock, from git's index or from the marks in the file; nil when the lock
  /// is in no conflict.
  package func lockConflict() throws(HistoryReadError) -> LockConflict? {
    let stages = try stages()
    let bytes = try lockBytes() ?? []
    do throws(LockError) {
      if let ours = stages?[2], let theirs = stages?[3] {
        return try LockConflict(ours: ours, theirs: theirs)
      }
      if let stages, !stages.isEmpty {
        throw LockError(
          .mergeConflict, line: 1,
          "one of the branches has removed the lock: what is frozen stays frozen; take the other "
            + "one's (`git checkout \(stages[2] == nil ? "--theirs" : "--ours") -- "
            + "\(shellQuoted(lockFile))`)")
      }
      return try LockConflict(marked: bytes, file: lockFile)
    } catch {
      throw .brokenLock(file: lockFile, error)
    }
  }

  /// What git's index holds of a merge; nil where there is no git to ask. One that fails has not said
  /// that there is no conflict.
  private func stages() throws(HistoryReadError) -> [Int: [UInt8]]? {
    do throws(GitError) {
      return try GitRepository(containing: path).conflict(in: HistoryLock.fileName)
    } catch {
      guard error.kind == .failed else { return nil }
      throw .unreadable(
        FileError(
          path: lockFile, systemError: EIO,
          message: "may be in a merge conflict, and git cannot be asked: \(error.message)"))
    }
  }

  /// What may not be renumbered: what the lock has frozen, and while it is in conflict, what either
  /// side has. What the branch that is being merged has frozen may have shipped, whatever the lock
  /// says by now.
  ///
  /// A side that was chosen ends the conflict before git is told so, but for ours: with `-merge`
  /// the file is ours from the beginning.
  package func frozenIDs() throws(HistoryReadError) -> Set<ExactText> {
    let conflict = try lockConflict()
    let chosen = conflict == nil ? try lock() : try? lock()
    let isChosen = conflict.map { chosen != nil && chosen != $0.ours } ?? true
    if let conflict, !isChosen { return conflict.frozenIDs }
    return Set(chosen?.entries.map(\.id.exact) ?? []).union(openMerge()?.keepingTheirNumbers ?? [])
  }
}
