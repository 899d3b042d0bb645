import Foundation
import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaPlatform
import Testing

/// An app that was released with GRDB. `v3` adds a column, and `v4` doubles each amount.
private struct ShippedApp {
  static let steps = [
    "CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT NOT NULL)",
    "CREATE TABLE items (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL)",
    "ALTER TABLE items ADD COLUMN note TEXT",
    "UPDATE items SET amount = amount * 2",
  ]
  let sandbox: Sandbox

  /// Creates a history that replaces `v1` … `v4`.
  init(_ replaced: [String] = ["v1", "v2", "v3", "v4"]) throws {
    sandbox = try Sandbox()
    for (index, step) in Self.steps.enumerated() {
      let replaces =
        "replaces:\n  - { ledger: grdb_migrations, entries: [\(replaced[index])] }\n"
      try sandbox.add("000\(index + 1)_step", "operations:\n  - sql: \(step)\n" + replaces)
    }
    try sandbox.addSQL("0005_more", "ALTER TABLE lists ADD COLUMN color TEXT;")
  }

  /// Creates the database of a device that has run some steps with GRDB 7. The app has inserted an amount of
  /// 21 between the steps.
  func device(_ steps: [Int]) throws {
    let connection = try sandbox.open()
    try connection.execute(
      "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    for step in steps {
      try connection.execute(Self.steps[step - 1])
      try connection.execute("INSERT INTO grdb_migrations VALUES ('v\(step)')")
      if step == 2 { try connection.execute("INSERT INTO items VALUES (1, 21)") }
    }
  }

  var amount: [[Value]] { get throws { try sandbox.rows("SELECT amount FROM items") } }
}

@Suite("A database with another tool's ledger")
struct ForeignLedgerTests {
  @Test(
    "a migration may recreate objects whose definitions differ only in style",
    arguments: [
      """
        - drop_index: { name: by_title }
        - update: { table: notes, set: { title: "upper(title)" }, all: true }
        - create_index: { name: by_title, table: notes, columns: [title] }
      """,
      """
        - rebuild_table:
            table: notes
            columns: [{ name: id, type: INTEGER, primary_key: true }, { name: title, type: TEXT }]
            copy: { title: "upper(title)" }
      """,
      """
        - rename_table: { table: notes, to: papers }
        - update: { table: papers, set: { title: "upper(title)" }, all: true }
        - rename_table: { table: papers, to: notes }
      """,
    ])
  func otherStyle(operations: String) throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_notes",
      """
      operations:
        - create_table: { name: notes, columns: [{ name: id, type: INTEGER, primary_key: true }, { name: title, type: TEXT }] }
        - create_index: { name: by_title, table: notes, columns: [title] }
      replaces:
        - { ledger: grdb_migrations, entries: [v1] }

      """)
    try sandbox.add("0002_upper", "operations:\n\(operations)\n")
    try sandbox.open().execute(
      """
      CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
      INSERT INTO grdb_migrations VALUES ('v1');
      CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT);
      CREATE INDEX by_title ON notes(title);
      INSERT INTO notes (title) VALUES ('milk');
      """)
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.applied.map(\.id) == ["0002_upper"])
    #expect(try sandbox.rows("SELECT title FROM notes") == [["MILK"]])
  }

  @Test("migrate continues from the ledger's state and keeps every row", arguments: [2, 3, 4])
  func continues(at step: Int) throws {
    let app = try ShippedApp()
    try app.device(Array(1...step))
    let foreign = try app.sandbox.rows("SELECT * FROM grdb_migrations")
    let report = try app.sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.adopted == (1...step).map { "000\($0)_step" })
    #expect(report.applied.map(\.id).count == 5 - step)
    #expect(try app.amount == [[42]], "v4 doubles an amount once, whoever runs it")
    #expect(try app.sandbox.ledger.count == 5)
    #expect(try app.sandbox.rows("SELECT * FROM grdb_migrations") == foreign)
    #expect(try app.sandbox.migrate().adopted.isEmpty)
    #expect(
      try app.sandbox.project().verify(database: app.sandbox.database, timeout: 1).status
        == .success)
  }

  @Test("status promises an adoption only if migrate accepts the schema", arguments: [false, true])
  func status(isOther: Bool) throws {
    let app = try ShippedApp()
    try app.device([1, 2])
    if isOther { try app.sandbox.run("ALTER TABLE items ADD COLUMN extra") }
    let status = try app.sandbox.project().status(
      database: app.sandbox.database, timeout: 1, comparesSchema: true)
    #expect(status.adoptable == 2)
    #expect(status.failure?.message == app.sandbox.failure()?.message)
    #expect((status.failure != nil) == isOther)
  }

  @Test("an entry out of order is refused: v4 must not double values twice")
  func outOfOrder() throws {
    let app = try ShippedApp()
    try app.device([1, 2, 4])
    let before = try Dump(app.sandbox.open())
    let failure = try #require(app.sandbox.failure())
    #expect(failure.status == .finding)
    #expect(failure.message.contains("has run `v4`"), "\(failure.message)")
    #expect(failure.message.contains("0003_step"), "\(failure.message)")
    #expect(try Dump(app.sandbox.open()) == before)
  }

  @Test("a ledger ahead of the history is refused")
  func ahead() throws {
    let app = try ShippedApp()
    try app.device([1, 2, 3, 4])
    try app.sandbox.run("INSERT INTO grdb_migrations VALUES ('v9')")
    let before = try Dump(app.sandbox.open())
    let failure = try #require(app.sandbox.failure())
    #expect(failure.status == .databaseAhead)
    #expect(failure.message.contains("no migration replaces `v9`"), "\(failure.message)")
    #expect(try Dump(app.sandbox.open()) == before)
  }

  @Test("a misspelt entry or ledger in `replaces` is reported with the nearest one in the database")
  func misspelt() throws {
    let entries = try ShippedApp(["create", "v2", "v3", "v4"])
    try entries.device([])
    try entries.sandbox.run("INSERT INTO grdb_migrations VALUES ('creates')")
    let entry = try #require(entries.sandbox.failure())
    #expect(entry.status == .databaseAhead)
    #expect(
      entry.message.contains(
        "If `create` in `replaces` means `creates`, correct it. Otherwise use"),
      "\(entry.message)")
    let ledgers = try ShippedApp()
    try ledgers.device([1])
    try ledgers.sandbox.run("ALTER TABLE grdb_migrations RENAME TO grdb_migration")
    let ledger = try #require(ledgers.sandbox.failure())
    #expect(ledger.status == .finding)
    #expect(
      ledger.message.hasSuffix(
        "Correct `ledger: grdb_migrations` in `replaces`: the database has no such table, but it has "
          + "`grdb_migration`"),
      "\(ledger.message)")
  }

  @Test(
    "a schema that differs from the ledger's state is refused",
    arguments: [
      "DROP TABLE lists", "ALTER TABLE items ADD COLUMN extra",
      "ALTER TABLE items DROP COLUMN note",
    ])
  func otherSchema(_ change: String) throws {
    let app = try ShippedApp()
    try app.device([1, 2, 3])
    try app.sandbox.run(change)
    let before = try Dump(app.sandbox.open())
    let failure = try #require(app.sandbox.failure())
    #expect(failure.status == .finding)
    #expect(failure.message.contains("its schema differs from the history"), "\(failure.message)")
    #expect(try Dump(app.sandbox.open()) == before)
    #expect(throws: Failure.self) {
      try app.sandbox.project().plan(app.sandbox.options(), database: app.sandbox.database)
    }
  }

  @Test("the database may have objects that the history does not know")
  func unknownObjects() throws {
    let app = try ShippedApp()
    try app.device([1, 2, 3])
    try app.sandbox.run("CREATE TABLE besides (a); CREATE INDEX items_note ON items (note)")
    let report = try app.sandbox.migrate()
    #expect(report.failure == nil && report.adopted.count == 3)
    #expect(report.drift.map(\.object) == ["besides", "items_note"])
    #expect(try app.sandbox.schema().table("besides") != nil)
  }

  @Test("without a manifest that names its ledger it is refused, with advice on `replaces`")
  func unnamedLedger() throws {
    let app = try ShippedApp()
    try app.device([1, 2, 3])
    for number in 1...4 {
      let file = app.sandbox.folder + "/migrations/000\(number)_step.yaml"
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let end = try #require(text.range(of: "replaces:")).lowerBound
      try String(text[..<end]).write(toFile: file, atomically: true, encoding: .utf8)
    }
    let failure = try #require(app.sandbox.failure())
    #expect(failure.status == .finding)
    #expect(
      failure.message.hasSuffix(
        "name its entries in the manifests under `replaces`, or, if that ledger has no entries, use "
          + "`schemactl adopt --database FILE`"),
      "\(failure.message)")
  }

  @Test("without pending migrations it is adopted in a transaction of its own")
  func nothingPending() throws {
    let app = try ShippedApp()
    try app.device([1, 2, 3, 4])
    try FileManager.default.removeItem(atPath: app.sandbox.folder + "/migrations/0005_more.yaml")
    let report = try app.sandbox.migrate()
    #expect(report.failure == nil && report.applied.isEmpty && report.adopted.count == 4)
    #expect(try app.sandbox.ledger.count == 4)
    #expect(try app.amount == [[42]])
  }

  @Test("several processes that start together adopt it once")
  func together() throws {
    let app = try ShippedApp()
    try app.device([1, 2])
    let project = try app.sandbox.project()
    var options = app.sandbox.options()
    options.timeout = 30
    let started = options
    let adopted = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      guard let report = try? project.migrate(started), report.failure == nil else { return }
      if !report.adopted.isEmpty { adopted.withLock { $0 += 1 } }
    }
    #expect(adopted.withLock { $0 } == 1)
    #expect(try app.sandbox.ledger.count == 5)
    #expect(try app.amount == [[42]])
  }

  @Test("status, plan and the script of the plan include the adoption")
  func previews() throws {
    let app = try ShippedApp()
    try app.device([1, 2, 3])
    let project = try app.sandbox.project()
    let status = try project.status(database: app.sandbox.database, timeout: 1)
    #expect(status.adoptable == 3 && status.pending == ["0004_step", "0005_more"])
    let plan = try project.plan(app.sandbox.options(), database: app.sandbox.database)
    #expect(plan.adopted.map(\.id).count == 3 && plan.migrations.count == 2)
    let ended = try SchemaTestPrograms.run(
      "/usr/bin/env", ["sqlite3", app.sandbox.database], input: plan.script)
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(try app.amount == [[42]])
    #expect(
      try project.verify(database: app.sandbox.database, timeout: 1).status == .success)
  }

  @Test("adopt reads the ledger, so equal schemas are unambiguous")
  func adopt() throws {
    let app = try ShippedApp()
    try app.device([1, 2, 3])
    let report = try app.sandbox.project().adopt(app.sandbox.database, at: nil, timeout: 1)
    #expect(report.at == "0003_step", "0004_step has the same schema")
    #expect(try app.sandbox.migrate().failure == nil)
    #expect(try app.amount == [[42]])
  }

  @Test("adopt finds the point of a database that has lost the ledger by its schema")
  func adoptWithoutLedger() throws {
    let app = try ShippedApp()
    try app.device([1, 2])
    try app.sandbox.run("DROP TABLE grdb_migrations")
    let report = try app.sandbox.project().adopt(app.sandbox.database, at: nil, timeout: 1)
    #expect(report.at == "0002_step")
    #expect(try app.amount == [[21]])
  }

  @Test(
    "a ledger of golang-migrate with two rows, or a version of more than 64 bits, is refused",
    arguments: [
      ("(1, 0), (2, 0)", "has the versions 1, 2"), ("(2, 0), (1, 1)", "has the versions 2, 1"),
      ("(99999999999999999999, 0)", "no migration replaces `1e+20`"),
    ])
  func golangMigrate(_ rows: String, _ message: String) throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_step",
      "operations:\n  - sql: CREATE TABLE t (a)\n"
        + "replaces:\n  - { ledger: schema_migrations, entries: [1] }\n")
    let connection = try sandbox.open()
    try connection.execute(
      "CREATE TABLE schema_migrations (version uint64, dirty bool); CREATE TABLE t (a); "
        + "INSERT INTO schema_migrations VALUES \(rows)")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
  }

  @Test("a database with the empty ledger of another tool is not called empty")
  func emptyLedger() throws {
    let app = try ShippedApp()
    try app.device([])
    var options = app.sandbox.options()
    options.existing = true
    let failure = #expect(throws: Failure.self) { try app.sandbox.project().migrate(options) }
    #expect(failure?.message.contains("contains only `grdb_migrations`") == true)
  }

  @Test(
    "an entry that no migration replaces counts more than one that failed",
    arguments: [
      (
        "CREATE TABLE _sqlx_migrations (version INTEGER, success BOOLEAN, checksum BLOB, "
          + "execution_time INTEGER); INSERT INTO _sqlx_migrations (version, success) "
          + "VALUES (1, 1), (4, 0), (9, 1)", "_sqlx_migrations", "`9`"
      ),
      (
        "CREATE TABLE schema_migrations (version uint64, dirty bool); "
          + "INSERT INTO schema_migrations VALUES (9, 1)", "schema_migrations", "`9`"
      ),
    ])
  func unknownAndFailed(_ rows: String, _ table: String, _ entry: String) throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_step",
      "operations:\n  - sql: CREATE TABLE t (a)\n"
        + "replaces:\n  - { ledger: \(table), entries: [1] }\n")
    try sandbox.run("CREATE TABLE t (a); \(rows)")
    let failure = try #require(sandbox.failure())
    #expect(failure.status == .databaseAhead)
    #expect(failure.message.contains("no migration replaces \(entry)"), "\(failure.message)")
  }

  @Test("a failed repeatable migration of flyway is ignored")
  func repeatable() throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_step",
      "operations:\n  - sql: CREATE TABLE t (a)\n"
        + "replaces:\n  - { ledger: flyway_schema_history, entries: [1] }\n")
    try sandbox.run(
      "CREATE TABLE t (a); CREATE TABLE flyway_schema_history (installed_rank INT PRIMARY KEY, "
        + "version TEXT, type TEXT, script TEXT, success BOOLEAN); INSERT INTO flyway_schema_history "
        + "VALUES (1, '1', 'SQL', 'V1__a.sql', 1), (2, NULL, 'SQL', 'R__r.sql', 0)")
    #expect(try sandbox.migrate().adopted == ["0001_step"])
  }

  @Test("the ledgers of two tools need their kinds")
  func twoLedgers() throws {
    let app = try ShippedApp()
    try app.device([1])
    try app.sandbox.run(
      "CREATE TABLE schema_migrations (version varchar(255) PRIMARY KEY); INSERT INTO schema_migrations VALUES ('1')"
    )
    func history(_ kinds: [String]) throws {
      try app.sandbox.add(
        "0001_step",
        """
        operations:
          - sql: \(ShippedApp.steps[0])
        replaces:
          - { ledger: grdb_migrations, entries: [v1]\(kinds[0]) }
          - { ledger: schema_migrations, entries: ['1']\(kinds[1]) }
        """)
    }
    for number in 2...4 {
      try FileManager.default.removeItem(
        atPath: app.sandbox.folder + "/migrations/000\(number)_step.yaml")
    }
    try history(["", ""])
    #expect(app.sandbox.failure()?.status == .invalidInput)
    try history([", kind: grdb", ", kind: dbmate"])
    #expect(try app.sandbox.migrate().adopted == ["0001_step"])
  }

  /// A tool's ledger after the first two migrations, and its rows if the second one failed.
  struct Tool: CustomTestStringConvertible {
    let name: String
    let ledger: String
    let table: String
    let entries: [String]
    var failed: String?

    var testDescription: String { name }
  }

  static let tools = [
    Tool(
      name: "dbmate",
      ledger: """
        CREATE TABLE "schema_migrations" (version varchar(128) primary key);
        INSERT INTO schema_migrations VALUES ('20240101'), ('20240102')
        """, table: "schema_migrations", entries: ["20240101", "20240102"]),
    Tool(
      name: "golang-migrate",
      ledger: """
        CREATE TABLE schema_migrations (version uint64, dirty bool);
        CREATE UNIQUE INDEX version_unique ON schema_migrations (version);
        INSERT INTO schema_migrations VALUES (2, false)
        """, table: "schema_migrations", entries: ["000001", "000002"],
      failed: "UPDATE schema_migrations SET dirty = true"),
    Tool(
      name: "goose",
      ledger: """
        CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, \
        is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
        INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1), (2, 1), (3, 1), (3, 0)
        """, table: "goose_db_version", entries: ["00001", "00002"]),
    Tool(
      name: "sqlx",
      ledger: """
        CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL, \
        installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, checksum BLOB \
        NOT NULL, execution_time BIGINT NOT NULL);
        INSERT INTO _sqlx_migrations VALUES (1, 'a', 0, TRUE, x'00', 1), (2, 'b', 0, TRUE, x'00', 1)
        """, table: "_sqlx_migrations", entries: ["1", "0002"],
      failed: "UPDATE _sqlx_migrations SET success = FALSE WHERE version = 2"),
    Tool(
      name: "diesel",
      ledger: """
        CREATE TABLE __diesel_schema_migrations (version VARCHAR(50) PRIMARY KEY NOT NULL, run_on TIMESTAMP \
        NOT NULL DEFAULT CURRENT_TIMESTAMP);
        INSERT INTO __diesel_schema_migrations (version) VALUES ('20240101000000'), ('20240102000000')
        """, table: "__diesel_schema_migrations", entries: ["20240101000000", "20240102000000"]),
    Tool(
      name: "drizzle",
      ledger: """
        CREATE TABLE "__drizzle_migrations" (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric);
        INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 1704067200000), ('y', 1704153600000)
        """, table: "__drizzle_migrations", entries: ["1704067200000", "1704153600000"]),
    Tool(
      name: "prisma",
      ledger: """
        CREATE TABLE "_prisma_migrations" (id TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL, finished_at \
        DATETIME, migration_name TEXT NOT NULL, logs TEXT, rolled_back_at DATETIME, started_at DATETIME NOT \
        NULL DEFAULT current_timestamp, applied_steps_count INTEGER UNSIGNED NOT NULL DEFAULT 0);
        INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES
        ('a', '', 1, '20240101_init'), ('b', '', 1, '20240102_more')
        """, table: "_prisma_migrations", entries: ["20240101_init", "20240102_more"],
      failed: "UPDATE _prisma_migrations SET finished_at = NULL WHERE id = 'b'"),
    Tool(
      name: "django",
      ledger: """
        CREATE TABLE "django_migrations" (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, app varchar(255) NOT \
        NULL, name varchar(255) NOT NULL, applied datetime NOT NULL);
        INSERT INTO django_migrations (app, name, applied) VALUES ('shop', '0001_initial', 0), ('shop', '0002', 0)
        """, table: "django_migrations", entries: ["shop.0001_initial", "shop.0002"]),
    Tool(
      name: "flyway",
      ledger: """
        CREATE TABLE "flyway_schema_history" (installed_rank INT NOT NULL PRIMARY KEY, version VARCHAR(50), \
        description VARCHAR(200) NOT NULL, type VARCHAR(20) NOT NULL, script VARCHAR(1000) NOT NULL, checksum \
        INT, installed_by VARCHAR(100) NOT NULL, installed_on TEXT NOT NULL DEFAULT '', execution_time INT NOT \
        NULL, success BOOLEAN NOT NULL);
        INSERT INTO flyway_schema_history VALUES (1, '1', 'a', 'SQL', 'V1__a.sql', 0, 'me', '', 1, 1),
        (2, '1.1', 'b', 'SQL', 'V1_1__b.sql', 0, 'me', '', 1, 1), (3, NULL, 'r', 'SQL', 'R__r.sql', 0, 'me', '', 1, 1)
        """, table: "flyway_schema_history", entries: ["001", "1.1"],
      failed: "UPDATE flyway_schema_history SET success = 0 WHERE installed_rank = 2"),
    Tool(
      name: "alembic",
      ledger: """
        CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY \
        KEY (version_num));
        INSERT INTO alembic_version VALUES ('ae10')
        """, table: "alembic_version", entries: ["27c6", "ae10"]),
  ]

  @Test("each known tool is adopted by the rules of its ledger", arguments: tools)
  func kinds(_ tool: Tool) throws {
    let sandbox = try Sandbox()
    for (index, entry) in (tool.entries + ["later"]).enumerated() {
      try sandbox.add(
        "000\(index + 1)_step",
        """
        operations:
          - sql: CREATE TABLE t\(index) (a)
        replaces:
          - { ledger: \(tool.table), entries: ['\(entry)'] }
        """)
    }
    try sandbox.run("CREATE TABLE t0 (a); CREATE TABLE t1 (a); \(tool.ledger)")
    if let failed = tool.failed {
      try sandbox.run("\(failed)")
      let failure = try #require(sandbox.failure())
      #expect(
        failure.status == .finding && failure.message.contains("failed"), "\(failure.message)")
      try FileManager.default.removeItem(atPath: sandbox.database)
      try sandbox.run("CREATE TABLE t0 (a); CREATE TABLE t1 (a); \(tool.ledger)")
    }
    let foreign = try sandbox.rows("SELECT * FROM \(tool.table)")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure?.message ?? "")")
    #expect(report.adopted == ["0001_step", "0002_step"])
    #expect(report.applied.map(\.id) == ["0003_step"])
    #expect(try sandbox.rows("SELECT * FROM \(tool.table)") == foreign)
  }

  @Test("an unknown tool's ledger is read from the column that the manifest names")
  func column() throws {
    let sandbox = try Sandbox()
    func history(_ more: String) throws {
      try sandbox.add(
        "0001_step",
        """
        operations:
          - sql: CREATE TABLE t (a)
        replaces:
          - { ledger: my_steps, entries: [1]\(more) }
        """)
    }
    try sandbox.run(
      "CREATE TABLE t (a); CREATE TABLE my_steps (step INTEGER); INSERT INTO my_steps VALUES (1)")
    try history("")
    #expect(sandbox.failure()?.status == .invalidInput)
    try history(", column: stepp")
    #expect(sandbox.failure()?.status == .invalidInput)
    #expect(sandbox.failure()?.message.contains("has no column `stepp`") == true)
    try history(", column: step")
    #expect(try sandbox.migrate().adopted == ["0001_step"])
  }
}
