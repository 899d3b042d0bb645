import SQLText
import SchemaModel

/// What the lock holds about one form of a migration.
package struct LockedDigests: Sendable, Hashable {
  package let raw: String
  package let canonical: String
  /// The fingerprint of the schema after the migration.
  package let schema: String
  /// The SQLite that made the fingerprint: `3.40.1`.
  package let sqlite: String

  package init(raw: String, canonical: String, schema: String, sqlite: String) {
    self.raw = raw
    self.canonical = canonical
    self.schema = schema
    self.sqlite = sqlite
  }
}

/// A frozen migration.
package struct LockEntry: Sendable, Hashable {
  package let id: String
  /// The release that shipped it, nil when `freeze` was told none.
  package let release: String?
  package let digests: LockedDigests

  package init(id: String, release: String?, digests: LockedDigests) {
    self.id = id
    self.release = release
    self.digests = digests
  }
}

/// An edit of a frozen migration that somebody answers for (`freeze --accept`).
package struct LockAcceptance: Sendable, Hashable {
  package let id: String
  /// What the edit made of the migration.
  package let digests: LockedDigests
  package let reason: String

  package init(id: String, digests: LockedDigests, reason: String) {
    self.id = id
    self.digests = digests
    self.reason = reason
  }
}

/// A release and the last migration that was frozen for it.
package struct LockRelease: Sendable, Hashable {
  package let name: String
  package let lastID: String

  package init(name: String, lastID: String) {
    self.name = name
    self.lastID = lastID
  }
}

/// The history lock, format version 1: what has shipped (`docs/history.md`).
///
/// A header, then a line for each frozen migration in the order of the numbers, with a line for
/// each accepted edit anywhere behind the one it edits. Each line ends in a chain digest: SHA-256 of
/// the chain digest of the line before (of the header, for the first line), LF, and the line's text
/// up to ` chain=`. Every digest is lower-case hexadecimal.
package struct HistoryLock: Sendable, Hashable {
  package static let fileName = "history.lock"

  /// In the order of the file.
  private(set) var lines: [LockLine] = []
  private var entriesByID: [ExactText: LockEntry] = [:]
  private var acceptancesByID: [ExactText: [LockAcceptance]] = [:]

  /// A lock that freezes nothing.
  package init() {}

  // MARK: Reading

  /// What is frozen, in the order of the numbers.
  package var entries: [LockEntry] {
    lines.compactMap { if case .entry(let entry) = $0 { entry } else { nil } }
  }

  /// Accepted edits, in the order in which they were accepted.
  package var acceptances: [LockAcceptance] {
    lines.compactMap { if case .acceptance(let acceptance) = $0 { acceptance } else { nil } }
  }

  package func contains(_ id: String) -> Bool { entriesByID[id] != nil }

  /// The accepted edits of one migration, oldest first.
  package func acceptances(of id: String) -> [LockAcceptance] { acceptancesByID[id] ?? [] }

  /// The entry with the digests that hold now: those of the newest accepted edit.
  package func effectiveEntry(_ id: String) -> LockEntry? {
    guard let entry = entriesByID[id] else { return nil }
    guard let newest = acceptancesByID[id]?.last else { return entry }
    return LockEntry(id: id, release: entry.release, digests: newest.digests)
  }

  /// Every form of the migration that the lock knows, oldest first; the last one holds now.
  package func knownDigests(_ id: String) -> [LockedDigests] {
    guard let entry = entriesByID[id] else { return [] }
    return [entry.digests] + acceptances(of: id).map(\.digests)
  }

  /// The releases, in the order of their last migrations.
  package var releases: [LockRelease] {
    var releases: [LockRelease] = []
    for entry in entries {
      guard let name = entry.release else { continue }
      releases.removeAll { $0.name == name }
      releases.append(LockRelease(name: name, lastID: entry.id))
    }
    return releases
  }

  // MARK: Writing

  /// Adds a line for a migration that ships.
  ///
  /// - Throws: `LockError` when the lock could not be read again: an id or a digest that is none,
  ///   a migration that is frozen already or comes before one that is.
  package mutating func freeze(_ entry: LockEntry) throws(LockError) {
    try append(.entry(entry), line: nextLine)
  }

  /// Adds a line that makes an edited form the one that holds.
  package mutating func accept(_ acceptance: LockAcceptance) throws(LockError) {
    try append(.acceptance(acceptance), line: nextLine)
  }

  package func rendered() -> [UInt8] {
    var bytes = Array(LockFormat.header.utf8)
    var chain = LockFormat.headerDigest
    for line in lines {
      let text = line.text
      chain = LockFormat.chain(after: chain, text.utf8)
      bytes += text.utf8
      bytes += " chain=\(chain)\n".utf8
    }
    return bytes
  }

  private var nextLine: Int { LockFormat.headerLines.count + lines.count + 1 }

  mutating func append(_ line: LockLine, line number: Int) throws(LockError) {
    if let problem = line.problem { throw LockError(.malformed, line: number, problem) }
    switch line {
    case .entry(let entry):
      try checkPlace(of: entry.id, line: number)
      entriesByID[entry.id] = entry
    case .acceptance(let acceptance):
      guard contains(acceptance.id) else {
        throw LockError(
          .unknownMigration, line: number,
          "an edit of \(acceptance.id) is accepted, but no line before freezes it")
      }
      acceptancesByID[acceptance.id, default: []].append(acceptance)
    }
    lines.append(line)
  }

  private func checkPlace(of id: String, line: Int) throws(LockError) {
    if contains(id) {
      throw LockError(.duplicate, line: line, "\(id) is frozen already, by a line before")
    }
    guard let last = lines.lastEntryID, MigrationNumber(id: last) >= MigrationNumber(id: id) else {
      return
    }
    throw LockError(
      .order, line: line,
      "\(id) comes after \(last), but its number is not greater: frozen migrations ascend")
  }
}

extension [LockLine] {
  fileprivate var lastEntryID: String? {
    for line in reversed() {
      if case .entry(let entry) = line { return entry.id }
    }
    return nil
  }
}

/// Whether the text can name a release: 1 to 64 ASCII letters, digits, `.`, `_`, `+` or `-`, not
/// `-` alone, which stands for none.
package func isReleaseName(_ text: String) -> Bool {
  (1...64).contains(text.utf8.count) && text != "-"
    && text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "+"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
}
