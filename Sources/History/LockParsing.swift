import SQLText

extension HistoryLock {
  /// Reads a lock's bytes, CRLF as LF.
  ///
  /// Nothing but what `rendered()` writes is accepted: neither other spaces nor other escapes.
  package init(parsing bytes: [UInt8]) throws(LockError) {
    self.init()
    var lines = readingCRLFAsLF(bytes).split(separator: lineFeed, omittingEmptySubsequences: false)
    let rest = lines.removeLast()
    try refuseMergeConflicts(in: lines + [rest])
    try checkHeader(lines)
    guard rest.isEmpty else {
      throw LockError(
        .malformed, line: lines.count + 1, "the line has no end: the file was cut off\(nextStep)")
    }
    var chain = LockFormat.headerDigest
    for (index, line) in lines.enumerated().dropFirst(LockFormat.headerLines.count) {
      var reader = LockLineReader(line, number: index + 1)
      let parsed = try reader.read()
      chain = LockFormat.chain(after: chain, reader.body)
      guard reader.chain.elementsEqual(chain.utf8) else {
        throw LockError(
          .brokenChain, line: index + 1,
          "the chain is broken: this line, or one before it, was changed, removed or added"
            + nextStep)
      }
      try append(parsed, line: index + 1)
    }
  }
}

private let nextStep =
  "; restore the file from git (`git log -p -- \(HistoryLock.fileName)` shows what changed it)"

private func refuseMergeConflicts(in lines: [ArraySlice<UInt8>]) throws(LockError) {
  let marks = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
  for (index, line) in lines.enumerated()
  where marks.contains(where: { line.starts(with: $0.utf8) }) {
    throw LockError(
      .mergeConflict, line: index + 1,
      "a merge conflict stands here: run `schemactl freeze --resolve`")
  }
}

private func checkHeader(_ lines: [ArraySlice<UInt8>]) throws(LockError) {
  if let first = lines.first, first.starts(with: LockFormat.versionLine.utf8) {
    let version = first.dropFirst(LockFormat.versionLine.utf8.count)
    let isNumber = version.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if isNumber, let leading = version.first, leading != UInt8(ascii: "0"),
      !version.elementsEqual("1".utf8)
    {
      throw LockError(
        .newerVersion, line: 1,
        "written by a newer schemactl, in version \(String(decoding: version, as: UTF8.self)) of "
          + "the format, which this one does not know: use the newer schemactl")
    }
  }
  for (index, expected) in LockFormat.headerLines.enumerated() {
    guard index < lines.count, lines[index].elementsEqual(expected.utf8) else {
      throw LockError(
        .header, line: index + 1,
        "this is no history lock, or its header was changed: the line must be `\(expected)`"
          + nextStep)
    }
  }
}

/// Takes a line apart from left to right.
private struct LockLineReader {
  /// The line without its chain digest.
  let body: ArraySlice<UInt8>
  let chain: ArraySlice<UInt8>
  private let number: Int
  private let line: ArraySlice<UInt8>
  private var rest: ArraySlice<UInt8>

  init(_ line: ArraySlice<UInt8>, number: Int) {
    let separator = " chain="
    self.line = line
    self.number = number
    chain = line.suffix(64)
    body = line.dropLast(64 + separator.utf8.count)
    rest = body
  }

  mutating func read() throws(LockError) -> LockLine {
    guard String(validating: line, as: UTF8.self) != nil else {
      throw malformed("the line is not UTF-8")
    }
    guard line.dropFirst(body.count).dropLast(chain.count).elementsEqual(" chain=".utf8),
      isDigest(String(decoding: chain, as: UTF8.self))
    else {
      throw malformed("the line must end in ` chain=` and 64 lower-case hexadecimal digits")
    }
    let first = word()
    let parsed = first == "accept" ? try acceptance() : try entry(id: first)
    if let problem = parsed.problem { throw malformed(problem) }
    guard parsed.text.utf8.elementsEqual(body) else {
      throw malformed("the line is not written as `schemactl freeze` writes it")
    }
    return parsed
  }

  private mutating func entry(id: String) throws(LockError) -> LockLine {
    let release = try value("release")
    return .entry(
      LockEntry(id: id, release: release == "-" ? nil : release, digests: try digests()))
  }

  private mutating func acceptance() throws(LockError) -> LockLine {
    try skip(" ")
    let id = word()
    let digests = try digests()
    try skip(" reason=")
    return .acceptance(LockAcceptance(id: id, digests: digests, reason: try quotedText()))
  }

  private mutating func digests() throws(LockError) -> LockedDigests {
    LockedDigests(
      raw: try value("raw"), canonical: try value("canonical"), schema: try value("schema"),
      sqlite: try value("sqlite"))
  }

  /// Up to the next space.
  private mutating func word() -> String {
    let word = rest.prefix { $0 != UInt8(ascii: " ") }
    rest = rest[word.endIndex...]
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func value(_ key: String) throws(LockError) -> String {
    try skip(" \(key)=")
    return word()
  }

  private mutating func skip(_ text: String) throws(LockError) {
    guard rest.starts(with: text.utf8) else { throw malformed("`\(text)` is missing") }
    rest = rest.dropFirst(text.utf8.count)
  }

  /// A JSON string. That it is written the one right way, and that nothing follows it, shows when
  /// the line is rendered again.
  private mutating func quotedText() throws(LockError) -> String {
    try skip("\"")
    var text: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      text.append(byte == UInt8(ascii: "\\") ? try escapedByte() : byte)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escapedByte() throws(LockError) -> UInt8 {
    switch rest.popFirst() {
    case UInt8(ascii: "n"): return lineFeed
    case UInt8(ascii: "r"): return carriageReturn
    case UInt8(ascii: "t"): return UInt8(ascii: "\t")
    case UInt8(ascii: "u"):
      let digits = rest.prefix(4)
      rest = rest.dropFirst(4)
      guard let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), byte < 0x80
      else { throw malformed("the reason has an unknown escape") }
      return byte
    case .some(let byte): return byte
    case nil: throw malformed("the reason has no end")
    }
  }

  private func malformed(_ message: String) -> LockError {
    LockError(.malformed, line: number, message + nextStep)
  }
}
