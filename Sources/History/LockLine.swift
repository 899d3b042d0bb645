import SchemaSQLText

// One line of the lock as text.

extension LockEntry {
  /// The line, without its end.
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

  /// The entry itself, if its line can be read again.
  func readBack() throws(LockError) -> LockEntry {
    let entry = try LockEntry(parsing: LockSourceLine(number: 1, bytes: Array(text.utf8)[...]))
    guard entry == self else {
      throw LockError(.malformed, line: 1, "the line of `\(id)` cannot be read again as it is")
    }
    return entry
  }

  /// Reads a line of version 2, in the one form in which `text` writes it.
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

/// A line of a file, without its end.
struct LockSourceLine {
  /// From 1.
  let number: Int
  let bytes: ArraySlice<UInt8>

  func error(_ message: String, at place: ArraySlice<UInt8>.Index) -> LockError {
    LockError(
      .malformed, line: number, column: place - bytes.startIndex + 1,
      "\(message); restore the line from git")
  }
}

/// Takes a line apart from left to right.
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

  /// A JSON string.
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
    case UInt8(ascii: "n"): return [lineFeed]
    case UInt8(ascii: "r"): return [carriageReturn]
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

  /// Up to the next space.
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

/// Numbers with dots between them.
private func isSQLiteVersion(_ text: String) -> Bool {
  let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
  return (2...4).contains(parts.count)
    && parts.allSatisfy { (1...9).contains($0.count) && $0.allSatisfy(\.isDigit) }
}

/// The text as a JSON string on one line. Characters that are not visible, or that change the direction
/// of the text, are escaped, so that nothing in a lock looks like something else.
private func quoted(_ text: String) -> String {
  doubleQuoted(text) { scalar in
    switch scalar {
    // Controls, bidirectional marks, and what has no width.
    case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{AD}", "\u{61C}", "\u{180E}",
      "\u{200B}"..."\u{200F}", "\u{2028}"..."\u{202E}", "\u{2060}"..."\u{206F}", "\u{FEFF}":
      scalar.lineEscape ?? scalar.shortEscape
    default: nil
    }
  }
}
