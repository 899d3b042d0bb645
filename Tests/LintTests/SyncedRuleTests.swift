import Foundation
import SchemaLint
import SchemaQueries
import SchemaSQLite
import SchemaTimeline
import Testing

private let key = "id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid())"
private let lists = sql("CREATE TABLE lists (\(key), title TEXT)")

struct Case: Sendable, CustomStringConvertible {
  let description: String
  /// The rule's severity under the profiles local, additive, sqlite-data and cr-sqlite; nil for no
  /// finding.
  let expected: [Severity?]

  init(_ description: String, _ expected: Severity?...) {
    self.description = description
    self.expected = expected
  }
}

@Suite("Requirements of sync engines")
struct SyncedRuleTests {
  private func severities(_ rule: String, _ history: [String]) throws -> [Severity?] {
    try Profile.allCases.map { profile in
      let report = try lint(history, profile)
      #expect(report.failure == nil)
      let found = report.findings.filter { $0.rule == rule }
      #expect(found.count <= 1, "\(found.map(\.message))")
      return found.first?.severity
    }
  }

  @Test(
    "the primary key",
    arguments: [
      Case("a (\(key))", nil, nil, nil, nil),
      Case("a (id TEXT)", nil, .warning, .error, .error),
      Case("a (id INTEGER PRIMARY KEY)", nil, .warning, .error, nil),
      Case("a (id INTEGER PRIMARY KEY AUTOINCREMENT)", nil, .warning, .error, nil),
      Case(
        "a (x TEXT NOT NULL, y TEXT NOT NULL, PRIMARY KEY (x, y))", nil, .warning, .error, nil),
      Case("a (id TEXT PRIMARY KEY NOT NULL)", nil, .warning, .error, nil),
      Case("a (id TEXT PRIMARY KEY DEFAULT (uuid()))", nil, nil, .error, .error),
      Case("a (id TEXT NOT NULL DEFAULT (uuid()), PRIMARY KEY (id))", nil, nil, .error, nil),
      Case("a (id INT PRIMARY KEY)", nil, .warning, .error, .error),
      Case("a (x INTEGER, y TEXT NOT NULL, PRIMARY KEY (x, y))", nil, .warning, .error, .error),
      Case("a (id TEXT PRIMARY KEY DEFAULT (uuid())) WITHOUT ROWID", nil, nil, .error, nil),
      Case("a (id TEXT PRIMARY KEY DEFAULT (uuid())) STRICT", nil, nil, .error, nil),
      Case(
        "a (id TEXT PRIMARY KEY NOT NULL REFERENCES lists ON DELETE CASCADE)", nil, nil, nil, nil),
    ])
  func primaryKey(_ table: Case) throws {
    let history = [lists, sql("CREATE TABLE \(table)")]
    #expect(try severities("synced-primary-key", history) == table.expected)
  }

  @Test(
    "a primary key is found once, even if its column is renamed later",
    arguments: [
      "ALTER TABLE a RENAME COLUMN id TO number",
      "CREATE TABLE n (number INTEGER PRIMARY KEY, title TEXT) STRICT;\n"
        + "INSERT INTO n SELECT id, title FROM a;\nDROP TABLE a;\nALTER TABLE n RENAME TO a",
    ])
  func renamedKey(_ rename: String) throws {
    let made = sql("CREATE TABLE a (id INTEGER PRIMARY KEY, title TEXT) STRICT")
    for profile in [Profile.additive, .sqliteData] {
      let report = try lint([made, sql(rename)], profile)
      let found = report.findings.filter { $0.rule == "synced-primary-key" }
      #expect(found.map(\.migration) == ["0001_step"])
    }
  }

  @Test("the schema of SQLiteData's demo of reminders has exactly one error, its status column")
  func reminders() throws {
    let tables = sql(
      """
      CREATE TABLE "remindersLists" (
        \(key),
        "title" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT ''
      ) STRICT;
      CREATE TABLE "remindersListAssets" (
        "remindersListID" TEXT PRIMARY KEY NOT NULL
          REFERENCES "remindersLists" ("id") ON DELETE CASCADE,
        "coverImage" BLOB
      ) STRICT;
      CREATE TABLE "reminders" (
        \(key), "dueDate" TEXT,
        "remindersListID" TEXT NOT NULL REFERENCES "remindersLists" ("id") ON DELETE CASCADE,
        "status" INTEGER NOT NULL DEFAULT 0,
        "title" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT ''
      ) STRICT;
      CREATE TABLE "tags" ("title" TEXT COLLATE NOCASE PRIMARY KEY NOT NULL) STRICT;
      CREATE TABLE "remindersTags" (
        \(key),
        "reminderID" TEXT NOT NULL REFERENCES "reminders" ("id") ON DELETE CASCADE,
        "tagID" TEXT NOT NULL REFERENCES "tags" ("title") ON DELETE CASCADE ON UPDATE CASCADE
      ) STRICT;
      CREATE VIRTUAL TABLE "reminderTexts" USING fts5("title", "notes", tokenize = 'trigram');
      """)
    let report = try lint([tables], .sqliteData)
    #expect(report.failure == nil)
    #expect(
      report.findings.filter { $0.severity == .error }.map(\.short) == [
        "0001 12:7 error not-null-without-conflict-default reminders.status"
      ])
    let added = sql("ALTER TABLE tags ADD COLUMN listID TEXT NOT NULL REFERENCES remindersLists")
    let found = try lint([tables, added], .sqliteData).findings.filter {
      $0.rule == "not-null-without-conflict-default" && $0.migration == "0002_step"
    }
    #expect(found.count == 1)
  }

  @Test("an unchanged key is not found again")
  func sameKey() throws {
    let add = sql("ALTER TABLE a ADD COLUMN x TEXT")
    let report = try lint([sql("CREATE TABLE a (id INTEGER PRIMARY KEY)"), add])
    #expect(report.lines == ["0001 3:7 warning synced-primary-key a"])
  }

  @Test(
    "UNIQUE",
    arguments: [
      Case("a (\(key), x TEXT UNIQUE)", nil, .warning, .error, .error),
      Case("a (\(key), x TEXT, y TEXT, UNIQUE (x, y))", nil, .warning, .error, .error),
      Case("a (\(key), x TEXT); CREATE UNIQUE INDEX i ON a (x)", nil, .warning, .error, .error),
      Case(
        "a (\(key), x); CREATE UNIQUE INDEX i ON a (lower(x)) WHERE x > 0", nil, .warning, .error,
        .error),
      Case("a (\(key), x TEXT); CREATE INDEX i ON a (x)", nil, nil, nil, nil),
    ])
  func unique(_ table: Case) throws {
    #expect(try severities("synced-unique", [sql("CREATE TABLE \(table)")]) == table.expected)
  }

  @Test("a UNIQUE that a rebuild or a rename keeps is not found again")
  func sameUnique() throws {
    let made = sql("CREATE TABLE a (\(key), x UNIQUE, y);\nCREATE UNIQUE INDEX i ON a (y)")
    let rebuilt = sql(
      """
      CREATE TABLE n (\(key), x UNIQUE, y);
      INSERT INTO n SELECT * FROM a;
      DROP TABLE a;
      ALTER TABLE n RENAME TO a;
      CREATE UNIQUE INDEX i ON a (y);
      """)
    let staged = [
      sql("CREATE TABLE n (\(key), x UNIQUE, y);\nINSERT INTO n SELECT * FROM a"),
      sql("DROP TABLE a;\nALTER TABLE n RENAME TO a;\nCREATE UNIQUE INDEX i ON a (y)"),
    ]
    let first = ["0001 3:7 warning synced-unique a.x", "0001 4:7 warning synced-unique i"]
    #expect(try lint([made, rebuilt]).lines == first)
    #expect(
      try lint([made, sql("ALTER TABLE a RENAME TO b")]).lines.prefix(2)
        == ["0001 3:7 warning synced-unique b.x", "0001 4:7 warning synced-unique i"])
    #expect(try lint([made] + staged).lines == first)
  }

  @Test(
    "a unique index is found under the latest name of its table, and only if it is still unique")
  func latestUnique() throws {
    let made = sql("CREATE TABLE a (\(key), x, y);\nCREATE UNIQUE INDEX i ON a (y)")
    func found(_ step: String, _ sync: String) throws -> [String] {
      try lint(
        [made, sql(step)], configuration: "sync: { engine: sqlite-data, \(sync) }"
      ).findings.filter { $0.rule == "synced-unique" }.map(\.short)
    }
    let rename = "ALTER TABLE a RENAME TO b"
    #expect(try found(rename, "tables: [b]") == ["0001 4:7 error synced-unique i"])
    #expect(try found(rename, "local_tables: [b]") == [])
    #expect(try found("DROP INDEX i;\nCREATE INDEX i ON a (y)", "tables: [a]") == [])
  }

  @Test("a unique column of create_table is found at its definition, a constraint at its key")
  func uniquePlaces() throws {
    let manifest = """
      operations:
        - create_table:
            name: a
            columns:
              - name: id
                type: TEXT
                primary_key: true
                not_null: { on_conflict: replace }
                default: { sql: uuid() }
              - { name: x, unique: true }
              - { name: y }
            unique: [[x, y]]
        - create_index: { name: i, table: a, columns: [y], unique: true }
      """
    let lines = try lint([manifest]).lines
    #expect(
      lines == [
        "0001 10:11 warning synced-unique a.x", "0001 12:7 warning synced-unique a",
        "0001 13:54 warning synced-unique i",
      ])
  }

  @Test(
    "foreign keys",
    arguments: [
      Case("a (\(key), x REFERENCES lists ON DELETE CASCADE)", nil, nil, nil, .error),
      Case("a (\(key), x REFERENCES lists ON DELETE SET NULL)", nil, nil, nil, .error),
      Case("a (\(key), x REFERENCES lists ON DELETE SET DEFAULT)", nil, nil, nil, .error),
      Case("a (\(key), x REFERENCES lists)", nil, .warning, .error, .error),
      Case("a (\(key), x REFERENCES lists ON DELETE RESTRICT)", nil, .warning, .error, .error),
      Case("a (\(key), x REFERENCES a ON DELETE CASCADE)", nil, .warning, .error, .error),
      Case(
        "a (\(key), x, FOREIGN KEY (x) REFERENCES lists (id) ON DELETE NO ACTION)", nil,
        .warning, .error, .error),
    ])
  func foreignKey(_ table: Case) throws {
    let history = [lists, sql("CREATE TABLE \(table)")]
    #expect(try severities("synced-foreign-key", history) == table.expected)
  }

  @Test("a cycle is found once, at the key that closes it")
  func cycle() throws {
    let tables = sql(
      """
      CREATE TABLE a (\(key), x REFERENCES c ON DELETE CASCADE);
      CREATE TABLE b (\(key), x REFERENCES a ON DELETE CASCADE);
      CREATE TABLE c (\(key), x REFERENCES b ON DELETE CASCADE);
      """)
    let report = try lint([tables], .sqliteData)
    let found = report.findings.filter { $0.rule == "synced-foreign-key" }
    #expect(found.map(\.short) == ["0001 5:7 error synced-foreign-key c.x"])
    #expect(found.first?.message.contains("it closes a cycle") == true)
  }

  @Test("a parent that does not sync is named")
  func localParent() throws {
    let child = sql("CREATE TABLE a (\(key), x REFERENCES lists ON DELETE CASCADE)")
    let report = try lint(
      [lists, child], configuration: "sync: { engine: sqlite-data, local_tables: [lists] }")
    let found = report.findings.filter { $0.rule == "synced-foreign-key" }
    #expect(found.map(\.short) == ["0002 3:7 error synced-foreign-key a.x"])
    #expect(found.first?.message.contains("`lists` does not sync") == true)
  }

  @Test(
    "NOT NULL",
    arguments: [
      Case("x INTEGER", nil, nil, nil, nil),
      Case("x INTEGER NOT NULL DEFAULT 0", nil, nil, .error, nil),
      Case("x INTEGER NOT NULL ON CONFLICT ABORT DEFAULT 0", nil, nil, .error, nil),
      Case("x INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0", nil, nil, nil, nil),
      Case("x INTEGER DEFAULT 0 NOT NULL ON CONFLICT REPLACE", nil, nil, nil, nil),
      Case("x INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT NULL", nil, nil, .error, .error),
      Case("x INTEGER NOT NULL", nil, nil, .error, .error),
      Case("x INTEGER NOT NULL GENERATED ALWAYS AS (1)", nil, nil, nil, nil),
    ])
  func notNull(_ column: Case) throws {
    let rule = "not-null-without-conflict-default"
    let added = [sql("CREATE TABLE a (\(key))"), sql("ALTER TABLE a ADD COLUMN \(column)")]
    let created = [sql("CREATE TABLE a (\(key), \(column))")]
    #expect(try severities(rule, added) == column.expected)
    #expect(try severities(rule, created) == column.expected)
  }

  @Test("a NOT NULL column without a default is found on existing tables, including rebuilds")
  func withoutDefault() throws {
    let rebuilt = """
      CREATE TABLE n (\(key), title TEXT, x INTEGER NOT NULL DEFAULT (NULL));
      INSERT INTO n SELECT id, title, 1 FROM lists;
      DROP TABLE lists;
      ALTER TABLE n RENAME TO lists;
      """
    #expect(
      try lint([lists, sql(rebuilt)]).lines == [
        "0002 3:7 error new-required-column lists.x"
      ])
    let added = sql("ALTER TABLE lists ADD COLUMN x INTEGER NOT NULL")
    #expect(
      try lint([lists, added], .local).lines == [
        "0002 3:7 error fails-on-data lists"
      ])
    let parts = rebuilt.components(separatedBy: "DROP")
    #expect(
      try lint([lists, sql(parts[0]), sql("DROP" + parts[1])]).lines == [
        "0003 4:7 error new-required-column lists.x"
      ])
    #expect(try lint([sql("CREATE TABLE a (\(key), x NOT NULL)")]).lines == [])
    // A function of the app has no result, so that no rows show the effect.
    let computed = rebuilt.replacingOccurrences(of: "title, 1", with: "title, size(title)")
    #expect(
      try lint([lists, sql(computed)], functions: ["size"]).findings.map(\.short)
        .contains("0002 3:7 error new-required-column lists.x"))
  }

  @Test(
    "names of columns that CloudKit reserves",
    arguments: [
      Case("a (\(key), recordID)", nil, nil, .error, nil),
      Case("a (\(key), ETAG)", nil, nil, .error, nil),
      Case("a (\(key), modifiedAt)", nil, nil, nil, nil),
    ])
  func names(_ table: Case) throws {
    #expect(try severities("cloudkit-name", [sql("CREATE TABLE \(table)")]) == table.expected)
  }

  @Test(
    "names of tables that are invalid as record names",
    arguments: [
      Case("'a:b' (\(key))", nil, nil, .error, nil), Case("'_a' (\(key))", nil, nil, .error, nil),
      Case("'é' (\(key))", nil, nil, .error, nil),
      Case("\(String(repeating: "a", count: 218)) (\(key))", nil, nil, nil, nil),
      Case("\(String(repeating: "a", count: 219)) (\(key))", nil, nil, .error, nil),
    ])
  func recordNames(_ table: Case) throws {
    #expect(try severities("cloudkit-name", [sql("CREATE TABLE \(table)")]) == table.expected)
  }

  @Test("cr-sqlite allows dropping columns between begin_alter and commit_alter")
  func alter() throws {
    let inside = sql(
      """
      SELECT crsql_begin_alter('lists');
      ALTER TABLE lists DROP COLUMN title;
      SELECT crsql_commit_alter('lists');
      """)
    let outside = sql(
      """
      SELECT crsql_begin_alter('lists');
      SELECT crsql_commit_alter('lists');
      ALTER TABLE lists DROP COLUMN title;
      """)
    let functions = ["crsql_begin_alter", "crsql_commit_alter"]
    #expect(try lint([lists, inside], .crSQLite, functions: functions).lines == [])
    #expect(
      try lint([lists, outside], .crSQLite, functions: functions).lines == [
        "0002 5:7 error drop-column lists.title"
      ])
    #expect(
      try lint([lists, inside], .sqliteData, functions: functions).lines == [
        "0002 4:7 error drop-column lists.title"
      ])
  }
}

@Suite("Help that depends on the engine")
struct EngineHelpTests {
  @Test("a key's default is uuid() only where the engine registers it")
  func randomKey() throws {
    let table = sql("CREATE TABLE tags (id TEXT PRIMARY KEY NOT NULL) STRICT")
    func help(_ profile: Profile) throws -> String {
      try lint([table], profile).findings.first { $0.rule == "synced-primary-key" }?.help ?? ""
    }
    #expect(try help(.sqliteData).contains("`default: { sql: \"uuid()\" }`"))
    let plain = try help(.additive)
    let start = try #require(plain.range(of: "{ sql: \"")?.upperBound)
    let expression = String(plain[start...].prefix { $0 != "\"" })
    #expect(expression.hasPrefix("lower(hex(randomblob(4))"))
    let made = try Connection(path: nil).value("SELECT \(expression)")?.text ?? ""
    let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
    #expect(made.wholeMatch(of: form) != nil, "\(made)")
  }

  @Test("under local, drop-column shows how to accept it")
  func acceptance() throws {
    let bad = try #require(Rule.named("drop-column")?.bad.manifests)
    let finding = try #require(try lint(bad, .local).findings.first)
    #expect(
      finding.help?.hasSuffix("`lint: { allow: [{ rule: drop-column, reason: … }] }`") == true)
  }

  @Test(
    "a trigger with the guard that lint suggests leaves the compatibility simulation as it is",
    arguments: [
      (Profile.sqliteData, "NOT sqlitedata_icloud_syncEngineIsSynchronizingChanges()"),
      (Profile.crSQLite, "crsql_internal_sync_bit() = 0"),
    ])
  func guardedTrigger(_ profile: Profile, _ condition: String) throws {
    let history = [
      Rule.named("drop-column")?.bad.manifests[0] ?? "",
      sql(
        """
        CREATE TRIGGER reminders_trim AFTER INSERT ON reminders WHEN \(condition) BEGIN
          UPDATE reminders SET title = trim(NEW.title) WHERE id = NEW.id;
        END;
        """),
      sql("ALTER TABLE reminders ADD COLUMN notes TEXT"),
    ]
    let report = try lint(history, profile, releases: ["1.0": 2])
    #expect(report.failure == nil)
    #expect(report.notes == [])
    #expect(report.findings.map(\.kind) == [])
  }

  @Test("a problem is reported where it began, whatever the table and the column are called later")
  func origin() throws {
    let made = sql("CREATE TABLE a (\(key), n TEXT NOT NULL, k TEXT, UNIQUE (k))")
    let allowed =
      "lint: { allow: [{ rule: rename-table, reason: r }, { rule: rename-column, reason: r }] }"
    let renamed =
      sql("ALTER TABLE a RENAME TO b; ALTER TABLE b RENAME n TO m; ALTER TABLE b RENAME k TO l")
      + allowed
    #expect(
      try lint([made, renamed], .sqliteData).lines == [
        "0001 3:7 error not-null-without-conflict-default b.m",
        "0001 3:7 error synced-unique b.l",
      ])
  }

  @Test("a problem that a later migration solves is not reported")
  func solved() throws {
    let history = [
      sql("CREATE TABLE a (id INTEGER PRIMARY KEY, title TEXT)"),
      sql("DROP TABLE a; CREATE TABLE a (\(key), title TEXT)"),
    ]
    let found = try lint(history, .sqliteData).findings.map(\.rule)
    #expect(!found.contains("synced-primary-key"))
  }

  @Test("a mirrored move is not reported as a write that is not uploaded")
  func mirroredMove() throws {
    let bad = try #require(Rule.named("drop-column")?.bad.manifests)
    let mirrored =
      bad[1] + "\n      keep_source: true\n      mirror: true\n      map_back: { 0: 0, 1: 1 }"
    func rules(_ move: String) throws -> [String] {
      try lint([bad[0], move], .sqliteData).findings.map(\.rule)
    }
    #expect(try rules(mirrored) == [])
    #expect(
      try rules(bad[1] + "\n      keep_source: true") == ["data-write-on-synced-table"])
  }
}
