import SQLite
import TestSupport
import Testing

#if os(Linux)
  /// So large that its rows are changed a stretch at a time, beside a second thread.
  private func folder() throws -> WorkingFolder {
    let folder = try WorkingFolder.of([
      "0001_items": manifest(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, done INTEGER NOT NULL, text TEXT)")
    ])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute(
      """
      WITH c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 12000)
      INSERT INTO items SELECT i, i % 2, hex(zeroblob(400)) || i FROM c
      """)
    try folder.write(
      "migrations/0002_status.yaml",
      """
      operations:
        - move_column:
            table: items
            from: done
            to: { name: status, type: INTEGER, not_null: true }
            map: { 0: 7, 1: 300 }

      """)
    return folder
  }

  private func rows(_ column: String, in folder: WorkingFolder) throws -> [[Value]] {
    try folder.connection().rows(
      "SELECT \(column), count(*), sum(id), count(DISTINCT text) FROM items GROUP BY 1")
  }

  @Suite("The rows of a large table")
  struct LargeUpdateTests {
    @Test("are as before or as after, at whatever call the program is killed")
    func killed() throws {
      let folder = try folder()
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
        kills += 1
      }
      #expect(kills > 5)
      #expect(try rows("status", in: folder) == old.map { [$0[0] == 0 ? 7 : 300] + $0[1...] })
      try folder.expect(0, "verify", "--database", "app.sqlite")
    }

    @Test("are as before or as after, whatever call fails")
    func failed() throws {
      let folder = try folder()
      let old = try rows("done", in: folder)
      for number in stride(from: 61, through: 12_000, by: 1501) {
        let run = try folder.run(
          ["migrate", "--database", "app.sqlite"],
          failing: FaultyCall(path: "app.sqlite", first: number))
        #expect(try folder.connection().value("PRAGMA integrity_check") == .text("ok"))
        // What the second thread could not read the first one has read.
        if run.status == 0 { return }
        #expect(run.status == 74, "\(run.errors)")
        #expect(try rows("done", in: folder) == old, "call \(number)")
      }
      try folder.expect(0, "migrate", "--database", "app.sqlite")
    }

    @Test("are changed all the same where the second thread cannot read the file")
    func alone() throws {
      let folder = try folder()
      let old = try rows("done", in: folder)
      // Once for each connection that is opened before.
      let run = try folder.run(
        ["migrate", "--database", "app.sqlite"],
        failing: FaultyCall(name: "open", path: "app.sqlite", first: 5, last: 1000))
      #expect(run.status == 0, "\(run.errors)")
      #expect(try rows("status", in: folder) == old.map { [$0[0] == 0 ? 7 : 300] + $0[1...] })
    }
  }
#endif
