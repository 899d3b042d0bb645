import SchemaManifest
import SchemaSQLText

// The text of a lock: version 2, version 1, or a file with git's conflict markers.

extension HistoryLock {
  /// The repair that `freeze` made to read a lock.
  package enum Repair: String, Sendable, Hashable {
    /// Both sides of a merge conflict were joined.
    case joined
    /// Version 1 was converted.
    case converted
  }

  /// Reads the bytes of a lock, with CRLF as LF. Accepts only lines that `rendered()` writes, in any order.
  package init(parsing bytes: [UInt8]) throws(LockError) {
    let lines = try sourceLines(bytes)
    if let line = lines.first(where: { ConflictMarker($0) != nil }) {
      throw LockError(
        line: line.number,
        "merge conflict markers: run `schemactl freeze`, which joins both sides")
    }
    if isVersion1(lines) {
      throw LockError(
        line: 1,
        "the lock is in version 1 of the format: run `schemactl freeze` once, which converts it")
    }
    try self.init(version2: lines)
  }

  /// Reads the lock of another revision, which may be in version 1.
  package init(parsingAnyVersion bytes: [UInt8]) throws(LockError) {
    try self.init(anyVersion: try sourceLines(bytes))
  }

  /// Reads a lock for `freeze`, which also accepts conflict markers and version 1.
  ///
  /// - Returns: the lock and its repair; the repair is nil for a lock that needs none.
  package static func repairing(
    _ bytes: [UInt8]
  ) throws(LockError) -> (lock: HistoryLock, repair: Repair?) {
    let lines = try sourceLines(bytes)
    guard let (ours, others) = try sides(lines) else {
      return (try HistoryLock(anyVersion: lines), isVersion1(lines) ? .converted : nil)
    }
    var lock = try HistoryLock(anyVersion: ours)
    let theirs = try HistoryLock(anyVersion: others)
    let squashes = squashes(among: lock.all.map(\.id))
    lock = lock.settingAside { squashes.contains($0) }
    for entry in theirs.all {
      let place = lock.anyEntry(entry.id)
      if let place, place.continues(entry) { continue }
      if let place, entry.continues(place) {
        lock.replace(with: entry)
      } else {
        try lock.insert(entry, line: theirs.line(freezing: entry.id) ?? 1)
      }
    }
    lock.setSquashedAside()
    return (lock, .joined)
  }

  private init(anyVersion lines: [LockSourceLine]) throws(LockError) {
    if isVersion1(lines) {
      try self.init(version1: lines)
    } else {
      try self.init(version2: lines)
    }
  }

  private init(version2 lines: [LockSourceLine]) throws(LockError) {
    self.init()
    guard let header = lines.first, header.bytes.elementsEqual(Self.header.utf8) else {
      throw headerError(lines.first)
    }
    for line in lines.dropFirst() { try insert(LockEntry(parsing: line), line: line.number) }
    setSquashedAside()
  }
}

/// The lines of a file, without their line ends. Fails if the last line has no line end.
private func sourceLines(_ bytes: [UInt8]) throws(LockError) -> [LockSourceLine] {
  let lines = readingCRLFAsLF(bytes).split(separator: .lineFeed, omittingEmptySubsequences: false)
  guard let rest = lines.last, rest.isEmpty else {
    throw LockError(
      line: lines.count, column: (lines.last?.count ?? 0) + 1,
      "the last line has no line end: the file is truncated; restore it from git")
  }
  return lines.dropLast().enumerated().map { LockSourceLine(number: $0 + 1, bytes: $1) }
}

private func headerError(_ line: LockSourceLine?) -> LockError {
  let start = "schemactl history "
  if let line, line.bytes.starts(with: start.utf8) {
    let version = String(decoding: line.bytes.dropFirst(start.utf8.count), as: UTF8.self)
    if version.utf8.allSatisfy(\.isDigit), !version.hasPrefix("0"), version != "1", !version.isEmpty
    {
      return LockError(
        line: 1, column: start.utf8.count + 1,
        "a newer schemactl wrote version \(version) of the format: use that version",
        isNewerVersion: true)
    }
  }
  return LockError(
    line: line?.number ?? 1,
    "the file is not a history lock: the first line must be `\(HistoryLock.header)`; restore it from "
      + "git")
}

// MARK: Conflicts

private enum ConflictMarker: UInt8 {
  case ours = 0x3C
  case base = 0x7C
  case theirs = 0x3D
  case end = 0x3E

  /// A marker is the same character seven times, then a space or the end of the line.
  init?(_ line: LockSourceLine) {
    guard let first = line.bytes.first, line.bytes.prefix(7).count == 7,
      line.bytes.prefix(7).allSatisfy({ $0 == first }),
      line.bytes.dropFirst(7).first.map({ $0 == UInt8(ascii: " ") }) ?? true
    else { return nil }
    self.init(rawValue: first)
  }
}

/// The two sides of a file with conflict markers; nil if it has none. The base part of the diff3 and zdiff3
/// styles belongs to neither side. It may contain markers of an older conflict.
private func sides(
  _ lines: [LockSourceLine]
) throws(LockError) -> (ours: [LockSourceLine], theirs: [LockSourceLine])? {
  var (ours, theirs): ([LockSourceLine], [LockSourceLine]) = ([], [])
  var (part, isMarked) = (ConflictMarker.end, false)
  for line in lines {
    let marker = ConflictMarker(line)
    isMarked = isMarked || marker != nil
    switch (part, marker) {
    case (.end, nil):
      ours.append(line)
      theirs.append(line)
    case (.ours, nil): ours.append(line)
    case (.theirs, nil): theirs.append(line)
    case (.end, .ours), (.ours, .base), (.ours, .theirs), (.base, .theirs), (.theirs, .end):
      part = marker ?? part
    case (.base, _): continue
    default:
      throw LockError(
        line: line.number,
        "the conflict markers are nested or incomplete: let git write them again (`git checkout -m`)"
      )
    }
  }
  guard part == .end else {
    throw LockError(
      line: lines.last?.number ?? 1,
      "the conflict markers are incomplete: let git write them again (`git checkout -m`)")
  }
  return isMarked ? (ours, theirs) : nil
}

// MARK: Version 1

private func isVersion1(_ lines: [LockSourceLine]) -> Bool {
  lines.first?.bytes.elementsEqual("# schemactl history lock, version 1".utf8) == true
}

extension HistoryLock {
  /// Reads the lines of version 1: `ID release=… raw=… canonical=… schema=… sqlite=… chain=…`, and
  /// `accept ID raw=… canonical=… schema=… sqlite=… reason="…" chain=…`. Its chain is not checked.
  fileprivate init(version1 lines: [LockSourceLine]) throws(LockError) {
    self.init()
    for line in lines where line.bytes.first != UInt8(ascii: "#") {
      var reader = LockLineReader(line)
      let isAcceptance = line.bytes.starts(with: "accept ".utf8)
      if isAcceptance { try reader.skip("accept ") }
      let id = try reader.id()
      let release = isAcceptance ? nil : try reader.release()
      let (raw, canonical) = (try reader.digest("raw"), try reader.digest("canonical"))
      let digests = LockedDigests(
        raw: raw, canonical: canonical, schema: try reader.digest("schema"),
        sqlite: try reader.sqliteVersion())
      if isAcceptance {
        try accept(id, digests, reason: try reader.reason())
      } else {
        try insert(LockEntry(id: id, release: release, digests: digests), line: line.number)
      }
      _ = try reader.digest("chain")
    }
  }
}

// MARK: Lines

extension LockEntry {
  /// The line, without its line end.
  var text: String {
    "\(id) release=\(release ?? "-") canonical=\(digests.canonical) raw=\(digests.raw) "
      + "schema=\(digests.schema) sqlite=\(digests.sqlite)"
      + acceptances.map { " accepted=\($0.canonical) reason=\(quoted($0.reason))" }.joined()
  }

  /// The line for a message: its identity, with short digests.
  package var summary: String {
    "\(id) release=\(release ?? "-") canonical=\(digests.canonical.prefix(10)) "
      + "raw=\(digests.raw.prefix(10))"
      + acceptances.map { " accepted=\($0.canonical.prefix(10)) reason=\(quoted($0.reason))" }
      .joined()
  }

  /// Returns this entry if its line can be read back.
  func readBack() throws(LockError) -> LockEntry {
    let entry = try LockEntry(parsing: LockSourceLine(number: 1, bytes: Array(text.utf8)[...]))
    guard entry == self else {
      throw LockError(
        line: 1, "schemactl cannot read back the line that it would write for `\(id)`")
    }
    return entry
  }

  /// Reads a line of version 2, which must be exactly as `text` writes it.
  init(parsing line: LockSourceLine) throws(LockError) {
    var reader = LockLineReader(line)
    let id = try reader.id()
    let release = try reader.release()
    let canonical = try reader.digest("canonical")
    let raw = try reader.digest("raw")
    let schema = try reader.digest("schema")
    let sqlite = try reader.sqliteVersion()
    var acceptances: [LockAcceptance] = []
    while !reader.isAtEnd {
      let accepted = try reader.digest("accepted")
      acceptances.append(LockAcceptance(canonical: accepted, reason: try reader.reason()))
    }
    self.init(
      id: id, release: release,
      digests: LockedDigests(raw: raw, canonical: canonical, schema: schema, sqlite: sqlite),
      acceptances: acceptances)
    let common = zip(text.utf8, line.bytes).prefix { $0 == $1 }.count
    guard common == line.bytes.count else {
      throw line.error(
        "`schemactl freeze` writes this character differently", at: line.bytes.startIndex + common)
    }
  }
}

/// A line of a file, without its line end.
struct LockSourceLine {
  /// The line number, from 1.
  let number: Int
  let bytes: ArraySlice<UInt8>

  func error(_ message: String, at place: ArraySlice<UInt8>.Index) -> LockError {
    LockError(
      line: number, column: place - bytes.startIndex + 1,
      "\(message); restore the line from git")
  }
}

/// Reads the parts of a line from left to right.
struct LockLineReader {
  private let line: LockSourceLine
  private var rest: ArraySlice<UInt8>

  init(_ line: LockSourceLine) {
    self.line = line
    rest = line.bytes
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func id() throws(LockError) -> String {
    let start = rest.startIndex
    let id = word()
    if let problem = problem(ofMigrationID: id) {
      throw line.error("`\(id)` is not a migration id: \(problem)", at: start)
    }
    return id
  }

  mutating func release() throws(LockError) -> String? {
    let release = try value("release") { $0 == "-" || isReleaseName($0) }
    return release == "-" ? nil : release
  }

  mutating func digest(_ key: String) throws(LockError) -> String {
    try value(key) { isDigest($0.utf8) }
  }

  mutating func sqliteVersion() throws(LockError) -> String {
    try value("sqlite", isSQLiteVersion)
  }

  /// Reads the reason, a JSON string.
  mutating func reason() throws(LockError) -> String {
    try skip(" reason=\"")
    let start = rest.startIndex
    var text: [UInt8] = []
    while rest.first != UInt8(ascii: "\"") {
      guard let byte = rest.popFirst() else {
        throw line.error("the reason has no closing quote", at: start)
      }
      text += byte == UInt8(ascii: "\\") ? try escapedBytes() : [byte]
    }
    let reason = String(decoding: text, as: UTF8.self)
    guard !reason.allSatisfy(\.isWhitespace) else {
      throw line.error("the reason is empty", at: start)
    }
    rest.removeFirst()
    return reason
  }

  private mutating func escapedBytes() throws(LockError) -> [UInt8] {
    switch rest.popFirst() {
    case UInt8(ascii: "n"): return [.lineFeed]
    case UInt8(ascii: "r"): return [.carriageReturn]
    case UInt8(ascii: "t"): return [UInt8(ascii: "\t")]
    case UInt8(ascii: "u"):
      let digits = rest.prefix(4)
      rest = rest.dropFirst(4)
      guard let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
        let scalar = Unicode.Scalar(value)
      else { throw line.error("the escape is not a Unicode character", at: digits.startIndex) }
      return Array(String(scalar).utf8)
    case .some(let byte): return [byte]
    case nil: throw line.error("the reason has no closing quote", at: line.bytes.endIndex)
    }
  }

  /// Reads up to the next space.
  private mutating func word() -> String {
    let word = rest.prefix { $0 != UInt8(ascii: " ") }
    rest = rest[word.endIndex...]
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func value(
    _ key: String, _ isValid: (String) -> Bool
  ) throws(LockError) -> String {
    try skip(" \(key)=")
    let start = rest.startIndex
    let value = word()
    guard isValid(value) else {
      throw line.error("`\(value)` is not a valid value of `\(key)`", at: start)
    }
    return value
  }

  mutating func skip(_ text: String) throws(LockError) {
    guard rest.starts(with: text.utf8) else {
      throw line.error("expected `\(text)`", at: rest.startIndex)
    }
    rest = rest.dropFirst(text.utf8.count)
  }
}

/// Whether the text is two to four numbers with dots between them.
private func isSQLiteVersion(_ text: String) -> Bool {
  let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
  return (2...4).contains(parts.count)
    && parts.allSatisfy { (1...9).contains($0.count) && $0.allSatisfy(\.isDigit) }
}

/// The text as a JSON string on one line. Invisible characters and characters that change the text direction
/// are escaped, so that the lock shows exactly what it contains.
private func quoted(_ text: String) -> String {
  doubleQuoted(text) { scalar in
    switch scalar {
    // Control characters, bidirectional marks, and characters without width.
    case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{AD}", "\u{61C}", "\u{180E}",
      "\u{200B}"..."\u{200F}", "\u{2028}"..."\u{202E}", "\u{2060}"..."\u{206F}", "\u{FEFF}":
      scalar.lineEscape ?? scalar.shortEscape
    default: nil
    }
  }
}
