import History
import ManifestFormat
import SchemaModel
import Testing

private func digests(_ seed: String, sqlite: String = "3.40.1") -> LockedDigests {
  LockedDigests(
    raw: digest("raw \(seed)"), canonical: digest("canonical \(seed)"),
    schema: digest("schema \(seed)"), sqlite: sqlite)
}

private func exampleLock() throws(LockError) -> HistoryLock {
  var lock = HistoryLock()
  try lock.freeze(LockEntry(id: "0001_create_lists", release: "1.0", digests: digests("a")))
  try lock.freeze(LockEntry(id: "0002_größe", release: nil, digests: digests("b")))
  try lock.accept(
    LockAcceptance(
      id: "0001_create_lists", digests: digests("c", sqlite: "3.51.0"),
      reason: "a \"typo\" in C:\\temp,\n\tnobody has run it \u{1} \u{7F} – ok"))
  try lock.freeze(LockEntry(id: "10_status", release: "1.1-beta+2", digests: digests("d")))
  return lock
}

private func parse(_ text: String) throws -> HistoryLock {
  try HistoryLock(parsing: Array(text.utf8))
}

private func lockError(_ bytes: some Sequence<UInt8>) -> LockError? {
  do throws(LockError) {
    _ = try HistoryLock(parsing: Array(bytes))
    return nil
  } catch {
    return error
  }
}

@Suite("The history lock")
struct HistoryLockTests {
  @Test("version 1 is written so, for ever")
  func golden() throws {
    let text = String(decoding: try exampleLock().rendered(), as: UTF8.self)
    #expect(text == goldenLock)
    #expect(SHA256.hex(text.utf8) == goldenLockDigest)
  }

  @Test("what is written is read, and written again byte for byte")
  func roundTrip() throws {
    for lock in [HistoryLock(), try exampleLock()] {
      let read = try HistoryLock(parsing: lock.rendered())
      #expect(read == lock)
      #expect(read.rendered() == lock.rendered())
    }
  }

  @Test("CRLF is read as LF")
  func lineEnds() throws {
    let text = String(decoding: try exampleLock().rendered(), as: UTF8.self)
    #expect(try parse(text.replacing("\n", with: "\r\n")) == exampleLock())
  }

  @Test("no byte can be changed, added or removed without being noticed")
  func everyByte() throws {
    // A line of each kind: the time needed grows with the square of the length.
    var original = HistoryLock()
    try original.freeze(LockEntry(id: "1_é", release: "1.0", digests: digests("a")))
    try original.accept(LockAcceptance(id: "1_é", digests: digests("b"), reason: "\"x\"\n"))
    let bytes = original.rendered()
    func check(_ changed: [UInt8], _ what: String) {
      guard let read = try? HistoryLock(parsing: changed) else { return }
      // CR before LF is all that may be different.
      let withoutCR = String(decoding: changed, as: UTF8.self).replacing("\r\n", with: "\n")
      #expect(read == original && Array(withoutCR.utf8) == bytes, "\(what)")
    }
    for index in bytes.indices {
      for value in [bytes[index] ^ 1, bytes[index] ^ 0x20, 0x0D, 0x20, 0xFF]
      where value != bytes[index] {
        var changed = bytes
        changed[index] = value
        check(changed, "byte \(index) became \(value)")
      }
      for value in [bytes[index], 0x0A, 0x0D, 0x20] {
        var longer = bytes
        longer.insert(value, at: index)
        check(longer, "\(value) came before byte \(index)")
      }
      var shorter = bytes
      shorter.remove(at: index)
      check(shorter, "byte \(index) was removed")
    }
    for value: UInt8 in [0, 0x0A, 0x0D, 0x20, 0x61] {
      check(bytes + [value], "\(value) at the end")
    }
  }

  @Test("lines that are removed, doubled or exchanged break the chain")
  func everyLine() throws {
    let lines = String(decoding: try exampleLock().rendered(), as: UTF8.self)
      .split(separator: "\n").map { $0 + "\n" }
    for index in lines.indices {
      var doubled = lines
      doubled.insert(lines[index], at: index)
      #expect(lockError(doubled.joined().utf8) != nil)
      guard index + 1 < lines.count else { continue }
      var shorter = lines
      shorter.remove(at: index)
      #expect(lockError(shorter.joined().utf8) != nil)
      var exchanged = lines
      exchanged.swapAt(index, index + 1)
      #expect(lockError(exchanged.joined().utf8) != nil)
    }
  }

  @Test("a broken chain is found at the line that was changed")
  func brokenChain() throws {
    let text = String(decoding: try exampleLock().rendered(), as: UTF8.self)
    let error = lockError(text.replacing("release=-", with: "release=2").utf8)
    #expect(error?.kind == .brokenChain)
    #expect(error?.line == 5)
    #expect(error?.description.hasPrefix("line 5: the chain is broken") == true)
    #expect(
      error?.diagnostic(file: "history.lock").description.hasPrefix("history.lock:5:1") == true)
  }

  @Test(
    "a file that is no lock of this version is refused",
    arguments: [
      ("", LockError.Kind.header, 1),
      ("\n", .header, 1),
      ("# schemactl history lock, version 2\nwhatever\n", .newerVersion, 1),
      ("# schemactl history lock, version 10\n", .newerVersion, 1),
      ("# schemactl history lock, version 0\n", .header, 1),
      ("# schemactl history lock, version 01\n", .header, 1),
      ("# schemactl history lock, version \n", .header, 1),
      ("# schemactl history lock, version 1\n", .header, 2),
      ("# schemactl history lock, version 1\n# other\n", .header, 2),
      ("\u{FEFF}# schemactl history lock, version 1\n", .header, 1),
    ])
  func header(text: String, kind: LockError.Kind, line: Int) {
    #expect(lockError(text.utf8)?.kind == kind)
    #expect(lockError(text.utf8)?.line == line)
  }

  @Test("merge-conflict markers are named before anything else")
  func mergeConflict() throws {
    var lines = String(decoding: try exampleLock().rendered(), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    lines.insert("<<<<<<< HEAD", at: 4)
    lines.insert("=======", at: 6)
    lines.insert(">>>>>>> other", at: 8)
    let error = lockError((lines.joined(separator: "\n") + "\n").utf8)
    #expect(error?.kind == .mergeConflict)
    #expect(
      error?.description
        == "line 5: a merge conflict stands here: run `schemactl freeze --resolve`"
    )
    #expect(lockError("<<<<<<< HEAD\n".utf8)?.kind == .mergeConflict)
  }

  @Test("frozen migrations ascend, each once")
  func order() throws {
    var lock = try exampleLock()
    func kind(_ id: String) -> LockError.Kind? {
      do throws(LockError) {
        try lock.freeze(LockEntry(id: id, release: nil, digests: digests("x")))
        return nil
      } catch {
        return error.kind
      }
    }
    #expect(kind("0001_create_lists") == .duplicate)
    #expect(kind("10_status") == .duplicate)
    #expect(kind("9_late") == .order)
    #expect(kind("010_same_number") == .order)
    #expect(lock == (try exampleLock()))
    #expect(kind("0011_next") == nil)
  }

  @Test(
    "a lock whose chain is right is refused when it is out of order, doubled or accepts nothing")
  func consistentButWrong() throws {
    let entry = try HistoryLock(freezing: [Migration("2_b", "b")])
    let text = String(decoding: entry.rendered(), as: UTF8.self)
    let header = text.split(separator: "\n").prefix(3).map { $0 + "\n" }.joined()
    func chained(_ lines: [String]) -> String {
      var chain = digest(header)
      return lines.reduce(into: header) { result, line in
        chain = digest(chain + "\n" + line)
        result += "\(line) chain=\(chain)\n"
      }
    }
    let hash = digest("x")
    let tail = "raw=\(hash) canonical=\(hash) schema=\(hash) sqlite=3.40.1"
    let first = "2_b release=- \(tail)"
    #expect(lockError(chained([first]).utf8) == nil)
    let cases: [(String, LockError.Kind)] = [
      (first, .duplicate), ("1_a release=- \(tail)", .order), ("02_c release=- \(tail)", .order),
      ("accept 3_c \(tail) reason=\"x\"", .unknownMigration),
      ("accept 2_b \(tail) reason=\"\"", .malformed),
      ("accept 2_b \(tail) reason=\"\\u0041\"", .malformed),
      ("accept 2_b \(tail) reason=\"\\", .malformed),
      ("accept 2_b \(tail) reason=\"\\ud800\"", .malformed),
      ("accept 2_b \(tail) reason=\"x\" ", .malformed),
      ("accept 2_b \(tail) reason=x", .malformed), ("accept 2_b \(tail)", .malformed),
      ("accept", .malformed), ("", .malformed), ("3_c", .malformed),
      ("3_c  release=- \(tail)", .malformed), ("3_c release= \(tail)", .malformed),
      ("3_c release=\(String(repeating: "x", count: 65)) \(tail)", .malformed),
      ("three release=- \(tail)", .malformed), ("3_c release=- \(tail).", .malformed),
      ("3_c release=- \(tail) more=1", .malformed),
      ("3_c release=- raw=\(hash.uppercased()) canonical=\(hash)", .malformed),
    ]
    for (line, kind) in cases {
      let error = lockError(chained([first, line]).utf8)
      #expect(error?.kind == kind, "\(line)")
      #expect(error?.line == 5, "\(line)")
    }
    #expect(lockError(chained([first, "3_c release=v-1 \(tail)"]).utf8) == nil)
  }

  @Test("what could not be read again is not written")
  func invalidValues() throws {
    let good = digests("x")
    let bad = [
      LockEntry(id: "no_number", release: nil, digests: good),
      LockEntry(id: "1_a b", release: nil, digests: good),
      LockEntry(id: "1_a", release: "-", digests: good),
      LockEntry(id: "1_a", release: "", digests: good),
      LockEntry(id: "1_a", release: "1 0", digests: good),
      LockEntry(id: "1_a", release: "é", digests: good),
      LockEntry(id: "1_a", release: nil, digests: digests("x", sqlite: "3")),
      LockEntry(id: "1_a", release: nil, digests: digests("x", sqlite: "3.40 ")),
      LockEntry(
        id: "1_a", release: nil,
        digests: LockedDigests(
          raw: good.raw.uppercased(), canonical: good.canonical, schema: good.schema,
          sqlite: good.sqlite)),
    ]
    for entry in bad {
      var lock = HistoryLock()
      #expect(throws: LockError.self, "\(entry)") { try lock.freeze(entry) }
      #expect(lock == HistoryLock())
    }
    var lock = try exampleLock()
    #expect(throws: LockError.self) {
      try lock.accept(LockAcceptance(id: "10_status", digests: good, reason: " \n"))
    }
  }

  @Test("the newest accepted digests hold, the older ones stay known")
  func effective() throws {
    var lock = try exampleLock()
    let id = "0001_create_lists"
    #expect(lock.effectiveEntry(id)?.digests == digests("c", sqlite: "3.51.0"))
    #expect(lock.effectiveEntry(id)?.release == "1.0")
    #expect(lock.knownDigests(id) == [digests("a"), digests("c", sqlite: "3.51.0")])
    try lock.accept(LockAcceptance(id: id, digests: digests("e"), reason: "again"))
    #expect(lock.effectiveEntry(id)?.digests == digests("e"))
    #expect(lock.knownDigests(id).count == 3)
    #expect(lock.entries.first?.digests == digests("a"))
    #expect(lock.effectiveEntry("10_status")?.digests == digests("d"))
    #expect(lock.effectiveEntry("3_none") == nil)
    #expect(lock.knownDigests("3_none").isEmpty)
    #expect(try HistoryLock(parsing: lock.rendered()) == lock)
  }

  @Test("releases come in the order of their last migrations")
  func releases() throws {
    var lock = HistoryLock()
    for (id, release) in [("1_a", "1.0"), ("2_b", "1.0"), ("3_c", nil), ("4_d", "1.1")] {
      try lock.freeze(LockEntry(id: id, release: release, digests: digests(id)))
    }
    #expect(
      lock.releases == [
        LockRelease(name: "1.0", lastID: "2_b"), LockRelease(name: "1.1", lastID: "4_d"),
      ])
    try lock.freeze(LockEntry(id: "5_e", release: "1.0", digests: digests("e")))
    #expect(lock.releases.map(\.name) == ["1.1", "1.0"])
  }

  @Test("a folder's lock is written and read; no file is no lock")
  func file() throws {
    let temporary = try TemporaryFolder()
    #expect(try temporary.folder.lock() == nil)
    try temporary.folder.write(try exampleLock())
    #expect(try temporary.names() == ["history.lock"])
    #expect(try temporary.folder.lock() == exampleLock())
    try temporary.write("history.lock", "broken")
    #expect {
      try temporary.folder.lock()
    } throws: { error in
      if case HistoryReadError.brokenLock(let file, let error) = error {
        file == temporary.path("history.lock") && error.kind == .header
      } else {
        false
      }
    }
  }
}

// Made by hand from the description of the format, not by the code under test.
private let goldenLock = #"""
  # schemactl history lock, version 1
  # The migrations that have shipped, and may not change any more.
  # `schemactl freeze` writes this file; it is not edited by hand.
  0001_create_lists release=1.0 \#
  raw=23a17b581379e1a95386e9305aaeb3d05ae5697e7487475d54fd26ca130240c6 \#
  canonical=5bcb023723ce123ebbdc736909d7975d3b9600fe469587b0697ef808ccc3f61b \#
  schema=4aebe72e6f19a797dd6225ea4836b6104ae46f9f47e52607a07a0cf42e95297f sqlite=3.40.1 \#
  chain=d5ecab9c9b4ec017041f072c68a3920f10022139f22d4a310dd7ef14c0e27f29
  0002_größe release=- raw=406b72e0476a6eaa6dcd4ecb88a0b66b9760577a23a115994d22c33d0ed3270d \#
  canonical=a75b2808160584a7682a104129e34241e75a3e3fc6644518dc45bdec324e7981 \#
  schema=1772f66e7ac252a9addf1374519ef248b3694e643807e461e4405a3eb183df90 sqlite=3.40.1 \#
  chain=e467f31613897804e80e3af1e69c2d37117f09cf5045bdf7cc858706c35e97d6
  accept 0001_create_lists \#
  raw=ea898a31821e957d5a8774efdc4b5b9858d59e584359f7007cdd54f3d2716495 \#
  canonical=8bf3c0284c1f92d2be1c74b96e79397f3f1173a40fb3172ffe8bb9128559c0ef \#
  schema=1318f9fb70e680c89997074e545ec19f36ec3e2151f51198e1871ee06ccae72f sqlite=3.51.0 \#
  reason="a \"typo\" in C:\\temp,\n\tnobody has run it \u0001 \u007f – ok" \#
  chain=3b9235f3e3d151da5ad030cd9bd1d38c58d0589ecd113b1f89ef15100b9bcaec
  10_status release=1.1-beta+2 \#
  raw=a192121c14fbb6ea87b53df916e6242a1457037606197ca3735d13833056702e \#
  canonical=0c543594e3ef0ad742ac7247e905feb2e878aaa43da38ce16e5861877e8cf163 \#
  schema=1d6cfd231073eea87f37daebd9d244dfb409cbcfd84bc07eb43306cf934096a8 sqlite=3.40.1 \#
  chain=cd363b0da0d6425d08315bad41572f3adcc9137847ca3a6ab810acfac25dcff4

  """#

/// What `sha256sum` says of the file.
private let goldenLockDigest =
  "f25006bdb64dc0e37cfd9d36fe7aa17bf4a85abc5409aea5db66edc17bb3b823"
