import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

private func history() throws -> WorkingFolder {
  try WorkingFolder.of([
    "0001_lists": manifest("CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT)"),
    "0002_items": manifest(
      "CREATE TABLE items (id INTEGER PRIMARY KEY, list REFERENCES lists (id), title TEXT); "
        + "CREATE INDEX items_list ON items (list)"),
    "0003_first": manifest(
      "INSERT INTO lists VALUES (1, 'one'); INSERT INTO items VALUES (7, 1, 'seven')"),
  ])
}

private func content(_ folder: WorkingFolder) throws -> [[Value]] {
  let connection = try folder.connection()
  return try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")
    + connection.rows("SELECT * FROM lists") + connection.rows("SELECT * FROM items")
    + connection.rows(
      "SELECT id, position, raw_digest, canonical_digest, fingerprint FROM schemactl_migrations")
}

@Suite("A missing database")
struct NewDatabaseTests {
  @Test("the result is equal to that of migrating an empty file, including the ledger")
  func same() throws {
    let new = try history()
    try new.expect(0, "migrate", "--database", "app.sqlite")
    let old = try history()
    try old.write("app.sqlite", "")
    try old.expect(0, "migrate", "--database", "app.sqlite")
    #expect(try content(new) == content(old))
    #expect(try new.connection().value("PRAGMA integrity_check") == .text("ok"))
    try new.expect(0, "verify", "--database", "app.sqlite")
  }

  @Test(
    "a migration that leaves rows without a parent fails, even if a later one fixes them")
  func foreignKeys() throws {
    let folder = try WorkingFolder.of([
      "0001_tables": manifest(
        "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a)"),
      "0002_orphan": manifest("INSERT INTO b VALUES (1)"),
      "0003_parent": manifest("INSERT INTO a VALUES (1)"),
    ])
    let run = try folder.run("migrate", "--database", "app.sqlite")
    #expect(run.status == 3)
    #expect(run.errors.contains("0002_orphan"))
    #expect(
      try folder.connection().value("SELECT count(*) FROM schemactl_migrations") == .integer(1))
  }

  @Test(
    "assertions are checked",
    arguments: [
      "  - assert: { query: SELECT count(*) FROM lists, equals: 5, message: five lists }\n", "",
    ])
  func assertions(operation: String) throws {
    let folder = try history()
    let after =
      operation.isEmpty
      ? "after:\n  - { query: SELECT count(*) FROM lists, equals: 5, message: five lists }\n" : ""
    try folder.write(
      "migrations/0004_count.yaml", "\(after)operations:\n  - sql: SELECT 1\n\(operation)")
    let run = try folder.run("migrate", "--database", "app.sqlite")
    #expect(run.status == 3, "\(run.output)\(run.errors)")
    #expect(run.errors.contains("five lists: expected 5, found 1"))
    #expect(
      try folder.connection().value("SELECT count(*) FROM schemactl_migrations") == .integer(3))
  }

  @Test(
    "65: no database is created if a migration calls a function or a collation of the app",
    arguments: [
      "INSERT INTO lists VALUES (2, title_of(2))",
      "CREATE INDEX byTitle ON lists (title COLLATE ours); INSERT INTO lists VALUES (2, 'two')",
    ])
  func callsOfTheApp(sql: String) throws {
    let folder = try history()
    try folder.write(
      "schemactl.yaml", "functions: [{ name: title_of, arguments: 1 }]\ncollations: [ours]\n")
    try folder.write("migrations/0004_call.yaml", manifest(sql))
    let run = try folder.run("migrate", "--database", "app.sqlite")
    #expect(run.status == 65, "\(run.errors)")
    #expect(run.errors.contains("belongs to the application"), "\(run.errors)")
    #expect(run.errors.contains("SchemaKit"), "\(run.errors)")
    #expect(try folder.names() == ["migrations", "schemactl.yaml"])
  }

  @Test("frozen migrations and drafts leave the copy from before the drafts, too")
  func draftCopy() throws {
    let folder = try history()
    try folder.expect(0, "freeze", "--to", "0002_items")
    let run = try folder.expect(0, "migrate", "--database", "app.sqlite")
    #expect(run.errors.contains("app.sqlite.before-drafts"))
    let copy = try folder.connection("app.sqlite.before-drafts")
    #expect(try copy.value("SELECT count(*) FROM schemactl_migrations") == .integer(2))
    #expect(try copy.value("SELECT count(*) FROM lists") == .integer(0))
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--reset-drafts")
    #expect(try content(folder).count > 5)
  }

  @Test("the migrations before a failing one remain applied")
  func failing() throws {
    let folder = try history()
    try folder.write("migrations/0004_bad.yaml", manifest("INSERT INTO lists VALUES (1, 'again')"))
    let run = try folder.run("migrate", "--database", "app.sqlite")
    #expect(run.status == 3)
    #expect(run.errors.contains("0004_bad"))
    #expect(
      try folder.connection().value("SELECT count(*) FROM schemactl_migrations") == .integer(3))
  }

  #if os(Linux)
    @Test("the content is synced before the renaming, and the renaming before the report")
    func order() throws {
      let folder = try history()
      let log = folder.path("calls")
      let run = try folder.run(
        ["migrate", "--database", "app.sqlite"], failing: FaultyCall(first: 0), loggingTo: log)
      #expect(run.status == 0, "\(run.errors)")
      let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      let written = try #require(
        calls.lastIndex { $0.hasPrefix("pwrite") && $0.contains(".partial") })
      let synced = try #require(
        calls.lastIndex { $0.hasPrefix("fsync ") && $0.contains(".partial") })
      let named = try #require(calls.lastIndex { $0.hasPrefix("link ") })
      let last = try #require(calls.lastIndex { $0.hasPrefix("fsync ") })
      #expect(written < synced && synced < named && named < last)
      #expect(!calls.contains { $0.hasPrefix("pwrite") && !$0.contains(".partial") })
    }

    @Test("killing the program at any system call leaves a complete database or none", .thorough)
    func killed() throws {
      var isDone = false
      var number = 1
      while !isDone {
        let folder = try history()
        let run = try folder.run(
          ["migrate", "--database", "app.sqlite"], failing: FaultyCall(first: number, kills: true))
        isDone = run.status == 0
        if try folder.names().contains("app.sqlite") {
          let rows = try folder.connection().value("SELECT count(*) FROM schemactl_migrations")
          #expect(rows == .integer(3), "killed at call \(number)")
        }
        try folder.expect(0, "migrate", "--database", "app.sqlite")
        #expect(try content(folder).count > 5, "killed at call \(number)")
        // Both names exist between the two steps; the next run with a copy deletes the temporary
        // one.
        let names = try folder.names().filter { !$0.contains(".partial") }
        #expect(names == ["app.sqlite", "migrations"], "killed at call \(number)")
        number += 1
      }
      #expect(number > 20)
    }

    @Test("the result is uncertain if the name was not synced")
    func uncertain() throws {
      let folder = try history()
      let log = folder.path("calls")
      _ = try folder.run(
        ["migrate", "--database", "app.sqlite"], failing: FaultyCall(first: 0), loggingTo: log)
      let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      let number = calls.count { $0.hasPrefix("fsync ") }
      try folder.remove("app.sqlite")
      let run = try folder.run(
        ["migrate", "--database", "app.sqlite"],
        failing: FaultyCall(name: "fsync", first: number, last: 1000))
      #expect(run.status == 74)
      #expect(run.errors.contains("It is unknown whether `0001_lists` to `0003_first` was applied"))
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      #expect(try content(folder).count > 5)
    }

    @Test("without atomic renaming, the database is created in place")
    func withoutName() throws {
      let folder = try history()
      let run = try folder.run(
        ["migrate", "--database", "app.sqlite"], failing: FaultyCall(name: "link", last: 1000))
      #expect(run.status == 0, "\(run.errors)")
      try folder.expect(0, "verify", "--database", "app.sqlite")
      #expect(try folder.names() == ["app.sqlite", "migrations"])
    }
  #endif
}

@Suite("Nothing to do")
struct NothingToDoTests {
  /// Changes that may happen after the last migration was applied.
  static let changes: [(String, @Sendable (WorkingFolder) throws -> Void)] = [
    ("nothing", { _ in }),
    (
      "a comment in a draft",
      { folder in
        let file = folder.path("migrations/0003_first.yaml")
        try folder.write(
          "migrations/0003_first.yaml",
          "# why\n" + String(contentsOfFile: file, encoding: .utf8))
      }
    ),
    (
      "another statement in a draft",
      { try $0.write("migrations/0003_first.yaml", manifest("SELECT 1")) }
    ),
    (
      "another statement in a frozen one",
      { try $0.write("migrations/0001_lists.yaml", manifest("SELECT 1")) }
    ),
    ("a migration more", { try $0.write("migrations/0004_more.yaml", manifest("SELECT 1")) }),
    ("no YAML", { try $0.write("migrations/0003_first.yaml", "{") }),
    (
      "a migration less",
      { try FileManager.default.removeItem(atPath: $0.path("migrations/0003_first.yaml")) }
    ),
    (
      "another name",
      {
        try FileManager.default.moveItem(
          atPath: $0.path("migrations/0003_first.yaml"),
          toPath: $0.path("migrations/0003_second.yaml"))
      }
    ),
    ("a file with a wrong ending", { try $0.write("migrations/0004_x.yml", "") }),
    ("no lock", { try FileManager.default.removeItem(atPath: $0.path("migrations/history.lock")) }),
    ("a broken lock", { try $0.write("migrations/history.lock", "x\n") }),
    (
      "a digest in the ledger",
      {
        try $0.connection().execute(
          "UPDATE schemactl_migrations SET canonical_digest = raw_digest WHERE position = 1")
      }
    ),
    (
      "a position in the ledger",
      { try $0.connection().execute("UPDATE schemactl_migrations SET position = -position") }
    ),
    (
      "a row less in the ledger",
      { try $0.connection().execute("DELETE FROM schemactl_migrations WHERE position = 2") }
    ),
    ("no ledger", { try $0.connection().execute("DROP TABLE schemactl_migrations") }),
    ("no database", { try FileManager.default.removeItem(atPath: $0.path("app.sqlite")) }),
  ]

  @Test(
    "digests alone decide only if a full comparison gives the same result",
    arguments: oneIn(4, of: changes.indices))
  func agrees(index: Int) throws {
    let (name, change) = Self.changes[index]
    func run(_ arguments: [String] = []) throws -> Finished {
      let folder = try history()
      try folder.expect(0, "freeze", "--to", "0002_items")
      try folder.expect(0, "migrate", "--database", "app.sqlite")
      try change(folder)
      return try folder.start(["migrate", "--database", "app.sqlite"] + arguments).wait()
    }
    let quick = try run()
    let closer = try run(["--paranoid"])
    #expect(quick.status == closer.status, "\(name): \(quick.errors)")
    let words = "nothing to do"
    #expect(
      quick.output.contains(words) == closer.output.contains(words), "\(name): \(quick.output)")
    #expect(quick.output.contains(words) || name != "nothing")
  }

  @Test("the check takes no lock, so a writer can be active")
  func whileWriting() throws {
    let folder = try history()
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    let writer = try folder.connection()
    try writer.execute("BEGIN IMMEDIATE; INSERT INTO lists VALUES (2, 'two')")
    try folder.expect(0, "migrate", "--database", "app.sqlite", "--timeout", "0")
    try writer.execute("ROLLBACK")
  }
}

@Suite("A first migration that fails")
struct FirstMigrationFailingTests {
  @Test(
    "no file remains",
    arguments: [
      manifest("CREATE TABLE a (x NOT NULL); INSERT INTO a VALUES (NULL)"),
      manifest("CREATE TABLE a (x"),
      "operations:\n- sql: CREATE TABLE a (x)\n- assert: { query: SELECT 1, equals: 2 }\n",
      manifest(
        "CREATE TABLE p (x PRIMARY KEY); CREATE TABLE a (x REFERENCES p); INSERT INTO a VALUES (1)"),
      "foreign_keys: enforced\n"
        + manifest(
          "CREATE TABLE p (x PRIMARY KEY); "
            + "CREATE TABLE a (x REFERENCES p DEFERRABLE INITIALLY DEFERRED); INSERT INTO a VALUES (1)"
        ),
    ],
    [
      ["migrate"], ["migrate", "--paranoid"], ["migrate", "--backup"], ["plan", "--on-copy"],
    ])
  func nothing(text: String, command: [String]) throws {
    let folder = try WorkingFolder.of(["0001_fails": text])
    let run = try folder.start(command + ["--database", "app.sqlite"]).wait()
    #expect(run.status == 3)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["migrations"])
    let state = command[0] == "plan" ? "unchanged" : "still missing"
    #expect(run.errors.contains("`app.sqlite` is \(state)"), "\(run.errors)")
  }

  @Test("the link remains, without a file behind it")
  func link() throws {
    let folder = try WorkingFolder.of([
      "0001_fails":
        "operations:\n- sql: CREATE TABLE a (x)\n- assert: { query: SELECT 1, equals: 2 }\n"
    ])
    try folder.makeFolder("data")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("app.sqlite"), withDestinationPath: "data/real.sqlite")
    try folder.expect(3, "migrate", "--database", "app.sqlite")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("data")).isEmpty)
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("app.sqlite"))
        == "data/real.sqlite")
  }

  @Test("JSON reports that no database was created")
  func json() throws {
    let folder = try WorkingFolder.of(["0001_fails": manifest("CREATE TABLE a (x")])
    let run = try folder.expect(3, "migrate", "--database", "app.sqlite", "--format", "json")
    #expect(try run.json()["created"] as? Bool == false)
  }

  @Test("an existing empty file remains")
  func empty() throws {
    let folder = try WorkingFolder.of(["0001_fails": manifest("CREATE TABLE a (x")])
    try folder.write("app.sqlite", "")
    try folder.expect(3, "migrate", "--database", "app.sqlite")
    #expect(folder.exists("app.sqlite"))
  }

  @Test("the database remains if the second migration fails")
  func second() throws {
    let folder = try WorkingFolder.of([
      "0001_notes": tableOfNotes,
      "0002_fails": "operations:\n- assert: { query: SELECT 1, equals: 2 }\n",
    ])
    try folder.expect(3, "migrate", "--database", "app.sqlite")
    #expect(try folder.applied() == ["0001_notes"])
  }
}
