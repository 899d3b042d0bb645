import SchemaHistory
import SchemaManifest
import Testing

private func line(_ id: String, _ seed: String, _ more: String = "") -> String {
  let digests = lockedDigests(seed)
  return "\(id) release=- canonical=\(digests.canonical) raw=\(digests.raw) "
    + "schema=\(digests.schema) sqlite=3.40.1\(more)\n"
}

private func repairError(_ text: String) -> LockError? {
  do throws(LockError) {
    _ = try HistoryLock.repairing(Array(text.utf8))
    return nil
  } catch {
    return error
  }
}

private let header = "schemactl history 2\n"

@Suite("Locks that freeze repairs")
struct LockReadingTests {
  private let first = line("0001_a", "a")
  private let ours = line("0002_b", "b")
  private let theirs = line("0003_c", "c")

  @Test("a lock without markers needs no repair")
  func plain() throws {
    let (lock, repair) = try repair(header + ours + first)
    #expect(repair == nil)
    #expect(lock.entries.map(\.id) == ["0001_a", "0002_b"])
  }

  @Test(
    "both sides of a conflict are joined, in every conflict style of git",
    arguments: [
      "", "||||||| base\n",
      "||||||| merged common ancestors\n<<<<<<<<< older\n=========\n>>>>>>>>> x\n",
    ])
  func union(base: String) throws {
    let text =
      header + first + "<<<<<<< HEAD\n" + ours + base + "=======\n" + theirs + ">>>>>>> feature\n"
    for text in [text, text.replacing("\n", with: "\r\n")] {
      let (lock, repair) = try repair(text)
      #expect(repair == .joined)
      #expect(lock.entries.map(\.id) == ["0001_a", "0002_b", "0003_c"])
    }
    #expect(lockError(text.utf8)?.message.contains("schemactl freeze") == true)
  }

  @Test("several conflicts are joined, including one with the header on both sides")
  func several() throws {
    let text =
      "<<<<<<< HEAD\n" + header + first + "=======\n" + header + first + theirs + ">>>>>>> x\n"
      + "<<<<<<< HEAD\n" + ours + "=======\n>>>>>>> x\n"
    #expect(try repair(text).lock.entries.map(\.id) == ["0001_a", "0002_b", "0003_c"])
  }

  @Test("an accepted edit replaces the line that it edits")
  func acceptedOnOneSide() throws {
    let accepted = line(
      "0001_a", "z", " accepted=\(lockedDigests("a").canonical) reason=\"why\"")
    for (a, b) in [(first, accepted), (accepted, first)] {
      let text =
        header + "<<<<<<< HEAD\n" + a + ours + "=======\n" + b + theirs + ">>>>>>> x\n"
      let lock = try repair(text).lock
      #expect(lock.entries.map(\.id) == ["0001_a", "0002_b", "0003_c"])
      #expect(lock.entry("0001_a")?.acceptances.map(\.reason) == ["why"])
    }
  }

  @Test("conflicting forms of a migration or number are refused with both lines")
  func disputed() throws {
    for other in [line("0002_b", "x"), line("0002_c", "b")] {
      let text = header + "<<<<<<< HEAD\n" + ours + "=======\n" + other + ">>>>>>> x\n"
      let error = repairError(text)
      #expect(error?.position.line == 5)
      #expect(error?.details.map { $0.prefix(7) } == ["line 3:", "line 5:"])
    }
  }

  @Test(
    "nested or incomplete markers are refused",
    arguments: [
      "<<<<<<< a\n=======\n", "<<<<<<< a\n>>>>>>> b\n", "=======\n", ">>>>>>> b\n",
      "<<<<<<< a\n<<<<<<< b\n=======\n>>>>>>> b\n", "<<<<<<< a\n=======\n=======\n>>>>>>> b\n",
    ])
  func broken(markers: String) {
    let message = repairError(header + first + markers)?.message
    #expect(message?.contains("let git write them again") == true)
  }

  @Test("version 1 is converted, with its accepted edits")
  func version1() throws {
    let hash = digest("chain")
    func old(_ seed: String) -> String {
      let digests = lockedDigests(seed)
      return
        "raw=\(digests.raw) canonical=\(digests.canonical) schema=\(digests.schema) sqlite=3.40.1"
    }
    let text = """
      # schemactl history lock, version 1
      # The migrations that have shipped, and may not change any more.
      # `schemactl freeze` writes this file; it is not edited by hand.
      0001_a release=1.0 \(old("a")) chain=\(hash)
      0002_b release=- \(old("b")) chain=\(hash)
      accept 0001_a \(old("c")) reason="a \\"b\\"" chain=\(hash)

      """
    let (lock, repair) = try repair(text)
    #expect(repair == .converted)
    #expect(lock.entries.map(\.id) == ["0001_a", "0002_b"])
    #expect(lock.entry("0001_a")?.release == "1.0")
    #expect(lock.entry("0001_a")?.forms == ["a", "c"].map { lockedDigests($0).canonical })
    #expect(lock.entry("0001_a")?.acceptances.map(\.reason) == ["a \"b\""])
    #expect(lockError(text.utf8)?.message.contains("schemactl freeze") == true)
    #expect(try HistoryLock(parsingAnyVersion: Array(text.utf8)) == lock)
    // One branch has converted its lock, the other has not.
    let both = "<<<<<<< HEAD\n\(text)=======\n\(header)\(theirs)>>>>>>> x\n"
    #expect(try self.repair(both).lock.entries.map(\.id) == ["0001_a", "0002_b", "0003_c"])
  }

  private func repair(
    _ text: String
  ) throws -> (lock: HistoryLock, repair: HistoryLock.Repair?) {
    try HistoryLock.repairing(Array(text.utf8))
  }
}
