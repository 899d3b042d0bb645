import SchemaManifest
import SchemaSQLText

/// The digests of a frozen migration in the lock.
package struct LockedDigests: Sendable, Hashable {
  package let raw: String
  package let canonical: String
  /// The fingerprint of the schema after the migration.
  package let schema: String
  /// The version of SQLite that computed the fingerprint: `3.40.1`.
  package let sqlite: String

  package init(raw: String, canonical: String, schema: String, sqlite: String) {
    self.raw = raw
    self.canonical = canonical
    self.schema = schema
    self.sqlite = sqlite
  }
}

/// An accepted edit of a frozen migration (`freeze --accept`).
package struct LockAcceptance: Sendable, Hashable {
  /// The canonical digest of the form that the edit replaced.
  package let canonical: String
  package let reason: String
}

/// A frozen migration: one line of the lock.
package struct LockEntry: Sendable, Hashable {
  package let id: String
  /// The release that ships the migration; nil if `freeze` was given none.
  package let release: String?
  package let digests: LockedDigests
  /// The accepted edits, oldest first.
  package let acceptances: [LockAcceptance]

  package init(
    id: String, release: String?, digests: LockedDigests, acceptances: [LockAcceptance] = []
  ) {
    self.id = id
    self.release = release
    self.digests = digests
    self.acceptances = acceptances
  }

  package var number: MigrationNumber { MigrationNumber(id: id) }

  /// The canonical digests of all forms, the current form last.
  package var forms: [String] { acceptances.map(\.canonical) + [digests.canonical] }

  /// Whether this line may replace an older one. It must have the same identity (id, release, canonical and
  /// raw digest), or accept the edit of the older form. It must also contain the older acceptances.
  package func continues(_ older: LockEntry) -> Bool {
    guard id == older.id, release == older.release,
      older.acceptances.allSatisfy(acceptances.contains)
    else { return false }
    return digests.canonical == older.digests.canonical && digests.raw == older.digests.raw
      || acceptances.contains { $0.canonical == older.digests.canonical }
  }

  /// The line with another fingerprint, which is not part of its identity.
  package func withSchema(_ schema: String, sqlite: String) -> LockEntry {
    LockEntry(
      id: id, release: release,
      digests: LockedDigests(
        raw: digests.raw, canonical: digests.canonical, schema: schema, sqlite: sqlite),
      acceptances: acceptances)
  }
}

/// The history lock, format version 2: the released migrations (`docs/history.md`).
///
/// The file has a header, and then one line for each frozen migration. The lines are independent of each
/// other: they are written in the order of the numbers and read in any order.
package struct HistoryLock: Sendable, Equatable {
  package static let fileName = "history.lock"
  static let header = "schemactl history 2"

  /// The lines of the history, in the order of the numbers.
  package private(set) var entries: [LockEntry] = []
  /// The lines outside the current view of the history: usually those of the migrations that a squash
  /// replaces, or the line of the squash, if the view contains the migrations that it replaces.
  package private(set) var aside: [LockEntry] = []
  /// The line number of each id in the file that was read.
  private var lines: [ExactText: Int] = [:]

  /// A lock that freezes nothing.
  package init() {}

  package static func == (a: HistoryLock, b: HistoryLock) -> Bool { a.all == b.all }

  // MARK: Squashes

  /// Every line, in the order of the numbers. The line of a squash follows that of its last migration, which
  /// has the same number.
  package var all: [LockEntry] {
    aside.isEmpty
      ? entries
      : (entries + aside).sorted { a, b in
        a.number == b.number ? b.id == squashID(of: a.id) : a.number < b.number
      }
  }

  /// The line of a migration, even if it is set aside.
  package func anyEntry(_ id: String) -> LockEntry? {
    entry(id) ?? aside.first { $0.id == id }
  }

  /// The lock for a part of the history: exactly the lines for which `isAside` returns true are set aside.
  package func settingAside(_ isAside: (String) -> Bool) -> HistoryLock {
    var lock = self
    let all = all
    lock.entries = all.filter { !isAside($0.id) }
    lock.aside = all.filter { isAside($0.id) }
    return lock
  }

  /// The same, but lines that are already set aside remain so.
  package func alsoSettingAside(_ isAside: (String) -> Bool) -> HistoryLock {
    let hidden = Set(aside.map(\.id.exact))
    return settingAside { hidden.contains($0) || isAside($0) }
  }

  /// Sets aside the lines that the last squash replaces. The squash's line represents the history up to its
  /// number.
  mutating func setSquashedAside() {
    guard !aside.isEmpty else { return }
    let all = all
    let squashes = squashes(among: all.map(\.id))
    guard let squash = all.last(where: { squashes.contains($0.id) }) else { return }
    self = settingAside { id in
      id != squash.id && MigrationNumber(id: id) <= squash.number
    }
  }

  // MARK: Reading

  package func contains(_ id: String) -> Bool { entry(id) != nil }

  package func entry(_ id: String) -> LockEntry? {
    let entry = entry(MigrationNumber(id: id))
    return entry?.id == id ? entry : nil
  }

  package func entry(_ number: MigrationNumber) -> LockEntry? {
    let place = place(of: number)
    return place < entries.count && entries[place].number == number ? entries[place] : nil
  }

  /// The line number, from 1, of the line that freezes the migration; nil if it is not frozen.
  package func line(freezing id: String) -> Int? { lines[id] }

  /// The releases, each with the last migration that was frozen for it, in the order of these migrations.
  package var releases: [(name: String, lastID: String)] {
    var releases: [(name: String, lastID: String)] = []
    for entry in entries {
      guard let name = entry.release else { continue }
      releases.removeAll { $0.name == name }
      releases.append((name, entry.id))
    }
    return releases
  }

  // MARK: Writing

  /// Adds a line for a migration.
  ///
  /// - Throws: `LockError` if the line could not be read back, or if the lock already freezes the migration
  ///   or its number.
  package mutating func freeze(_ entry: LockEntry) throws(LockError) {
    try insert(try entry.readBack(), line: all.count + 2)
    setSquashedAside()
  }

  /// Replaces the line of a migration to accept its edit.
  package mutating func accept(
    _ id: String, _ digests: LockedDigests, reason: String
  ) throws(LockError) {
    let place = place(of: MigrationNumber(id: id))
    guard let older = entry(id) else {
      throw LockError(line: 1, "`\(id)` is not frozen, so no edit of it can be accepted")
    }
    entries[place] = try LockEntry(
      id: id, release: older.release, digests: digests,
      acceptances: older.acceptances
        + [LockAcceptance(canonical: older.digests.canonical, reason: reason)]
    ).readBack()
  }

  /// Replaces the line of a migration by a line that continues it.
  package mutating func replace(with entry: LockEntry) {
    guard contains(entry.id) else { return }
    entries[place(of: entry.number)] = entry
  }

  package func rendered() -> [UInt8] {
    Array((Self.header + "\n" + all.map { $0.text + "\n" }.joined()).utf8)
  }

  /// - Parameter line: the number of the line in the file.
  package mutating func insert(_ entry: LockEntry, line: Int) throws(LockError) {
    if let first = aside.first(where: { $0.id == entry.id }) {
      throw duplicate(entry, line: line, of: first)
    }
    let place = place(of: entry.number)
    if place < entries.count, entries[place].number == entry.number {
      let first = entries[place]
      let isSquash = entry.id == squashID(of: first.id)
      if isSquash || first.id == squashID(of: entry.id) {
        aside.append(isSquash ? entry : first)
        entries[place] = isSquash ? first : entry
        lines[entry.id] = line
        return
      }
      throw duplicate(entry, line: line, of: first)
    }
    entries.insert(entry, at: place)
    lines[entry.id] = line
  }

  private func duplicate(_ entry: LockEntry, line: Int, of first: LockEntry) -> LockError {
    let isSame = entry.digests.canonical == first.digests.canonical
    let message =
      entry.id == first.id && isSame && entry.release != first.release
      ? "two lines freeze `\(entry.id)` in the same form for different releases: keep the line of "
        + "the earlier release, and delete the other line"
      : entry.id == first.id
        ? "two lines freeze `\(entry.id)`: keep the line and the manifest of the released form, "
          + "and put the other change into a new migration"
        : "two migrations have the number \(entry.number), `\(first.id)` and `\(entry.id)`: "
          + "remove the line of the unreleased migration, renumber that migration (`schemactl "
          + "renumber ID`) and freeze it again"
    return LockError(
      line: line, message,
      details: [
        "line \(lines[first.id] ?? 0): \(first.summary)", "line \(line): \(entry.summary)",
      ])
  }

  /// The index of the first entry whose number is not smaller than `number`.
  private func place(of number: MigrationNumber) -> Int {
    entries.partition { $0.number >= number }
  }
}

/// Whether the text can name a release: 1 to 64 ASCII letters, digits, `.`, `_`, `+` or `-`, but not `-`
/// alone, which means "no release".
package func isReleaseName(_ text: String) -> Bool {
  (1...64).contains(text.utf8.count) && text != "-"
    && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "._+-".utf8.contains($0) }
}

/// Why a history lock cannot be read, or why a line cannot be written to it.
package struct LockError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Whether the format has a version that this program does not know.
  package let isNewerVersion: Bool
  package let position: Position
  /// The problem and what to do, without the position.
  package let message: String
  /// The conflicting lines, if the message is about several lines.
  package let details: [String]

  package init(
    line: Int, column: Int = 1, _ message: String, details: [String] = [],
    isNewerVersion: Bool = false
  ) {
    self.isNewerVersion = isNewerVersion
    position = Position(line: line, column: column)
    self.message = message
    self.details = details
  }

  package var description: String { "line \(position.line): \(message)" }
}
