import Foundation
import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// Unusual or malicious databases that are not damaged.
@Suite("Hostile databases")
struct HostileDatabaseTests {
  // MARK: Layouts

  @Test(
    "with any page size and encoding, rows and other objects remain",
    arguments: oneIn(
      3,
      of: [
        (512, "UTF-8", 0), (1024, "UTF-16le", 0), (2048, "UTF-16be", 1), (4096, "UTF-16le", 2),
        (8192, "UTF-8", 1), (16384, "UTF-8", 0), (32768, "UTF-16be", 0), (65536, "UTF-8", 2),
      ]))
  func layouts(pageSize: Int, encoding: String, autoVacuum: Int) throws {
    let sandbox = try Sandbox.reminders()
    let settings = """
      SELECT * FROM pragma_page_size, pragma_encoding, pragma_auto_vacuum, pragma_application_id,
        pragma_user_version
      """
    try sandbox.run(
      """
      PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(encoding)';
      PRAGMA auto_vacuum = \(autoVacuum); PRAGMA application_id = 4711; PRAGMA user_version = -3;
      CREATE TABLE made (a); DROP TABLE made;
      """)
    try sandbox.makeRelease1()
    try sandbox.run("INSERT INTO tags (id, title) VALUES ('t3', 'ünïcödé 🎈')")
    let rows = try sandbox.rows("SELECT id, title, isCompleted, updatedAt FROM reminders")
    let others = try sandbox.rows("SELECT * FROM tags, remindersLists")
    try sandbox.add(
      "0008_rebuild",
      """
      operations:
        - move_column:
            table: tags
            from: title
            to: { name: label, type: TEXT, check: "label <> ''" }
            using: title
            dependents: rename
        - add_column: { table: tags, column: { name: note, type: TEXT, default: "ß" } }
      """)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(try sandbox.rows("SELECT id, title, status, updatedAt FROM reminders") == rows)
    #expect(
      try sandbox.rows("SELECT tags.id, tags.label, l.* FROM tags, remindersLists l")
        == sandbox.rows("SELECT tags.id, tags.label, l.* FROM tags, remindersLists l"))
    #expect(
      try sandbox.rows("SELECT label, note FROM tags WHERE id = 't3'") == [["ünïcödé 🎈", "ß"]])
    #expect(others.count == 6)
    #expect(
      try sandbox.rows(settings)
        == [[.integer(Int64(pageSize)), .text(encoding), .integer(Int64(autoVacuum)), 4711, -3]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  // MARK: Trust

  private func words(_ updates: [String]) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_words",
      """
      CREATE TABLE notes (id INTEGER PRIMARY KEY, word TEXT);
      CREATE VIRTUAL TABLE words USING fts5(word);
      CREATE TRIGGER notes_words AFTER UPDATE ON notes BEGIN
        INSERT INTO words VALUES (NEW.word);
      END;
      """)
    try sandbox.migrate()
    try sandbox.run("INSERT INTO notes VALUES (1, 'one')")
    for (index, update) in updates.enumerated() {
      try sandbox.add("000\(index + 2)_update", update)
    }
    return sandbox
  }

  @Test("promised triggers may write to virtual tables, whatever happens in between")
  func ownTriggers() throws {
    let sandbox = try words([
      "foreign_keys: enforced\noperations:\n- update: { table: notes, set: { word: \"'two'\" }, all: true }\n",
      "operations:\n- sql: CREATE TABLE t (a)\n",
      "foreign_keys: enforced\noperations:\n- update: { table: notes, set: { word: \"'three'\" }, all: true }\n",
      "operations:\n- update: { table: notes, set: { word: \"'four'\" }, all: true }\n",
    ])
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(try sandbox.rows("SELECT word FROM words") == [["two"], ["three"], ["four"]])
  }

  @Test(
    "an ignored trigger gets only harmless functions",
    arguments: [
      "CREATE TRIGGER sync_words AFTER UPDATE ON notes BEGIN INSERT INTO words VALUES ('evil'); END",
      """
      CREATE TABLE sync_log (a REFERENCES notes ON UPDATE CASCADE);
      INSERT INTO sync_log VALUES (1);
      CREATE TRIGGER sync_words AFTER UPDATE ON sync_log BEGIN
        INSERT INTO words VALUES ('evil'); END
      """,
    ])
  func ignoredTriggers(sql: String) throws {
    let sandbox = try words([
      "foreign_keys: enforced\noperations:\n- update: { table: notes, set: { id: id + 1 }, all: true }\n"
    ])
    try sandbox.run(sql)
    sandbox.ignore = ["sync_*"]
    let report = try sandbox.migrate()
    #expect(report.drift.isEmpty)
    #expect(report.failure?.message.contains("unsafe use of virtual table") == true)
    #expect(try sandbox.rows("SELECT word FROM words") == [])
  }

  // MARK: Other processes

  @Test("data in a write-ahead log without a checkpoint is included", arguments: [true, false])
  func leftoverWAL(withIndex: Bool) throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    let other = try sandbox.open()
    try other.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    try other.execute("INSERT INTO tags (id, title) VALUES ('t9', 'in the WAL')")
    let copy = try abandon(sandbox, withIndex ? ["", "-wal", "-shm"] : ["", "-wal"])
    #expect(
      try copy.project().status(database: copy.database, timeout: 1).pending
        == [Sandbox.statusMove])
    #expect(try copy.migrate().failure == nil)
    #expect(try copy.rows("SELECT title FROM tags WHERE id = 't9'") == [["in the WAL"]])
  }

  @Test("an unfinished transaction of a killed writer is rolled back first")
  func hotJournal() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1(reminders: 400)
    let other = try sandbox.open()
    try other.execute("PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE reminders SET title = 'half'")
    let copy = try abandon(sandbox, ["", "-journal"])
    #expect(try copy.project().status(database: copy.database, timeout: 1).pending.count == 1)
    #expect(try copy.migrate().failure == nil)
    #expect(
      try copy.rows("SELECT count(*), sum(title = 'half'), sum(status) FROM reminders")
        == [[400, 0, 133]])
    #expect(!FileManager.default.fileExists(atPath: copy.database + "-journal"))
  }

  @Test("a database with an exclusive lock is busy, in every command")
  func exclusive() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    let other = try sandbox.open()
    try other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
    let project = try sandbox.project()
    let path = sandbox.database
    let options = sandbox.options { $0.timeout = 0.01 }
    let commands: [() throws -> Void] = [
      { _ = try project.migrate(options) }, { _ = try project.dryRun(options) },
      { _ = try project.status(database: path, timeout: 0.01) },
      { _ = try project.verify(database: path, timeout: 0.01) },
    ]
    for command in commands {
      let failure = #expect(throws: Failure.self) { try command() }
      #expect(failure?.status == .busy)
      #expect(failure?.message.contains("in use by another process") == true)
    }
    try other.execute("SELECT count(*) FROM reminders")
  }

  /// Copies the current files, as if the process that uses them had been killed.
  private func abandon(_ sandbox: Sandbox, _ suffixes: [String]) throws -> Sandbox {
    let copy = try Sandbox.reminders()
    for suffix in suffixes {
      try FileManager.default.copyItem(
        atPath: sandbox.database + suffix, toPath: copy.database + suffix)
    }
    return copy
  }

  // MARK: Malicious schemas

  @Test("inspecting it or migrating other tables runs no SQL of its schema")
  func malicious() throws {
    let calls = Locked(0)
    let sandbox = try Sandbox()
    let evil = FunctionDefinition(name: "evil", arguments: -1, isDeterministic: true) { _ in
      calls.withLock { $0 += 1 }
      return .integer(1)
    }
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a); CREATE TABLE victim (a);")
    try sandbox.migrate()
    let theirs = try sandbox.open()
    try theirs.register(evil)
    try theirs.execute(
      """
      INSERT INTO t VALUES (1); INSERT INTO victim VALUES (1), (2);
      CREATE TABLE trap (
        a DEFAULT (evil()), b CHECK (evil(b)), c AS (evil(a)) STORED, d AS (evil(c))
      );
      INSERT INTO trap (b) VALUES (1);
      CREATE INDEX trapped ON trap (evil(a)) WHERE evil(b);
      CREATE VIEW lure AS SELECT evil(), load_extension('/tmp/x'), readfile('/etc/passwd'),
        writefile('/tmp/x', 1), edit('x'), fts3_tokenizer('simple', x'00'), sqlite_dump() FROM trap;
      CREATE TRIGGER snap INSTEAD OF INSERT ON lure BEGIN DELETE FROM victim; END;
      CREATE TRIGGER bite AFTER INSERT ON trap BEGIN DELETE FROM victim; SELECT evil(); END;
      """)
    calls.withLock { $0 = 0 }
    sandbox.application.functions = [evil]
    sandbox.ignore = ["trap*", "lure", "snap", "bite"]
    try sandbox.addSQL("0002_more", "UPDATE t SET a = a + 1; ALTER TABLE t ADD COLUMN b;")
    let project = try sandbox.project()
    _ = try project.status(database: sandbox.database, timeout: 1)
    _ = try project.verify(database: sandbox.database, timeout: 1)
    _ = try project.dryRun(sandbox.options())
    let beforeWriting = calls.withLock { $0 }
    #expect(beforeWriting == 0)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(try sandbox.rows("SELECT count(*) FROM victim") == [[2]])
    #expect(try sandbox.rows("SELECT a FROM t") == [[2]])
  }

  @Test("a view or another object with the ledger's name is refused without a write")
  func impostors() throws {
    for impostor in [
      "CREATE VIEW schemactl_migrations AS SELECT 1 AS id",
      "CREATE TABLE schemactl_migrations (a, b)",
      "CREATE TABLE schemactl_migrations (id PRIMARY KEY)",
      "CREATE VIRTUAL TABLE schemactl_migrations USING fts5(id)",
      "CREATE TABLE \"SCHEMACTL_MIGRATIONS\" (id)",
    ] {
      let sandbox = try Sandbox()
      try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
      try sandbox.run(impostor)
      let schema = try sandbox.schema()
      let failure = #expect(throws: Failure.self, "\(impostor)") { try sandbox.migrate() }
      #expect(failure?.status == .brokenHistory)
      #expect(failure?.message.contains("is not a ledger of schemactl") == true)
      #expect(try sandbox.schema() == schema)
    }
  }

  @Test("a virtual table with an unknown module remains, and other tables are migrated")
  func unknownModule() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    try edit(
      sandbox,
      """
      INSERT INTO sqlite_schema VALUES
        ('table', 'alien', 'alien', 0, 'CREATE VIRTUAL TABLE alien USING nothing_known(a)')
      """)
    try sandbox.addSQL("0002_more", "UPDATE t SET a = 1; CREATE INDEX i ON t (a);")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(report.drift.map(\.object) == ["alien"])
  }

  @Test("two tables with the same root page stop the run before any write")
  func sharedPage() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a); CREATE TABLE u (a);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1)")
    try edit(
      sandbox,
      """
      UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 't')
      WHERE name = 'u'
      """)
    try sandbox.addSQL("0002_drop", "DROP TABLE u;")
    let bytes = FileManager.default.contents(atPath: sandbox.database)
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .inputOutput)
    #expect(failure?.message.contains("`t` and `u` begin on the same page") == true)
    #expect(failure?.message.contains("Restore it from a backup") == true)
    #expect(FileManager.default.contents(atPath: sandbox.database) == bytes)
  }

  @Test("a page that is both free and in use is found before a migration writes to it")
  func freeAndUsed() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a); CREATE TABLE waste (a);")
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO t VALUES ('keep me');
      INSERT INTO waste VALUES (zeroblob(40000)); DELETE FROM waste;
      """)
    let root = try #require(try sandbox.schema().table("t")?.rootPage)
    var bytes = try #require(FileManager.default.contents(atPath: sandbox.database))
    let trunk = Int(bytes[35]) | Int(bytes[34]) << 8
    // The first leaf of the freelist trunk page becomes the root page of t.
    let leaf = (trunk - 1) * 4096 + 8
    bytes[leaf + 3] = UInt8(root)
    bytes[leaf + 2] = 0
    try bytes.write(to: URL(fileURLWithPath: sandbox.database))
    try sandbox.addSQL("0002_new", "CREATE TABLE new AS SELECT zeroblob(30000) AS b;")
    let report = try sandbox.migrate()
    #expect(report.status == .inputOutput)
    let message = report.failure?.message ?? ""
    #expect(message.contains("live.sqlite` is damaged ("), "\(message)")
    #expect(message.contains("Nothing changed. Restore it from a backup"))
    #expect(FileManager.default.contents(atPath: sandbox.database) == bytes)
    #expect(throws: Failure.self) { try sandbox.project().dryRun(sandbox.options()) }
  }

  @Test(
    "an index that contains a table's page does not free it",
    arguments: ["DROP INDEX i; CREATE TABLE new AS SELECT zeroblob(30000) AS b;", "REINDEX i;"])
  func indexWithForeignPage(sql: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create", "CREATE TABLE t (a); CREATE TABLE u (a); CREATE INDEX i ON u (a);")
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO t VALUES ('keep me');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO u SELECT i FROM n;
      """)
    let roots = try sandbox.rows(
      "SELECT rootpage FROM sqlite_schema WHERE name IN ('t', 'i') ORDER BY name")
    let index = Int(try #require(roots[0][0].integer))
    let table = Int(try #require(roots[1][0].integer))
    var bytes = try #require(FileManager.default.contents(atPath: sandbox.database))
    // The pointer to the rightmost child of the index's root page.
    bytes.replaceSubrange(
      (index - 1) * 4096 + 8..<(index - 1) * 4096 + 12, with: [0, 0, 0, UInt8(table)])
    try bytes.write(to: URL(fileURLWithPath: sandbox.database))
    try sandbox.addSQL("0002_drop", sql)
    let report = try sandbox.migrate()
    #expect(report.status == .inputOutput)
    #expect(report.failure?.message.contains("live.sqlite` is damaged (") == true)
    #expect(FileManager.default.contents(atPath: sandbox.database) == bytes)
    #expect(try sandbox.rows("SELECT a FROM t") == [["keep me"]])
  }

  /// One bit of a record's header changes the type of a value. Its bytes remain within their page, and an
  /// UPDATE would convert the number to text.
  @Test(
    "a number in a text column stops only rewrites of its table",
    arguments: [
      ("UPDATE tags SET colour = upper(colour);", true),
      ("ALTER TABLE tags DROP COLUMN colour;", true),
      ("INSERT INTO tags VALUES ('new', 'x');", false), ("UPDATE other SET a = 2;", false),
    ])
  func strangeValue(sql: String, isRefused: Bool) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE other (a); CREATE TABLE tags (name TEXT PRIMARY KEY, colour TEXT) WITHOUT ROWID;
      """)
    try sandbox.migrate()
    try sandbox.run("INSERT INTO other VALUES (1); INSERT INTO tags VALUES ('t', 'red')")
    var bytes = try #require(FileManager.default.contents(atPath: sandbox.database))
    // Serial type 15 is a text of one byte, and 1 is an integer of one byte (Record Format, section 2.1).
    let record = try #require(bytes.range(of: Data([3, 15, 19]) + Data("tred".utf8)))
    bytes[record.lowerBound + 1] = 1
    try bytes.write(to: URL(fileURLWithPath: sandbox.database))
    #expect(try sandbox.rows("SELECT name FROM tags") == [[116]])
    try sandbox.addSQL("0002_more", sql)
    let report = try sandbox.migrate()
    #expect(
      report.status == (isRefused ? .inputOutput : .success), "\(report.failure?.message ?? "")")
    #expect(try sandbox.rows("SELECT name FROM tags WHERE colour = 'red'") == [[116]])
    guard isRefused else { return }
    #expect(
      report.failure?.message.contains("live.sqlite` is damaged (NUMERIC value in tags.name: ")
        == true)
    #expect(FileManager.default.contents(atPath: sandbox.database) == bytes)
  }

  /// SQLite 3.40 stores the number 1 in existing rows, regardless of the column's type.
  @Test("the value of ADD COLUMN with DEFAULT TRUE in a text column is valid")
  func addedTruth() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1)")
    try sandbox.addSQL("0002_add", "ALTER TABLE t ADD COLUMN c TEXT DEFAULT TRUE;")
    try sandbox.migrate()
    #expect(try sandbox.rows("SELECT typeof(c) FROM t") == [["integer"]])
    try sandbox.addSQL("0003_update", "UPDATE t SET a = 2;")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT a, c FROM t") == [[2, "1"]])
  }

  @Test(
    "migrate and plan refuse operations that would store the number of DEFAULT TRUE as text",
    arguments: [
      "alter_column: { table: t, column: z, default: x }",
      "alter_column: { table: t, column: c, default: x }",
      "alter_column: { table: t, column: a, type: INTEGER }",
    ])
  func convertedTruth(_ operation: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (1)")
    try sandbox.addSQL(
      "0002_add",
      "ALTER TABLE t ADD COLUMN c TEXT DEFAULT TRUE; ALTER TABLE t ADD COLUMN z DEFAULT 'q';")
    try sandbox.migrate()
    try sandbox.add("0003_change", "operations:\n- \(operation)\n")
    let plan = try sandbox.project().dryRun(sandbox.options())
    #expect(plan.failure?.message.hasPrefix("`t.c` contains numbers") == true)
    #expect(try sandbox.migrate().failure?.lines.first == plan.failure?.lines.first)
    #expect(try sandbox.rows("SELECT typeof(c) FROM t") == [["integer"]])
  }

  /// `quick_check` of SQLite 3.40 reports this for a row that otherwise looks intact.
  @Test(
    "an unreadable record stops operations that copy it",
    arguments: [
      "- drop_column: { table: t, column: w }\n- drop_column: { table: t, column: z }",
      "- rebuild_table: { table: t, sql: 'CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w)' }",
      "- sql: UPDATE t SET w = 'x'",
    ])
  func unreadableRecord(operations: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w, z);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t (v, w, z) VALUES ('MARKERMARKER', 'w', 'z'), ('2', 'w', 'z')")
    var bytes = try #require(FileManager.default.contents(atPath: sandbox.database))
    // Change the length of the record's header from 5 to 4.
    let marker = try #require(bytes.range(of: Data("MARKERMARKER".utf8)))
    bytes[marker.lowerBound - 5] = 4
    try bytes.write(to: URL(fileURLWithPath: sandbox.database))
    try sandbox.add("0002_more", "operations:\n\(operations)\n")
    let report = try sandbox.migrate()
    #expect(report.status == .inputOutput, "\(report.failure?.message ?? "")")
    #expect(FileManager.default.contents(atPath: sandbox.database) == bytes)
  }

  @Test("constraint violations and unused pages do not count as damage")
  func harmless() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (a); CREATE TABLE orphan (a);")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES (NULL), (1)")
    try edit(
      sandbox,
      """
      UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a NOT NULL CHECK (nobody_knows(a)))'
      WHERE name = 't'; DELETE FROM sqlite_schema WHERE name = 'orphan'
      """)
    try sandbox.addSQL("0002_more", "CREATE TABLE u (a); INSERT INTO u VALUES (1);")
    try sandbox.addSQL("0003_more", "UPDATE u SET a = 2;")
    #expect(try sandbox.migrate(to: "0002").failure == nil)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
  }

  private func edit(_ sandbox: Sandbox, _ sql: String) throws {
    let connection = try sandbox.open()
    connection.set(.defensive, to: false)
    connection.set(.writableSchema, to: true)
    try connection.execute(sql)
    try connection.execute("PRAGMA writable_schema = RESET")
  }
}
