import SchemaManifest
import SchemaSQLText

// A lock as a file holds it: version 2, version 1, or with git's conflict markers.

extension HistoryLock {
  /// What `freeze` had to do to read a lock.
  package enum Repair: String, Sendable, Hashable {
    /// Both sides of a merge conflict were joined.
    case joined
    /// Version 1 was converted.
    case converted
  }

  /// Reads a lock's bytes, CRLF as LF. Only what `rendered()` writes is accepted, in any order.
  package init(parsing bytes: [UInt8]) throws(LockError) {
    let lines = try sourceLines(bytes)
    if let line = lines.first(where: { ConflictMarker($0) != nil }) {
      throw LockError(
        .mergeConflict, line: line.number,
        "merge conflict markers: run `schemactl freeze`, which joins both sides")
    }
    if isVersion1(lines) {
      throw LockError(
        .olderVersion, line: 1,
        "the lock is in version 1 of the format: run `schemactl freeze` once, which converts it")
    }
    try self.init(version2: lines)
  }

  /// Reads the lock of another revision, which may be in version 1.
  package init(parsingAnyVersion bytes: [UInt8]) throws(LockError) {
    try self.init(anyVersion: try sourceLines(bytes))
  }

  /// Reads a lock as `freeze` does: with conflict markers, or in version 1, too.
  ///
  /// - Parameter advice: what to do when the sides of a conflict froze different migrations with one
  ///   number.
  /// - Returns: the lock, and what had to be done; nil for a lock that needs nothing.
  package static func repairing(
    _ bytes: [UInt8], advice: String? = nil
  ) throws(LockError) -> (lock: HistoryLock, repair: Repair?) {
    guard let (ours, theirs) = try conflictSides(bytes) else {
      let lines = try sourceLines(bytes)
      return (try HistoryLock(anyVersion: lines), isVersion1(lines) ? .converted : nil)
    }
    var lock = ours
    let squashes = squashes(among: lock.all.map(\.id))
    lock = lock.settingAside { squashes.contains($0) }
    for entry in theirs.all {
      let place = lock.anyEntry(entry.id)
      if let place, place.continues(entry) { continue }
      if let place, entry.continues(place) {
        lock.replace(with: entry)
      } else {
        try lock.insert(entry, line: theirs.line(freezing: entry.id) ?? 1, advice: advice)
      }
    }
    lock.setSquashedAside()
    return (lock, .joined)
  }

  /// The locks of both sides of a merge conflict; nil without markers.
  package static func conflictSides(
    _ bytes: [UInt8]
  ) throws(LockError) -> (ours: HistoryLock, theirs: HistoryLock)? {
    guard let (ours, theirs) = try sides(sourceLines(bytes)) else { return nil }
    return (try HistoryLock(anyVersion: ours), try HistoryLock(anyVersion: theirs))
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

/// The lines of a file, each with its line end.
private func sourceLines(_ bytes: [UInt8]) throws(LockError) -> [LockSourceLine] {
  let lines = readingCRLFAsLF(bytes).split(separator: lineFeed, omittingEmptySubsequences: false)
  guard let rest = lines.last, rest.isEmpty else {
    throw LockError(
      lines.count == 1 ? .header : .malformed, line: lines.count,
      column: (lines.last?.count ?? 0) + 1,
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
        .newerVersion, line: 1, column: start.utf8.count + 1,
        "version \(version) of the format was written by a newer schemactl: use that one")
    }
  }
  return LockError(
    .header, line: line?.number ?? 1,
    "not a history lock: the first line must be `\(HistoryLock.header)`; restore the file from git")
}

// MARK: Conflicts

private enum ConflictMarker: UInt8 {
  case ours = 0x3C
  case base = 0x7C
  case theirs = 0x3D
  case end = 0x3E

  /// Seven of one character, and then nothing or a space.
  init?(_ line: LockSourceLine) {
    guard let first = line.bytes.first, line.bytes.prefix(7).count == 7,
      line.bytes.prefix(7).allSatisfy({ $0 == first }),
      line.bytes.dropFirst(7).first.map({ $0 == UInt8(ascii: " ") }) ?? true
    else { return nil }
    self.init(rawValue: first)
  }
}

/// The two sides of a file with conflict markers; nil without any. The base part of the diff3 and zdiff3
/// styles, which may hold markers of an older conflict, belongs to neither.
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
        .mergeConflict, line: line.number,
        "the conflict markers are nested or incomplete: let git write them again (`git checkout -m`)"
      )
    }
  }
  guard part == .end else {
    throw LockError(
      .mergeConflict, line: lines.last?.number ?? 1,
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

/// Why a history lock cannot be read, or why a line cannot be written to it.
package struct LockError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    case header
    /// Version 1 of the format, which `freeze` converts.
    case olderVersion
    /// A format version that this program does not know.
    case newerVersion
    /// The markers that git writes where two branches changed the same lines.
    case mergeConflict
    case malformed
    /// Two lines with one id or one number.
    case duplicate
  }

  package let kind: Kind
  package let position: Position
  /// The problem and what to do, without the position.
  package let message: String
  /// The lines that the message is about, where it is about several.
  package let details: [String]

  package init(
    _ kind: Kind, line: Int, column: Int = 1, _ message: String, details: [String] = []
  ) {
    self.kind = kind
    position = Position(line: line, column: column)
    self.message = message
    self.details = details
  }

  package var description: String { "line \(position.line): \(message)" }

  package func diagnostic(file: String) -> Diagnostic {
    Diagnostic(file: file, position: position, message: message)
  }
}
