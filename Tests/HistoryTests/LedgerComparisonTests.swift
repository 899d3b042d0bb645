import SchemaHistory
import Testing

@Suite("The ledger compared with the history")
struct LedgerComparisonTests {
  /// Two frozen migrations and two drafts.
  let migrations: [Migration]
  var lock: HistoryLock
  var rows: [LedgerRow]

  init() throws {
    migrations = try [
      Migration("1_a", "a"), Migration("2_b", "b"), Migration("3_c", "c"), Migration("4_d", "d"),
    ]
    lock = try HistoryLock(freezing: Array(migrations.prefix(2)))
    rows = migrations.enumerated().map { index, migration in
      LedgerRow(
        id: migration.id, position: Int64(index + 1), rawDigest: migration.rawDigest,
        canonicalDigest: migration.canonicalDigest, fingerprint: digest("schema"),
        startedAt: "2026-11-20T13:00:00.000Z", milliseconds: 1, toolVersion: "1.0")
    }
  }

  private func states(_ migrations: [Migration]? = nil) -> [String] {
    let entries = compareLedger(rows, with: migrations ?? self.migrations, lock)
    for entry in entries {
      let isSilent = entry.state == .applied || entry.state == .pending
      #expect(entry.detail.isEmpty == isSilent, "\(entry)")
    }
    return entries.map { "\($0.id) \($0.state.rawValue)" }
  }

  private func detail(_ id: String) -> String {
    compareLedger(rows, with: migrations, lock).first { $0.id == id }?.detail ?? "no entry"
  }

  @Test("all migrations are pending with an empty ledger, and applied with a full one")
  mutating func prefixes() {
    let all = rows
    for count in 0...4 {
      rows = Array(all.prefix(count))
      #expect(
        compareLedger(rows, with: migrations, lock).map(\.state)
          == Array(repeating: .applied, count: count)
          + Array(repeating: .pending, count: 4 - count))
    }
    #expect(compareLedger([], with: [], nil).isEmpty)
  }

  @Test("a row of an unknown migration comes last")
  mutating func unknown() {
    rows[3].id = "0_elsewhere"
    #expect(
      states() == [
        "1_a applied", "2_b applied", "3_c applied", "4_d pending", "0_elsewhere unknown",
      ])
    // Other problems do not matter: the history cannot check unknown migrations.
    rows[3].rawDigest = "?"
    #expect(states().last == "0_elsewhere unknown")
    // A draft with the same content is the renamed migration.
    #expect(detail("0_elsewhere").contains("which is now `4_d`"))
    #expect(detail("0_elsewhere").contains("schemactl migrate --reset-drafts"))
    rows[3].canonicalDigest = "?"
    #expect(detail("0_elsewhere").contains("update the migrations"))
  }

  @Test("ids in different Unicode forms are different, as in SQLite")
  mutating func normalForms() throws {
    let migrations = [try Migration("1_\u{E9}", "a")]
    rows = [rows[0], rows[0]]
    rows[0].id = "1_\u{E9}"
    rows[1].id = "1_e\u{301}"
    rows[1].position = 2
    lock = HistoryLock()
    #expect(states(migrations) == ["1_\u{E9} applied", "1_e\u{301} unknown"])
  }

  @Test("a gap is missing if it is frozen, and out of order if it is a draft")
  mutating func gaps() {
    let all = rows
    rows.remove(at: 1)
    #expect(states() == ["1_a applied", "2_b missing", "3_c applied", "4_d applied"])
    rows = [all[0], all[1], all[3]]
    #expect(states() == ["1_a applied", "2_b applied", "3_c out-of-order", "4_d applied"])
    rows = [all[3]]
    #expect(states() == ["1_a missing", "2_b missing", "3_c out-of-order", "4_d applied"])
    #expect(detail("2_b").contains("4_d"))
  }

  @Test("a renamed frozen file is not a draft that was skipped")
  mutating func renamed() throws {
    var files = migrations
    files[0] = try Migration("0_new", "a")
    #expect(states(files) == ["1_a applied", "2_b applied", "3_c applied", "4_d applied"])
    files[0] = try Migration("0_new", "other")
    #expect(states(files).first == "0_new out-of-order")
  }

  @Test("a frozen migration is compared with the lock, not with its file")
  mutating func frozenFile() throws {
    var edited = migrations
    edited[0] = try Migration("1_a", "edited")
    edited.remove(at: 1)
    #expect(states(edited) == ["1_a applied", "2_b applied", "3_c applied", "4_d applied"])
    rows[0].rawDigest = edited[0].rawDigest
    rows[0].canonicalDigest = edited[0].canonicalDigest
    #expect(states(edited)[0] == "1_a edited")
    rows.removeLast(3)
    #expect(states(edited).contains("2_b pending"))
  }

  @Test("a form with other comments is applied, another one is edited")
  mutating func forms() throws {
    rows[0].rawDigest = digest("# comment\n" + yaml(deletingFrom: "a"))
    rows[2].rawDigest = digest("# comment\n" + yaml(deletingFrom: "c"))
    #expect(states() == ["1_a applied", "2_b applied", "3_c applied", "4_d applied"])
    rows[0].canonicalDigest = digest("other")
    rows[2].canonicalDigest = digest("other")
    #expect(states() == ["1_a edited", "2_b applied", "3_c draft-edited", "4_d applied"])
  }

  @Test("a database that ran the form before an accepted edit is accepted")
  mutating func accepted() throws {
    let better = try Migration("2_b", "better")
    try lock.accept("2_b", better.digests, reason: "a typo")
    #expect(states() == ["1_a applied", "2_b accepted", "3_c applied", "4_d applied"])
    #expect(detail("2_b").hasSuffix("a typo"))
    rows[1].rawDigest = better.rawDigest
    rows[1].canonicalDigest = better.canonicalDigest
    #expect(states()[1] == "2_b applied")
    rows[1].canonicalDigest = digest("third")
    #expect(states()[1] == "2_b altered")
    rows[1].rawDigest = digest("third")
    #expect(states()[1] == "2_b edited")
  }

  @Test(
    "an invalid digest makes the row altered",
    arguments: [
      "", "abc", digest("x").uppercased() + "", digest("x") + "0", String(digest("x").dropLast()),
      "g" + digest("x").dropFirst(),
    ])
  mutating func noDigest(text: String) {
    let all = rows
    for keyPath in [\LedgerRow.rawDigest, \.canonicalDigest, \.fingerprint] {
      for index in [0, 3] {
        rows = all
        rows[index][keyPath: keyPath] = text
        #expect(states()[index] == "\(rows[index].id) altered")
      }
    }
  }

  @Test("equal bytes with another canonical digest make the row altered")
  mutating func contradiction() {
    rows[0].canonicalDigest = digest("x")
    rows[3].canonicalDigest = digest("x")
    #expect(states() == ["1_a altered", "2_b applied", "3_c applied", "4_d altered"])
    #expect(detail("1_a").hasPrefix("its `raw_digest` matches the frozen manifest"))
    #expect(detail("4_d").hasPrefix("its `raw_digest` matches the file"))
  }

  @Test("positions ascend from 1 without repetition, and may have gaps")
  mutating func positions() {
    func positions(_ numbers: [Int64]) -> [LedgerState] {
      let moved = zip(rows, numbers).map { row, number in
        var row = row
        row.position = number
        return row
      }
      return compareLedger(moved.reversed(), with: migrations, lock).map(\.state)
    }
    #expect(positions([1, 2, 3, 4]).allSatisfy { $0 == .applied })
    #expect(positions([3, 7, 1000, .max]).allSatisfy { $0 == .applied })
    #expect(positions([2, 1, 3, 4]) == [.applied, .altered, .applied, .applied])
    #expect(positions([9, 2, 3, 4]) == [.applied, .altered, .applied, .applied])
    #expect(positions([1, 2, 2, 4]) == [.applied, .altered, .altered, .applied])
    #expect(positions([4, 2, 3, 4]).filter { $0 == .altered }.count == 3)
    #expect(positions([0, 1, 2, 3]) == [.altered, .applied, .applied, .applied])
    #expect(positions([-5, 1, 2, 3]) == [.altered, .applied, .applied, .applied])
  }

  @Test("a position that an unknown row also has makes the row altered")
  mutating func positionOfUnknown() {
    rows[3].id = "9_elsewhere"
    rows[3].position = 3
    #expect(
      states() == [
        "1_a applied", "2_b applied", "3_c altered", "4_d pending", "9_elsewhere unknown",
      ])
    #expect(
      detail("3_c")
        == "its position 3 is also the position of `9_elsewhere`: another program changed the ledger; "
        + "compare it with a backup")
  }

  @Test("without a lock every migration is a draft")
  mutating func noLock() {
    rows[0].canonicalDigest = digest("x")
    rows[0].rawDigest = digest("x")
    rows.remove(at: 1)
    #expect(
      compareLedger(rows, with: migrations, nil).map(\.state) == [
        .draftEdited, .outOfOrder, .applied, .applied,
      ])
  }

  @Test("exactly six states stop a migration")
  func stops() {
    #expect(
      LedgerState.allCases.filter { !$0.stops } == [.applied, .pending, .accepted])
    #expect(LedgerState.allCases.count == 9)
  }
}
