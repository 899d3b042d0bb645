#if os(Linux)
  import Foundation
  import SchemaTestPrograms
  import Testing

  /// How often commands open the database file.
  @Suite("Opening the database")
  struct OpenCountTests {
    private func history() throws -> WorkingFolder {
      try WorkingFolder.of([
        "0001_lists": manifest(
          "CREATE TABLE lists (id INTEGER PRIMARY KEY, isDone INTEGER NOT NULL); "
            + "INSERT INTO lists VALUES (1, 0)"),
        "0002_status": """
        operations:
          - move_column:
              table: lists
              from: isDone
              to: { name: status, type: INTEGER, not_null: true, default: 0 }
              map: { 0: 0, 1: 2 }
        """,
      ])
    }

    private func opens(_ arguments: [String], in folder: WorkingFolder) throws -> Int {
      let log = folder.path("calls")
      let run = try folder.run(
        arguments + ["--database", "app.sqlite"], failing: FaultyCall(first: 0), loggingTo: log)
      #expect(run.status == 0, "\(run.errors)")
      let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      try folder.remove("calls")
      return calls.count { $0.hasPrefix("open ") && $0.hasSuffix("/app.sqlite") }
    }

    @Test("a pending migration opens it twice, nothing to do opens it once")
    func migrate() throws {
      let folder = try history()
      try folder.expect(0, "migrate", "--to", "1", "--database", "app.sqlite")
      #expect(try opens(["migrate"], in: folder) == 2)
      #expect(try opens(["migrate"], in: folder) == 1)
    }

    @Test("a backup and a copy from before the drafts do not open it again")
    func copies() throws {
      let folder = try history()
      try folder.expect(0, "freeze", "--to", "0001_lists")
      try folder.expect(0, "migrate", "--to", "1", "--database", "app.sqlite")
      #expect(try opens(["migrate", "--backup"], in: folder) == 2)
      #expect(try folder.names().contains("app.sqlite.before-drafts"))
    }

    @Test(
      "commands that only read open it once",
      arguments: [["status"], ["verify"], ["diff"], ["plan"], ["plan", "--on-copy"]])
    func reading(command: [String]) throws {
      let folder = try history()
      try folder.expect(0, "migrate", "--to", "1", "--database", "app.sqlite")
      #expect(try opens(command, in: folder) == 1)
    }
  }
#endif
