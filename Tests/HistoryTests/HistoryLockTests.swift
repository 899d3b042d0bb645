import SchemaHistory
import SchemaManifest
import Testing

func lockedDigests(_ seed: String, sqlite: String = "3.40.1") -> LockedDigests {
  LockedDigests(
    raw: digest("raw \(seed)"), canonical: digest("canonical \(seed)"),
    schema: digest("schema \(seed)"), sqlite: sqlite)
}

private let hostileReason =
  "a \"typo\" in C:\\temp,\n\tnobody has run it \u{1} \u{7F} \u{202E}\u{2066}\u{200F}\u{85} – ok"

private func exampleLock() throws(LockError) -> HistoryLock {
  var lock = HistoryLock()
  try lock.freeze(LockEntry(id: "10_status", release: "1.1-beta+2", digests: lockedDigests("d")))
  try lock.freeze(LockEntry(id: "0002_größe", release: nil, digests: lockedDigests("b")))
  try lock.freeze(LockEntry(id: "0001_create_lists", release: "1.0", digests: lockedDigests("a")))
  try lock.accept(
    "0001_create_lists", lockedDigests("c", sqlite: "3.51.0"), reason: hostileReason)
  return lock
}

private func parse(_ text: String) throws -> HistoryLock {
  try HistoryLock(parsing: Array(text.utf8))
}

func lockError(_ bytes: some Sequence<UInt8>) -> LockError? {
  do throws(LockError) {
    _ = try HistoryLock(parsing: Array(bytes))
    return nil
  } catch {
    return error
  }
}

@Suite("The history lock")
struct HistoryLockTests {
  @Test("the format of version 2 never changes")
  func golden() throws {
    let text = String(decoding: try exampleLock().rendered(), as: UTF8.self)
    #expect(text == goldenLock)
  }

  @Test("the written lock can be read and written again byte for byte")
  func roundTrip() throws {
    for lock in [HistoryLock(), try exampleLock()] {
      let read = try HistoryLock(parsing: lock.rendered())
      #expect(read == lock)
      #expect(read.rendered() == lock.rendered())
    }
    #expect(
      try exampleLock().entry("0001_create_lists")?.acceptances.map(\.reason) == [hostileReason])
  }

  @Test("the order of the lines makes no difference")
  func anyOrder() throws {
    let lines = goldenLock.split(separator: "\n")
    let reversed = [lines[0]] + lines.dropFirst().reversed()
    let lock = try parse(reversed.joined(separator: "\n") + "\n")
    #expect(lock == (try exampleLock()))
    #expect(lock.line(freezing: "0001_create_lists") == 4)
    #expect(String(decoding: lock.rendered(), as: UTF8.self) == goldenLock)
  }

  @Test("CRLF is read as LF")
  func lineEnds() throws {
    #expect(try parse(goldenLock.replacing("\n", with: "\r\n")) == exampleLock())
  }

  @Test(
    "a file of another kind or version is refused",
    arguments: [
      ("", "not a history lock", 1), ("\n", "not a history lock", 1),
      ("schemactl history 3\nwhatever\n", "a newer schemactl wrote version 3", 1),
      ("schemactl history 10\n", "a newer schemactl wrote version 10", 1),
      ("schemactl history 0\n", "not a history lock", 1),
      ("schemactl history 02\n", "not a history lock", 1),
      ("schemactl history \n", "not a history lock", 1),
      ("schemactl history 1\n", "not a history lock", 1), ("# other\n", "not a history lock", 1),
      ("\u{FEFF}schemactl history 2\n", "not a history lock", 1),
      ("# schemactl history lock, version 1\n", "in version 1 of the format", 1),
      ("schemactl history 2\n<<<<<<< HEAD\n", "merge conflict markers", 2),
      ("schemactl history 2\n0001_a", "truncated", 2),
    ])
  func header(text: String, message: String, line: Int) throws {
    let error = try #require(lockError(text.utf8))
    #expect(error.message.contains(message))
    #expect(error.isNewerVersion == message.hasPrefix("a newer"))
    #expect(error.position.line == line)
  }

  @Test("an invalid line is reported by line and column, in bytes")
  func columns() throws {
    let hash = digest("x")
    let good = "3_é release=- canonical=\(hash) raw=\(hash) schema=\(hash) sqlite=3.40.1"
    #expect(lockError("schemactl history 2\n\(good)\n".utf8) == nil)
    let end = good.utf8.count
    let cases: [(String, Int)] = [
      ("", 1), ("three release=-", 1), ("3_é", 5), ("3_é  release=-", 5), ("3_é release= ", 14),
      (good.replacing("release=-", with: "release=a/b"), 14),
      (good.replacing("canonical=", with: "kanonical="), 15),
      (good.replacing("canonical=\(hash)", with: "canonical=\(hash.uppercased())"), 26),
      (good.replacing("3.40.1", with: "3"), end - 5), (good + " ", end + 1),
      (good + " more=1", end + 1), (good + " accepted=\(hash)", end + 75),
      (good + " accepted=\(hash) reason=x", end + 75),
      (good + " accepted=\(hash) reason=\"\"", end + 84),
      (good + " accepted=\(hash) reason=\"x", end + 84),
      (good + " accepted=\(hash) reason=\"x\\", end + 86),
      (good + " accepted=\(hash) reason=\"x\\u0041\"", end + 85),
      (good + " accepted=\(hash) reason=\"x\\ud800\"", end + 87),
      (good + " accepted=\(hash) reason=\"\u{202E}x\"", end + 84),
      (good + " accepted=\(hash) reason=\"x\" ", end + 86),
    ]
    for (line, column) in cases {
      let error = lockError("schemactl history 2\n\(line)\n".utf8)
      #expect(error?.position == Position(line: 2, column: column), "\(line)")
    }
    let bytes =
      Array("schemactl history 2\n3_".utf8) + [0xFF] + Array((good.dropFirst(3) + "\n").utf8)
    #expect(lockError(bytes)?.position == Position(line: 2, column: 3))
  }

  @Test("two lines with the same id or number are refused, and both are shown")
  func duplicates() throws {
    let lines = goldenLock.split(separator: "\n")
    let twice = lockError((goldenLock + lines[2] + "\n").utf8)
    #expect(twice?.message.contains("two lines freeze `0002_größe`") == true)
    #expect(twice?.position.line == 5)
    let places = twice?.details.map { String($0.prefix(19)) }
    #expect(places == ["line 3: 0002_größe ", "line 5: 0002_größe "])
    let number = lockError(
      (goldenLock + lines[2].replacing("0002_größe", with: "02_b") + "\n").utf8)
    #expect(number?.message.contains("the number 2, `0002_größe` and `02_b`") == true)
    #expect(number?.message.contains("schemactl renumber") == true)
  }

  @Test("text that cannot be read back is not written")
  func invalidValues() throws {
    let good = lockedDigests("x")
    let bad = [
      LockEntry(id: "no_number", release: nil, digests: good),
      LockEntry(id: "1_a b", release: nil, digests: good),
      LockEntry(id: "1_a", release: "-", digests: good),
      LockEntry(id: "1_a", release: "", digests: good),
      LockEntry(id: "1_a", release: "1 0", digests: good),
      LockEntry(id: "1_a", release: "é", digests: good),
      LockEntry(id: "1_a", release: nil, digests: lockedDigests("x", sqlite: "3")),
      LockEntry(id: "1_a", release: nil, digests: lockedDigests("x", sqlite: "3.40 ")),
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
    #expect(throws: LockError.self) { try lock.accept("10_status", good, reason: " \n") }
    #expect(throws: LockError.self) { try lock.accept("3_none", good, reason: "x") }
    #expect(throws: LockError.self) {
      try lock.freeze(LockEntry(id: "010_other", release: nil, digests: good))
    }
    #expect(lock == (try exampleLock()))
  }

  @Test("an accepted edit is valid, and all earlier forms remain known")
  func accepted() throws {
    var lock = HistoryLock()
    try lock.freeze(LockEntry(id: "1_a", release: "1.0", digests: lockedDigests("a")))
    var revisions = [lock]
    for seed in ["b", "c", "a"] {
      try lock.accept("1_a", lockedDigests(seed), reason: "to \(seed)")
      revisions.append(lock)
    }
    let forms = ["a", "b", "c", "a"].map { lockedDigests($0).canonical }
    #expect(lock.entry("1_a")?.forms == forms)
    #expect(lock.entry("1_a")?.release == "1.0")
    #expect(try HistoryLock(parsing: lock.rendered()) == lock)
    // A later revision continues every earlier one, but not the reverse.
    for (index, newer) in revisions.enumerated() {
      for (place, older) in revisions.enumerated() {
        let entries = (try #require(newer.entry("1_a")), try #require(older.entry("1_a")))
        #expect(entries.0.continues(entries.1) == (place <= index), "\(index) \(place)")
      }
    }
  }

  @Test("the identity of a line is id, release, canonical and raw digest")
  func identity() throws {
    let digests = lockedDigests("a")
    let entry = LockEntry(id: "1_a", release: "1.0", digests: digests)
    #expect(entry.withSchema(digest("s"), sqlite: "3.51.0").continues(entry))
    let others = [
      LockEntry(id: "1_b", release: "1.0", digests: digests),
      LockEntry(id: "1_a", release: "1.1", digests: digests),
      LockEntry(
        id: "1_a", release: "1.0",
        digests: LockedDigests(
          raw: digest("?"), canonical: digests.canonical, schema: digests.schema,
          sqlite: digests.sqlite)),
    ]
    for other in others { #expect(!other.continues(entry), "\(other)") }
  }

  @Test("releases are sorted by their last migrations")
  func releases() throws {
    var lock = HistoryLock()
    for (id, release) in [("1_a", "1.0"), ("2_b", "1.0"), ("3_c", nil), ("4_d", "1.1")] {
      try lock.freeze(LockEntry(id: id, release: release, digests: lockedDigests(id)))
    }
    #expect(lock.releases.map(\.name) == ["1.0", "1.1"])
    #expect(lock.releases.map(\.lastID) == ["2_b", "4_d"])
    try lock.freeze(LockEntry(id: "5_e", release: "1.0", digests: lockedDigests("e")))
    #expect(lock.releases.map(\.name) == ["1.1", "1.0"])
  }

  @Test("the lock of a folder is written and read; nil if it is missing")
  func file() throws {
    let temporary = try TemporaryFolder()
    #expect(try temporary.folder.lock() == nil)
    try temporary.folder.write(try exampleLock())
    #expect(try temporary.names() == ["history.lock"])
    #expect(try temporary.folder.lock() == exampleLock())
    try temporary.write("history.lock", "broken")
    let failure = #expect(throws: Failure.self) { try temporary.folder.lock() }
    #expect(failure?.status == .brokenHistory)
    #expect(failure?.place?.file == temporary.path("history.lock"))
  }
}

// Written by hand from the specification, not by the tested code.
private let goldenLock = #"""
  schemactl history 2
  0001_create_lists release=1.0 \#
  canonical=8bf3c0284c1f92d2be1c74b96e79397f3f1173a40fb3172ffe8bb9128559c0ef \#
  raw=ea898a31821e957d5a8774efdc4b5b9858d59e584359f7007cdd54f3d2716495 \#
  schema=1318f9fb70e680c89997074e545ec19f36ec3e2151f51198e1871ee06ccae72f sqlite=3.51.0 \#
  accepted=5bcb023723ce123ebbdc736909d7975d3b9600fe469587b0697ef808ccc3f61b \#
  reason="a \"typo\" in C:\\temp,\n\tnobody has run it \u0001 \u007f \u202e\u2066\u200f\u0085 – ok"
  0002_größe release=- \#
  canonical=a75b2808160584a7682a104129e34241e75a3e3fc6644518dc45bdec324e7981 \#
  raw=406b72e0476a6eaa6dcd4ecb88a0b66b9760577a23a115994d22c33d0ed3270d \#
  schema=1772f66e7ac252a9addf1374519ef248b3694e643807e461e4405a3eb183df90 sqlite=3.40.1
  10_status release=1.1-beta+2 \#
  canonical=0c543594e3ef0ad742ac7247e905feb2e878aaa43da38ce16e5861877e8cf163 \#
  raw=a192121c14fbb6ea87b53df916e6242a1457037606197ca3735d13833056702e \#
  schema=1d6cfd231073eea87f37daebd9d244dfb409cbcfd84bc07eb43306cf934096a8 sqlite=3.40.1

  """#
