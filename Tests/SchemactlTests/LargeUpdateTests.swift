import SchemaSQLite
import SchemaTestPrograms
import Testing

#if os(Linux)
  /// A migration that writes every row, or every second one.
  enum Rewrite: String, CaseIterable {
    /// Uses an UPDATE.
    case move = """
      operations:
        - move_column:
            table: items
            from: done
            to: { name: status, type: INTEGER, not_null: true }
            map: { 0: 7, 1: 300 }

      """
    /// Uses a copy.
    case drops = """
      operations:
        - drop_column: { table: items, column: a }
        - drop_column: { table: items, column: b }

      """

    /// The column by which rows are grouped before and after the migration.
    var column: String { self == .move ? "status" : "done" }

    func applied(to rows: [[Value]]) -> [[Value]] {
      self == .move ? rows.map { [$0[0] == 0 ? 7 : 300] + $0[1...] } : rows
    }
  }

  /// A table of 10 MB.
  private func folder(_ rewrite: Rewrite) throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_items": manifest(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, done INTEGER NOT NULL, text TEXT, a, b)")
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute(
      """
      WITH c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 12000)
      INSERT INTO items SELECT i, i % 2, hex(zeroblob(400)) || i, i, NULL FROM c
      """)
    try folder.write("migrations/0002_rewrite.yaml", rewrite.rawValue)
    return folder
  }

  private func rows(_ column: String, in folder: WorkingFolder) throws -> [[Value]] {
    try folder.connection().rows(
      "SELECT \(column), count(*), sum(id), count(DISTINCT text) FROM items GROUP BY 1")
  }

  @Suite("Updates of a large table", .thorough)
  struct LargeUpdateTests {
    @Test(
      "killing the program at any system call leaves the old or the new rows",
      arguments: Rewrite.allCases)
    func killed(rewrite: Rewrite) throws {
      let folder = try folder(rewrite)
      let old = try rows("done", in: folder)
      var kills = 0
      while kills < 100 {
        let run = try folder.run(
          ["migrate", "--database", "app.sqlite"],
          failing: FaultyCall(path: "app.sqlite", first: 40 + 1501 * kills, kills: true))
        let connection = try folder.connection()
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"))
        if run.status == 0 { break }
        #expect(try rows("done", in: folder) == old, "killed \(kills)")
        #expect(try connection.value("SELECT total(a) FROM items") == .real(72_006_000))
        kills += 1
      }
      #expect(kills > 5)
      #expect(try rows(rewrite.column, in: folder) == rewrite.applied(to: old))
      try folder.expect(0, "verify", "--database", "app.sqlite")
    }

    @Test(
      "a failure of any system call leaves the old or the new rows", arguments: Rewrite.allCases)
    func failed(rewrite: Rewrite) throws {
      let folder = try folder(rewrite)
      let old = try rows("done", in: folder)
      for number in stride(from: 61, through: 12_000, by: 1501) {
        let run = try folder.run(
          ["migrate", "--database", "app.sqlite"],
          failing: FaultyCall(path: "app.sqlite", first: number))
        #expect(try folder.connection().value("PRAGMA integrity_check") == .text("ok"))
        if run.status == 0 { return }
        #expect(run.status == 74, "\(run.errors)")
        #expect(try rows("done", in: folder) == old, "call \(number)")
      }
      try folder.expect(0, "migrate", "--database", "app.sqlite")
    }

    @Test(
      "a failing sync leaves the old rows",
      arguments: Rewrite.allCases)
    func notSynced(rewrite: Rewrite) throws {
      let folder = try folder(rewrite)
      let old = try rows("done", in: folder)
      for number in 1...4 {
        let run = try folder.run(
          ["migrate", "--database", "app.sqlite"],
          failing: FaultyCall(name: "fdatasync", path: "app.sqlite", first: number))
        #expect(run.status == 74, "sync \(number): \(run.errors)")
        #expect(try rows("done", in: folder) == old, "sync \(number)")
      }
    }
  }
#endif
