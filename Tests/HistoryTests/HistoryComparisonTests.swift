import SchemaHistory
import Testing

@Suite("The history compared with its lock")
struct HistoryComparisonTests {
  let folder = MigrationFolder("migrations")
  let frozen: [Migration]
  let lock: HistoryLock

  init() throws {
    frozen = try [
      Migration("0001_a", "a"), Migration("0002_b", "b"), Migration("0003_c", "c"),
    ]
    lock = try HistoryLock(freezing: frozen)
  }

  private func states(_ migrations: [Migration], _ lock: HistoryLock? = nil) -> [String] {
    folder.compare(migrations, with: lock ?? self.lock).map {
      "\($0.id) \($0.frozen ? "frozen" : "draft") \($0.state.rawValue)"
    }
  }

  private func detail(_ id: String, _ migrations: [Migration], _ lock: HistoryLock? = nil) -> String
  {
    folder.compare(migrations, with: lock ?? self.lock).first { $0.id == id }?.detail ?? "no entry"
  }

  @Test("without a lock every migration is a draft")
  func noLock() {
    let entries = folder.compare(frozen, with: nil)
    #expect(entries == frozen.map { HistoryEntry(id: $0.id, frozen: false, state: .draft) })
    #expect(folder.compare([], with: nil).isEmpty)
    #expect(folder.compare([], with: HistoryLock()).isEmpty)
  }

  @Test("an equal manifest is unchanged, and later ones are drafts")
  func unchanged() throws {
    #expect(
      states(frozen + [try Migration("0004_d", "d")]) == [
        "0001_a frozen unchanged", "0002_b frozen unchanged", "0003_c frozen unchanged",
        "0004_d draft draft",
      ])
    #expect(detail("0001_a", frozen) == "")
  }

  @Test(
    "a changed file is cosmetic or edited",
    arguments: [
      ("operations:\n- sql: DELETE FROM b\n", HistoryState.unchanged),
      ("operations:\r\n- sql: DELETE FROM b\r\n", .cosmetic),
      ("operations:\n- sql: DELETE FROM b", .cosmetic),
      ("# why\r\noperations:\r\n- sql: DELETE FROM b\r\n", .cosmetic),
      ("description: why\noperations: [{ sql: 'DELETE  FROM b -- all' }]\n", .cosmetic),
      ("operations:\n- sql: DELETE FROM B\n", .edited),
      ("operations:\n- sql: DELETE FROM b\nforeign_keys: enforced\n", .edited),
      ("operations: []\n", .edited),
    ])
  func changed(text: String, state: HistoryState) throws {
    var migrations = frozen
    migrations[1] = try Migration("0002_b", yaml: text)
    let entries = folder.compare(migrations, with: lock)
    #expect(entries.map(\.state) == [.unchanged, state, .unchanged])
    #expect(entries[1].detail.isEmpty == (state == .unchanged))
  }

  @Test("the detail of an edit explains how to undo and accept it")
  func editDetail() throws {
    var migrations = frozen
    migrations[1] = try Migration("0002_b", "other")
    #expect(
      detail("0002_b", migrations)
        == "it differs from the frozen manifest for release 1.0; restore it from git (`git log -- "
        + "migrations/0002_b.yaml` lists its commits) and put the change into a new migration, "
        + "or, if "
        + "no device has run it, accept the edit with `schemactl freeze --accept 0002_b --reason …`"
    )
    let unnamed = try HistoryLock(freezing: frozen, release: nil)
    let entry = MigrationFolder("my migrations").compare(migrations, with: unnamed)[1]
    #expect(
      entry.detail.hasPrefix(
        "it differs from the frozen manifest; restore it from git (`git log -- "
          + "'my migrations/0002_b.yaml'` lists its commits)"))
  }

  @Test("an accepted edit is accepted, and its earlier form is edited")
  func accepted() throws {
    var lock = lock
    var migrations = frozen
    migrations[1] = try Migration("0002_b", "better")
    try lock.accept("0002_b", migrations[1].digests, reason: "never shipped")
    #expect(states(migrations, lock)[1] == "0002_b frozen accepted")
    #expect(detail("0002_b", migrations, lock).hasSuffix("accepted: never shipped"))
    migrations[1] = try Migration("0002_b", yaml: "# comment\n" + yaml(deletingFrom: "better"))
    #expect(states(migrations, lock)[1] == "0002_b frozen accepted")
    #expect(states(frozen, lock)[1] == "0002_b frozen edited")
    #expect(
      detail("0002_b", frozen, lock).hasPrefix("it has the form from before an accepted edit"))
    migrations[1] = try Migration("0002_b", "third")
    #expect(states(migrations, lock)[1] == "0002_b frozen edited")
  }

  @Test("equal bytes with another canonical digest are reported")
  func contradiction() throws {
    var lock = HistoryLock()
    let wrong = LockedDigests(
      raw: frozen[0].rawDigest, canonical: digest("?"), schema: digest("s"), sqlite: "3.40.1")
    try lock.freeze(LockEntry(id: "0001_a", release: nil, digests: wrong))
    #expect(states([frozen[0]], lock) == ["0001_a frozen edited"])
    #expect(detail("0001_a", [frozen[0]], lock).contains("somebody changed the lock"))
  }

  @Test("a frozen migration without a file is removed, including the last one")
  func removed() {
    for index in frozen.indices {
      var migrations = frozen
      migrations.remove(at: index)
      let entries = folder.compare(migrations, with: lock)
      #expect(entries.map(\.id) == frozen.map(\.id))
      #expect(entries[index].state == .removed)
      #expect(entries.filter { $0.state.isBroken }.count == 1)
      #expect(entries[index].detail.contains("git log -- migrations/"))
    }
    #expect(folder.compare([], with: lock).allSatisfy { $0.state == .removed })
  }

  @Test("a renamed file is found by its content, and both names are reported")
  func renamed() throws {
    let migrations = [
      frozen[0], try Migration("0002_new", yaml: "# comment\n" + yaml(deletingFrom: "b")),
      frozen[2],
    ]
    #expect(
      states(migrations) == [
        "0001_a frozen unchanged", "0002_b frozen renamed", "0003_c frozen unchanged",
      ])
    #expect(
      detail("0002_b", migrations)
        == "`0002_b` is now `0002_new`, but databases know it by the old name; undo the renaming with "
        + "`mv migrations/0002_new.yaml migrations/0002_b.yaml`")
    // A number between the same neighbours is a new name but not a new position.
    let padded = [frozen[0], try Migration("002_b", "b"), frozen[2]]
    #expect(states(padded)[1] == "0002_b frozen renamed")
  }

  @Test("a copy under another name is not a rename; one of two copies is")
  func copies() throws {
    #expect(
      states(frozen + [try Migration("0004_copy", "b")]).last == "0004_copy draft draft")
    let migrations = try [
      frozen[0], frozen[2], Migration("0004_b", "b"), Migration("0005_b", "b"),
    ]
    #expect(
      states(migrations) == [
        "0001_a frozen unchanged", "0002_b frozen renamed", "0003_c frozen unchanged",
        "0005_b draft draft",
      ])
  }

  @Test("a rename may change the order")
  func movedRename() throws {
    let later = [frozen[0], frozen[2], try Migration("0009_b", "b")]
    #expect(
      states(later) == [
        "0001_a frozen unchanged", "0002_b frozen renamed", "0003_c frozen unchanged",
      ])
    #expect(
      detail("0002_b", later).contains(
        "`0002_b` is now `0009_b`, but databases know it by the old name"))
    let exchanged = try [frozen[0], Migration("0002_c", "c"), Migration("0003_b", "b")]
    #expect(
      states(exchanged) == [
        "0001_a frozen unchanged", "0002_b frozen renamed", "0003_c frozen renamed",
      ])
    // All numbers shifted equally keep the order.
    let moved = try [
      Migration("0011_a", "a"), Migration("0012_b", "b"), Migration("0013_c", "c"),
    ]
    #expect(folder.compare(moved, with: lock).allSatisfy { $0.state == .renamed })
  }

  @Test("renames of many migrations are found without comparing all pairs")
  func manyRenames() throws {
    let count = 2_000
    let manifest = try Migration("1_x", "x").manifest
    func migration(_ number: Int) -> Migration {
      Migration(
        id: "\(number)_x", file: "x", bytes: Array("\(number)".utf8), manifest: manifest)
    }
    let lock = try HistoryLock(freezing: (1...count).map(migration))
    let entries = folder.compare((20_001...20_000 + count).map(migration), with: lock)
    #expect(entries.count == count)
    #expect(entries.allSatisfy { $0.state == .renamed })
  }

  @Test("a draft before the last frozen migration is inserted")
  func inserted() throws {
    let migrations = try [Migration("0000_x", "x")] + frozen + [Migration("00031_y", "y")]
    #expect(
      states(migrations) == [
        "0000_x draft inserted", "0001_a frozen unchanged", "0002_b frozen unchanged",
        "0003_c frozen unchanged", "00031_y draft draft",
      ])
    #expect(detail("0000_x", migrations).contains("otherwise give it a number above 3"))
    #expect(
      states(try [frozen[0], frozen[1], Migration("0003_d", "d")]) == [
        "0001_a frozen unchanged", "0002_b frozen unchanged", "0003_c frozen removed",
        "0003_d draft inserted",
      ])
  }

  @Test("exactly four states break the history")
  func broken() {
    #expect(
      HistoryState.allCases.filter(\.isBroken) == [
        .edited, .removed, .renamed, .inserted,
      ])
  }

  @Test("file names in suggested commands are quoted for a shell")
  func quoting() throws {
    let migrations = [frozen[0], frozen[1], try Migration("0003_d", "c")]
    let folder = MigrationFolder("it'\u{301}s; $(rm -rf .)")
    let detail = folder.compare(migrations, with: lock)[2].detail
    #expect(detail.contains("'it'\\''\u{301}s; $(rm -rf .)/0003_c.yaml'"))
  }
}
