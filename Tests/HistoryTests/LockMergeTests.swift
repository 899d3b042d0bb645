import History
import SQLText
import Testing

@Suite("Locks of two branches")
struct LockMergeTests {
  private let common = ["0001_a", "0002_b"]

  private func lock(_ ids: [String], also: [(String, String)] = []) throws -> HistoryLock {
    let migrations = try ids.map { try Migration($0, $0) } + also.map { try Migration($0, $1) }
    return try HistoryLock(freezing: migrations.sorted { $0.number < $1.number })
  }

  private func merged(_ ours: HistoryLock, _ theirs: HistoryLock) throws -> HistoryLock {
    try LockMerge(ours: ours, theirs: theirs).lock(fingerprints: [:], sqlite: "3.40.1")
  }

  @Test("what both froze after a common beginning stands in the order of the numbers, once")
  func order() throws {
    let ours = try lock(common + ["0004_d", "0006_f"])
    let theirs = try lock(common + ["0003_c", "0006_f"])
    let result = try merged(ours, theirs)
    #expect(result == (try lock(common + ["0003_c", "0004_d", "0006_f"])))
    #expect(try merged(theirs, ours) == result)
    #expect(try HistoryLock(parsing: result.rendered()) == result)
  }

  @Test("two sides of which one goes on from the other are the longer one")
  func prefix() throws {
    let (short, long) = (try lock(common), try lock(common + ["0003_c"]))
    #expect(try merged(short, long) == long)
    #expect(try merged(long, short) == long)
  }

  @Test("a number that repeats is refused, and both are named")
  func repeated() throws {
    let error = #expect(throws: LockError.self) {
      try LockMerge(ours: lock(common + ["0003_c"]), theirs: lock(common + ["0003_other"]))
    }
    #expect(error?.message.contains("0003_c and 0003_other") == true)
    let twoForms = #expect(throws: LockError.self) {
      try LockMerge(
        ours: lock(common, also: [("0003_c", "x")]), theirs: lock(common, also: [("0003_c", "y")]))
    }
    #expect(twoForms?.message.contains("0003_c, each in another form") == true)
  }

  @Test("fingerprints are made anew only behind the first line that another branch's comes before")
  func fingerprints() throws {
    let ours = try lock(common + ["0003_c", "0005_e"])
    let theirs = try lock(common + ["0004_d"])
    let new = digest("replayed")
    let result = try LockMerge(ours: ours, theirs: theirs).lock(
      fingerprints: ["0003_c": new, "0004_d": new, "0005_e": new], sqlite: "3.50.0")
    let schemas = result.entries.dropFirst(2).map(\.digests.schema)
    #expect(schemas == [digest("schema of 0003_c"), new, new])
  }

  @Test("one branch's migrations between the other's are told of")
  func interleaved() throws {
    func isInterleaved(_ ours: [String], _ theirs: [String]) throws -> Bool {
      try LockMerge(ours: lock(common + ours), theirs: lock(common + theirs)).isInterleaved
    }
    #expect(try isInterleaved(["0003_c"], ["0004_d"]) == false)
    #expect(try isInterleaved(["0004_d"], ["0003_c"]) == false)
    #expect(try isInterleaved(["0003_c", "0005_e"], ["0004_d"]))
  }

  @Test("an edit that one side accepted stays accepted")
  func accepted() throws {
    var ours = try lock(common)
    let edited = try Migration("0001_a", "edited").digests
    try ours.accept(LockAcceptance(id: "0001_a", digests: edited, reason: "why"))
    let result = try merged(ours, try lock(common + ["0003_c"]))
    #expect(result.acceptances(of: "0001_a").map(\.reason) == ["why"])
    #expect(result.contains("0003_c"))

    var theirs = try lock(common)
    let other = try Migration("0001_a", "otherwise").digests
    try theirs.accept(LockAcceptance(id: "0001_a", digests: other, reason: "no"))
    #expect(throws: LockError.self) { try merged(ours, theirs) }
  }

  @Test(
    "each side's lines keep their order, and accepted edits stand behind the other's migrations")
  func acceptedBehind() throws {
    var ours = try lock(common)
    try ours.accept(
      LockAcceptance(
        id: "0002_b", digests: Migration("0002_b", "edited").digests, reason: "why"))
    let theirs = try lock(common + ["0003_c"])
    for (a, b) in [(ours, theirs), (theirs, ours)] {
      let result = try merged(a, b)
      #expect(result.rendered().starts(with: theirs.rendered()))
      for side in [ours, theirs] {
        #expect(result.divergence(from: side, named: "main", restoring: "`x`") == nil)
      }
    }
    try ours.freeze(
      LockEntry(id: "0004_d", release: nil, digests: Migration("0004_d", "d").digests))
    let between = try merged(ours, try lock(common + ["0003_c", "0005_e"]))
    #expect(between.entries.map(\.id) == common + ["0003_c", "0004_d", "0005_e"])
    #expect(try HistoryLock(parsing: between.rendered()) == between)
  }

  @Test(
    "of two releases, layouts or reasons that of the merged branch stays, and the other is told")
  func fixedSide() throws {
    func frozen(_ release: String, _ reason: String) throws -> HistoryLock {
      var lock = try lock(common)
      let migration = try Migration("0003_c", "0003_c")
      try lock.freeze(LockEntry(id: migration.id, release: release, digests: migration.digests))
      try lock.accept(
        LockAcceptance(
          id: "0002_b", digests: Migration("0002_b", "edited").digests, reason: reason))
      return lock
    }
    let (ours, theirs) = (try frozen("1.1", "mine"), try frozen("1.1x", "yours"))
    let merge = try LockMerge(ours: ours, theirs: theirs)
    #expect(try merge.lock(fingerprints: [:], sqlite: "3.40.1") == theirs)
    #expect(merge.dropped.count == 2)
    #expect(merge.dropped[0].contains("0003_c") && merge.dropped[0].contains("1.1 instead of 1.1x"))
    #expect(merge.dropped[1].contains("mine instead of yours"))
    #expect(try LockMerge(ours: ours, theirs: ours).dropped.isEmpty)
    let message = theirs.divergence(from: ours, named: "main", restoring: "`x`")?.message
    #expect(message?.contains("line 6 holds 0003_c with the release 1.1x instead of 1.1") == true)
    #expect(message?.contains("other digests") == false)
  }

  @Test("two accepted edits of one migration are the same only when both sides have all of them")
  func acceptedTwice() throws {
    func accepting(_ tables: [String]) throws -> HistoryLock {
      var lock = try lock(common)
      for table in tables {
        try lock.accept(
          LockAcceptance(id: "0001_a", digests: Migration("0001_a", table).digests, reason: "r"))
      }
      return lock
    }
    let both = try merged(accepting(["x", "y"]), accepting(["x", "y"]))
    #expect(both == (try accepting(["x", "y"])))
    for (a, b) in [(["x", "y"], ["y"]), (["x", "y"], ["y", "x"])] {
      #expect(throws: LockError.self) { try merged(accepting(a), accepting(b)) }
    }
    #expect(
      try accepting(["y", "x"]).divergence(
        from: accepting(["x", "y"]), named: "main", restoring: "`x`")?.kind == .rewritten)
  }

  // MARK: Marks

  private func text(_ lock: HistoryLock) -> [String] {
    String(decoding: lock.rendered(), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func conflict(
    _ ours: HistoryLock, _ theirs: HistoryLock, base: Bool = false
  ) -> [String] {
    let (a, b) = (text(ours), text(theirs))
    var lines = Array(a[..<5])
    lines.append("<<<<<<< HEAD")
    lines += a[5...]
    if base { lines.append("||||||| 123abc") }
    lines.append("=======")
    lines += b[5...]
    lines.append(">>>>>>> feature")
    return lines
  }

  private func bytes(_ lines: [String], lineEnd: String = "\n") -> [UInt8] {
    Array((lines.joined(separator: lineEnd) + lineEnd).utf8)
  }

  @Test("git's marks are read, with the base between them or not, with either line end")
  func marks() throws {
    let (ours, theirs) = (try lock(common + ["0003_c"]), try lock(common + ["0004_d"]))
    for base in [false, true] {
      for lineEnd in ["\n", "\r\n"] {
        let text = bytes(conflict(ours, theirs, base: base), lineEnd: lineEnd)
        let conflict = try #require(try LockConflict(marked: text))
        #expect(conflict.ours == ours)
        #expect(conflict.theirs == theirs)
        #expect(conflict.frozenIDs.contains("0004_d"))
      }
    }
    #expect(try LockConflict(marked: ours.rendered()) == nil)
  }

  @Test(
    "marks that are nested, broken or without end are refused",
    arguments: [
      ("<<<<<<< HEAD", "<<<<<<< HEAD\n<<<<<<< other"), ("<<<<<<< HEAD\n", ""),
      ("=======\n", ""), ("=======", "=======\n======="), (">>>>>>> feature\n", ""),
      (">>>>>>> feature", ">>>>>>>> feature"), ("<<<<<<< HEAD", "<<<<<<<HEAD"),
      ("=======", "||||||| a\n||||||| b\n======="), ("release=1.0", "release=1.1"),
    ])
  func brokenMarks(old: String, new: String) throws {
    let (ours, theirs) = (try lock(common + ["0003_c"]), try lock(common + ["0004_d"]))
    let text = String(decoding: bytes(conflict(ours, theirs)), as: UTF8.self)
    #expect(text.contains(old))
    #expect(throws: LockError.self) {
      try LockConflict(marked: Array(text.replacing(old, with: new).utf8))
    }
  }

  // MARK: Going on

  @Test("a lock that is shorter than an older one, or says something else, does not go on from it")
  func divergence() throws {
    let older = try lock(common + ["0003_c"])
    func divergence(_ lock: HistoryLock) -> LockDivergence? {
      lock.divergence(from: older, named: "main", restoring: "`x`")
    }
    #expect(divergence(older) == nil)
    #expect(divergence(try lock(common + ["0003_c", "0004_d"])) == nil)
    #expect(divergence(try lock(common))?.kind == .truncated)
    #expect(divergence(try lock(common))?.message.contains("0003_c") == true)
    let rewritten = try lock(["0001_a"], also: [("0002_b", "else"), ("0003_c", "0003_c")])
    #expect(divergence(rewritten)?.kind == .rewritten)
    #expect(
      divergence(rewritten)?.message.contains("line 5 holds 0002_b with other digests") == true)
    #expect(
      divergence(try lock(common + ["0003_x"]))?.message.contains("0003_x instead of 0003_c")
        == true)
  }

  @Test("a migration that is frozen before one that was frozen first is named as such")
  func divergenceByInsertion() throws {
    let message = try lock(common + ["0003_c", "0004_d"]).divergence(
      from: lock(common + ["0004_d"]), named: "main", restoring: "`x`")?.message
    #expect(message?.contains("line 6 freezes 0003_c before 0004_d") == true)
    #expect(message?.contains("rewritten") == false)
    #expect(message?.contains("schemactl rebase 0003_c") == true)
  }

  @Test("while two branches are merged, both locks must be in it, in their order")
  func divergenceInMerge() throws {
    let (ours, theirs) = (try lock(common + ["0004_d"]), try lock(common + ["0003_c"]))
    func divergence(_ lock: HistoryLock) -> LockDivergence? {
      OpenMerge(ours: ours, theirs: theirs).divergence(of: lock, named: "main", next: "`x`")
    }
    #expect(divergence(try merged(ours, theirs)) == nil)
    #expect(divergence(ours)?.message.contains("0003_c") == true)
    #expect(divergence(theirs)?.message.contains("0004_d") == true)
  }
}
