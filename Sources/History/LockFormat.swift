import SQLText
import SchemaModel
import SQLite

/// What is fixed in version 1 of the lock's format.
enum LockFormat {
  static let versionLine = "# schemactl history lock, version "

  static let headerLines = [
    versionLine + "1",
    "# The migrations that have shipped, and may not change any more.",
    "# `schemactl freeze` writes this file; it is not edited by hand.",
  ]

  static let header = headerLines.map { $0 + "\n" }.joined()

  static let headerDigest = SHA256.hex(header.utf8)

  static func chain(after previous: String, _ text: some Sequence<UInt8>) -> String {
    SHA256.hex(Array(previous.utf8) + CollectionOfOne(lineFeed) + text)
  }
}

/// A line of the lock behind the header.
enum LockLine: Sendable, Hashable {
  case entry(LockEntry)
  case acceptance(LockAcceptance)

  /// The line without its chain digest.
  var text: String {
    switch self {
    case .entry(let entry):
      "\(entry.id) release=\(entry.release ?? "-") \(Self.text(of: entry.digests))"
    case .acceptance(let acceptance):
      "accept \(acceptance.id) \(Self.text(of: acceptance.digests)) "
        + "reason=\(quoted(acceptance.reason))"
    }
  }

  private static func text(of digests: LockedDigests) -> String {
    "raw=\(digests.raw) canonical=\(digests.canonical) schema=\(digests.schema) "
      + "sqlite=\(digests.sqlite)"
  }

  /// Why the line would not be read again as it is, nil when it would.
  var problem: String? {
    switch self {
    case .entry(let entry):
      if let release = entry.release, !isReleaseName(release) {
        return "`\(release)` is no release name: 1 to 64 letters, digits, `.`, `_`, `+`, `-`"
      }
      return Self.problem(id: entry.id, entry.digests)
    case .acceptance(let acceptance):
      if acceptance.reason.allSatisfy(\.isWhitespace) { return "the reason is empty" }
      return Self.problem(id: acceptance.id, acceptance.digests)
    }
  }

  private static func problem(id: String, _ digests: LockedDigests) -> String? {
    if let problem = History.problem(ofMigrationID: id) {
      return "`\(id)` is no migration: \(problem)"
    }
    for (name, digest) in [
      ("raw", digests.raw), ("canonical", digests.canonical), ("schema", digests.schema),
    ] where !isDigest(digest) {
      return "`\(name)` is no digest: 64 lower-case hexadecimal digits"
    }
    if !isSQLiteVersion(digests.sqlite) {
      return "`\(digests.sqlite)` is no version of SQLite, like \(Connection.libraryVersion)"
    }
    return nil
  }
}

/// Numbers with dots between them.
private func isSQLiteVersion(_ text: String) -> Bool {
  let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
  return (2...4).contains(parts.count)
    && parts.allSatisfy { part in
      (1...9).contains(part.count)
        && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

/// The text as a JSON string on one line.
private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case "\0"..<" ", "\u{7F}":
      result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
