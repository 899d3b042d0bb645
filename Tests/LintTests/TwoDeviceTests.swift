import SchemaLint
import SchemaQueries
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

private let base = """
  operations:
    - sql: |
        CREATE TABLE reminders (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          title TEXT NOT NULL,
          isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
        );
        CREATE TABLE lists (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          name TEXT
        )
  """

/// Runs the script of a finding on two plain databases, like `sqlite3` shells. Returns the error or
/// the value of its last statement.
private func run(_ script: String) throws -> String? {
  var shells: [String: Connection] = [:]
  var shell = ""
  var result: String?
  var text = ""
  func finish() throws {
    guard !text.isEmpty, let connection = shells[shell] else { return }
    var statements = Script(text)
    text = ""
    do {
      while let statement = try statements.next(on: connection) {
        while try statement.step() { result = try "\(statement.value(0))" }
      }
    } catch {
      result = error.message
    }
  }
  for line in script.split(separator: "\n").dropFirst() {
    guard line.hasPrefix("-- In ") else {
      text += line + "\n"
      continue
    }
    try finish()
    shell = line.contains("one sqlite3") || line.contains("first") ? "first" : "second"
    if shells[shell] == nil {
      let connection = try Connection(path: nil)
      try connection.register(
        FunctionDefinition(name: "uuid", arguments: 0, isDeterministic: false) { _ in
          throw FunctionError("no such function: uuid")
        })
      shells[shell] = connection
    }
  }
  try finish()
  return result
}

/// The findings of the simulation for one step after release 1.0, without scripts.
private func proven(
  _ step: String, after first: String = base, _ profile: Profile = .sqliteData,
  configuration: String = ""
) throws -> [String] {
  let report = try lint(
    [first, step], profile, configuration: configuration, releases: ["1.0": 1])
  #expect(report.failure == nil)
  for finding in report.proof where finding.severity == .error {
    let last = try run(finding.message)
    let lesson = finding.message.split(separator: "\n").last ?? ""
    if lesson.hasPrefix("-- Refused: ") {
      #expect("-- Refused: \(last ?? "")" == lesson)
    } else {
      #expect(last != nil)
    }
  }
  return report.proof.map { finding in
    "\(finding.line):\(finding.column) \(finding.severity.rawValue) \(finding.object ?? "") "
      + finding.message.split(separator: "\n")[0]
  }
}

extension LintReport {
  fileprivate var proof: [Finding] { findings.filter { $0.rule == "two-devices" } }
}

@Suite("Compatibility simulation: Reminders")
struct RemindersProofTests {
  private let move = """
    operations:
      - move_column:
          table: reminders
          from: isCompleted
          to: { name: status, type: INTEGER, not_null: true, default: 0 }
          map: { 0: 0, 1: 1 }
    """

  @Test(
    "values that an older device writes to a moved column are refused or lost",
    arguments: Profile.allCases)
  func move(_ profile: Profile) throws {
    let lost =
      "4:7 error reminders.isCompleted a 1.0 device creates reminders(id='one', title='Milk', "
      + "isCompleted=1); a device with `0002_step` has no column `reminders.isCompleted`, and the "
      + "value is lost"
    let expected: [Profile: [String]] = [.local: [], .additive: [lost], .crSQLite: [lost]]
    let refused =
      "5:11 error reminders.status a 1.0 device creates reminders(id='one', title='Milk'); a device "
      + "with `0002_step` refuses it: NOT NULL constraint failed: reminders.status"
    #expect(try proven(move, profile) == expected[profile] ?? [refused])
  }

  @Test("the script is complete and has the same result on two plain databases")
  func script() throws {
    let report = try lint([base, move], .sqliteData, releases: ["1.0": 1])
    let message = try #require(report.proof.first?.message)
    #expect(
      message == """
        a 1.0 device creates reminders(id='one', title='Milk'); a device with `0002_step` refuses it: \
        NOT NULL constraint failed: reminders.status
        -- In one sqlite3 shell, a 1.0 device:
        PRAGMA foreign_keys = ON;
        CREATE TABLE reminders (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(16))),
          title TEXT NOT NULL,
          isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
        );
        INSERT INTO reminders (id, title) VALUES ('one', 'Milk');
        -- In another shell, a device with `0002_step`, which receives the row:
        PRAGMA foreign_keys = ON;
        CREATE TABLE reminders (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(16))),
          title TEXT NOT NULL,
          "status" INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO reminders (id, title, status) VALUES ('one', 'Milk', NULL) \
        ON CONFLICT (id) DO UPDATE SET title = excluded.title;
        -- Refused: NOT NULL constraint failed: reminders.status
        """)
  }

  @Test("the safe form passes")
  func safe() throws {
    let step = """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }
            map: { 0: 0, 1: 1 }
            keep_source: true
      """
    for profile in Profile.allCases { #expect(try proven(step, profile) == []) }
  }
}

@Suite("Compatibility simulation: additive changes pass")
struct AdditiveProofTests {
  @Test(
    "an additive change has no finding",
    arguments: oneIn(
      2,
      of: [
        "ALTER TABLE reminders ADD COLUMN notes TEXT",
        "ALTER TABLE reminders ADD COLUMN status INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0",
        "ALTER TABLE reminders ADD COLUMN made TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '2026-01-01'",
        "ALTER TABLE reminders ADD COLUMN long INTEGER AS (length(title))",
        "ALTER TABLE reminders ADD COLUMN listID TEXT REFERENCES lists",
        "ALTER TABLE reminders ADD COLUMN level INTEGER CHECK (level < 4)",
        """
        CREATE TABLE tags (
          id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
          reminderID TEXT REFERENCES reminders ON DELETE CASCADE, name TEXT NOT NULL
        )
        """,
        "CREATE INDEX reminders_title ON reminders (title)",
        "CREATE VIEW titles AS SELECT title FROM reminders",
        """
        ALTER TABLE reminders ADD COLUMN changedAt TEXT;
        CREATE TRIGGER reminders_changed AFTER UPDATE ON reminders BEGIN
          UPDATE reminders SET changedAt = CURRENT_TIMESTAMP, title = trim(title) WHERE id = NEW.id;
        END
        """,
        """
        CREATE TRIGGER reminders_made AFTER INSERT ON reminders BEGIN
          UPDATE reminders SET title = upper(NEW.title) WHERE id = NEW.id;
        END
        """,
      ]))
  func additions(_ change: String) throws {
    for profile in [Profile.additive, .sqliteData, .crSQLite] {
      #expect(try proven(sql(change), profile) == [])
    }
  }

  @Test("a default may call a function of the app")
  func appFunction() throws {
    let step = sql(
      """
      ALTER TABLE lists ADD COLUMN code TEXT NOT NULL ON CONFLICT REPLACE DEFAULT (shortID());
      ALTER TABLE lists ADD COLUMN rank INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT (nextRank())
      """)
    for strict in ["", " STRICT"] {
      let table = sql("CREATE TABLE lists (id TEXT PRIMARY KEY NOT NULL, name TEXT)\(strict)")
      let report = try lint(
        [table, step], .sqliteData, functions: ["shortID", "nextRank"], releases: ["1.0": 1])
      #expect(report.failure == nil)
      #expect(report.proof == [])
    }
  }

  @Test(
    "rows that devices of one version refuse, too, are not found",
    arguments: [
      // Each device changes one column: together, the changes violate the CHECK.
      """
      CREATE TABLE a (
        id TEXT PRIMARY KEY NOT NULL, x INTEGER NOT NULL DEFAULT 1, y INTEGER NOT NULL DEFAULT 1,
        CHECK (x = 1 OR y = 1)
      );
      """,
      // A device stores another value than it accepts.
      """
      CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL DEFAULT 0);
      CREATE TRIGGER a_first BEFORE INSERT ON a WHEN NEW.n <> 0 BEGIN
        SELECT RAISE(ABORT, 'n starts at 0');
      END;
      CREATE TRIGGER a_next AFTER INSERT ON a BEGIN
        UPDATE a SET n = n + 1 WHERE id = NEW.id;
      END;
      """,
    ])
  func sameVersion(_ table: String) throws {
    #expect(try proven(sql("ALTER TABLE a ADD COLUMN more TEXT"), after: sql(table)) == [])
  }

  @Test("a default is enough, except for an engine that inserts NULL for missing columns")
  func crSQLite() throws {
    let step = sql("ALTER TABLE reminders ADD COLUMN status INTEGER NOT NULL DEFAULT 0")
    #expect(try proven(step, .crSQLite) == [])
    #expect(try proven(step, .additive) == [])
    #expect(try proven(step, .sqliteData).count == 1)
  }

  @Test("a column may be dropped if cr-sqlite knows of it")
  func announced() throws {
    let drop = "ALTER TABLE lists DROP COLUMN name"
    let told = "SELECT crsql_begin_alter('lists');\n\(drop);\nSELECT crsql_commit_alter('lists')"
    func found(_ text: String) throws -> Int {
      let report = try lint(
        [base, sql(text)], .crSQLite, functions: ["crsql_begin_alter", "crsql_commit_alter"],
        releases: ["1.0": 1])
      return report.findings.filter { $0.rule == "two-devices" }.count
    }
    #expect(try found(drop) == 1)
    #expect(try found(told) == 0)
  }

  @Test("a column may be dropped if a trigger fills it for older devices")
  func trigger() throws {
    let first = sql(
      """
      CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, old TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '')
      """)
    let step = sql(
      """
      ALTER TABLE a ADD COLUMN new TEXT;
      CREATE TRIGGER a_new AFTER INSERT ON a WHEN NEW.new IS NOT NULL BEGIN
        UPDATE a SET old = NEW.new WHERE id = NEW.id;
      END
      """)
    #expect(try proven(step, after: first) == [])
  }
}

@Suite("Compatibility simulation: findings")
struct FoundByProofTests {
  private let creates = "a 1.0 device creates reminders(id='one', title='Milk'"
  private let newer = "; a device with `0002_step`"

  @Test(
    "a dropped or renamed column loses values",
    arguments: ["DROP COLUMN name", "RENAME name TO title"])
  func columns(_ change: String) throws {
    #expect(
      try proven(sql("ALTER TABLE lists \(change)")) == [
        "3:7 error lists.name a 1.0 device creates lists(id='one', name='Milk')\(newer) has no column "
          + "`lists.name`, and the value is lost"
      ])
  }

  @Test(
    "a dropped or renamed table loses rows",
    arguments: ["DROP TABLE lists", "ALTER TABLE lists RENAME TO collections"])
  func tables(_ change: String) throws {
    #expect(
      try proven(sql(change)) == [
        "3:7 error lists a 1.0 device creates lists(id='one', name='Milk')\(newer) has no table `lists`, and the row is lost"
      ])
  }

  @Test(
    "references to a lost table are not separate findings",
    arguments: ["DROP TABLE p", "ALTER TABLE p RENAME TO q"])
  func children(_ change: String) throws {
    let first = sql(
      """
      CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES p)
      """)
    // A row of the newer schema cannot refer to a missing table; a note reports it.
    #expect(
      try proven(sql(change), after: first).filter { !$0.contains(" note ") } == [
        "3:7 error p a 1.0 device creates p(id='one')\(newer) has no table `p`, and the row is lost"
      ])
  }

  @Test("a row that cannot be sent back is found, too")
  func back() throws {
    #expect(
      try proven(
        """
        operations:
          - alter_column: { table: reminders, column: title, not_null: null }
        """) == [
          "2:39 error reminders.title a device with `0002_step` creates reminders(id='one', title=NULL); "
            + "a 1.0 device refuses it: NOT NULL constraint failed: reminders.title"
        ])
  }

  private func table(_ columns: String, _ rest: String = "") -> String {
    sql("CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, \(columns))\(rest)")
  }

  private func altered(_ change: String) -> String {
    "operations:\n  - alter_column: { table: a, \(change) }\n"
  }

  @Test("a stricter CHECK refuses values that were allowed")
  func check() throws {
    let first = table("level INTEGER CHECK (level BETWEEN 0 AND 5)")
    #expect(
      try proven(altered("column: level, check: 'level BETWEEN 0 AND 3'"), after: first) == [
        "2:31 error a.level a 1.0 device creates a(id='one', level=5)\(newer) refuses it: CHECK "
          + "constraint failed: level BETWEEN 0 AND 3"
      ])
    let list = table("level TEXT CHECK (level IN ('low', 'high', 'none'))")
    #expect(
      try proven(altered("column: level, check: \"level IN ('low', 'high')\""), after: list) == [
        "2:31 error a.level a 1.0 device creates a(id='one', level='none')\(newer) refuses it: CHECK "
          + "constraint failed: level IN ('low', 'high')"
      ])
  }

  @Test("a new CHECK refuses values that were allowed")
  func newCheck() throws {
    #expect(
      try proven(altered("column: name, check: 'length(name) < 20'"), after: table("name TEXT"))
        == [
          "2:31 error a.name a 1.0 device creates a(id='one', name='xxxxxxxxxxxxxxxxxxxx')\(newer) "
            + "refuses it: CHECK constraint failed: length(name) < 20"
        ])
  }

  @Test("a new CHECK of two columns refuses what two devices change together")
  func bothEdit() throws {
    let columns =
      "id TEXT PRIMARY KEY NOT NULL, x INTEGER NOT NULL DEFAULT 1, y INTEGER NOT NULL DEFAULT 1"
    let step = sql(
      """
      CREATE TABLE b (\(columns), CHECK (x = 1 OR y = 1));
      INSERT INTO b SELECT id, x, iif(x = 1, y, 1) FROM a;
      DROP TABLE a;
      ALTER TABLE b RENAME TO a;
      """)
    #expect(
      try proven(step, after: sql("CREATE TABLE a (\(columns))")) == [
        "3:7 error a.x a 1.0 device creates a(id='one', x=1, y=1), sets x=0 while the other one sets "
          + "y=0\(newer) refuses it: CHECK constraint failed: x = 1 OR y = 1"
      ])
  }

  @Test("a new unique constraint refuses a second row")
  func unique() throws {
    let first = table("name TEXT, other TEXT, gone INTEGER NOT NULL DEFAULT 0")
    let twins =
      "a 1.0 device creates a(id='one', name='Milk') and a(id='two', name='Milk')\(newer) refuses it: "
      + "UNIQUE constraint failed: "
    #expect(
      try proven(sql("CREATE UNIQUE INDEX a_name ON a (name)"), after: first) == [
        "3:7 error a.name \(twins)a.name"
      ])
    #expect(
      try proven(sql("CREATE UNIQUE INDEX a_name ON a (name) WHERE gone = 0"), after: first) == [
        "3:7 error a.name \(twins)a.name"
      ])
    let unique = table("name TEXT UNIQUE, other TEXT")
    #expect(
      try proven(sql("CREATE UNIQUE INDEX a_other ON a (other)"), after: unique).map {
        $0.contains("UNIQUE constraint failed: a.other")
      } == [true])
    #expect(try proven(sql("ALTER TABLE a ADD COLUMN b"), after: unique) == [])
  }

  @Test("a row that another one replaces is lost")
  func replaced() throws {
    let step = sql(
      """
      CREATE TABLE b (id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE ON CONFLICT REPLACE);
      INSERT INTO b (id, name) SELECT id, name FROM a;
      DROP TABLE a;
      ALTER TABLE b RENAME TO a
      """)
    let found = try proven(step, after: table("name TEXT"))
    #expect(
      found.map { $0.split(separator: ";")[1] } == [
        " a device with `0002_step` does not keep each row of `a`"
      ])
  }

  @Test("a required column refuses rows of a device without it")
  func required() throws {
    #expect(
      try proven(
        sql(
          """
          CREATE TABLE b (id TEXT PRIMARY KEY NOT NULL, name TEXT, kind TEXT NOT NULL);
          INSERT INTO b (id, name, kind) SELECT id, name, '' FROM a;
          DROP TABLE a;
          ALTER TABLE b RENAME TO a
          """), after: table("name TEXT")
      ).map { $0.drop { $0 != " " } } == [
        " error a.kind a 1.0 device creates a(id='one', name='Milk')\(newer) refuses it: NOT NULL "
          + "constraint failed: a.kind"
      ])
  }

  @Test("a required column does not hide other findings")
  func behind() throws {
    let found = try proven(
      sql(
        """
        CREATE TABLE b (id TEXT PRIMARY KEY NOT NULL, name TEXT CHECK (name <> ''), k TEXT NOT NULL);
        INSERT INTO b (id, name, k) SELECT id, name, '' FROM a;
        DROP TABLE a;
        ALTER TABLE b RENAME TO a
        """), after: table("name TEXT"))
    #expect(found.count == 2)
    #expect(found.last?.contains("name=''") == true)
  }

  @Test("a changed foreign key refuses rows that were valid")
  func foreignKey() throws {
    let first = sql(
      """
      CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL, name TEXT);
      CREATE TABLE q (id TEXT PRIMARY KEY NOT NULL, name TEXT);
      CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, parent TEXT REFERENCES p)
      """)
    func rebuilt(_ parent: String) -> String {
      sql(
        """
        CREATE TABLE b (id TEXT PRIMARY KEY NOT NULL, parent TEXT \(parent));
        INSERT INTO b (id, parent) SELECT id, parent FROM a;
        DROP TABLE a;
        ALTER TABLE b RENAME TO a
        """)
    }
    for parent in ["REFERENCES q", "REFERENCES q DEFERRABLE INITIALLY DEFERRED"] {
      #expect(
        try proven(rebuilt(parent), after: first).map { $0.drop { $0 != " " } } == [
          " error a.parent a 1.0 device creates p(id='one', name='Milk') and a(id='one', parent='one')"
            + "\(newer) refuses it: FOREIGN KEY constraint failed"
        ])
    }
    #expect(try proven(rebuilt("REFERENCES p ON DELETE CASCADE"), after: first) == [])
    #expect(
      try proven(sql("ALTER TABLE a ADD COLUMN other TEXT REFERENCES q"), after: first) == [])
  }

  @Test("a type that changes a value permanently is found, and a reversible change is not")
  func type() throws {
    #expect(
      try proven(altered("column: code, type: INTEGER"), after: table("code TEXT")).map {
        $0.drop { $0 != " " }
      } == [
        " error a.code a 1.0 device creates a(id='one', code='007')\(newer) keeps 7 in `a.code` instead of '007'"
      ])
    #expect(try proven(altered("column: code, type: VARCHAR"), after: table("code TEXT")) == [])
    #expect(
      try proven(altered("column: code, type: TEXT"), after: table("code INTEGER")).map {
        $0.drop { $0 != " " }
      } == [
        " error a.code a device with `0002_step` creates a(id='one', code='007'); a 1.0 device keeps 7 in `a.code` instead of '007'"
      ])
  }

  @Test("a trigger that raises an error refuses rows")
  func trigger() throws {
    let step = sql(
      """
      CREATE TRIGGER t BEFORE INSERT ON lists WHEN NEW.name = '' BEGIN
        SELECT RAISE(ABORT, 'a list has a name');
      END
      """)
    #expect(
      try proven(step).map { $0.drop { $0 != " " } } == [
        " error lists.name a 1.0 device creates lists(id='one', name='')\(newer) refuses it: a list "
          + "has a name"
      ])
  }

  @Test("a trigger that raises an error refuses edits")
  func edit() throws {
    let step = sql(
      """
      CREATE TRIGGER t BEFORE UPDATE OF name ON lists WHEN NEW.name IS NOT OLD.name BEGIN
        SELECT RAISE(ROLLBACK, 'a list keeps its name');
      END
      """)
    #expect(
      try proven(step).map { $0.drop { $0 != " " } } == [
        " error lists.name a 1.0 device creates lists(id='one', name='Milk') and then sets "
          + "name='Bread'\(newer) refuses it: a list keeps its name"
      ])
  }
}

@Suite("Compatibility simulation: place and versions")
struct ProofScopeTests {
  private let drop = sql("ALTER TABLE lists DROP COLUMN name")

  @Test(
    "tables that do not sync and migrations older than the syncing are skipped",
    arguments: [
      "local_tables: [Lists]", "tables: [reminders]", "since: 0003_step", "oldest_release: '1.1'",
    ])
  func scope(_ setting: String) throws {
    let report = try lint(
      [base, drop, "operations: []"], configuration: "sync: { engine: additive, \(setting) }",
      releases: ["1.0": 1, "1.1": 2])
    #expect(report.proof.map(\.short) == [])
  }

  @Test("the finding is at the migration that causes it, whatever follows")
  func place() throws {
    let steps = [
      base, sql("ALTER TABLE lists ADD COLUMN a TEXT"), drop,
      sql("ALTER TABLE lists ADD COLUMN b TEXT"), sql("ALTER TABLE lists ADD COLUMN c TEXT"),
    ]
    for releases in [["1.0": 1], ["1.0": 1, "1.1": 4], ["1.0": 1, "1.1": 2, "1.2": 5]] {
      #expect(
        try lint(steps, .sqliteData, releases: releases).proof.map(\.short) == [
          "0003 3:7 error two-devices lists.name"
        ])
    }
  }

  @Test("adjacent releases, and each release with the newest; all pairs if requested")
  func pairs() throws {
    // Only 1.2 refuses the rows of 1.0.
    let steps = [
      sql("CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, x TEXT)"),
      sql("CREATE TABLE c (id TEXT PRIMARY KEY NOT NULL)"),
      sql("CREATE UNIQUE INDEX a_x ON a (x)"), sql("DROP INDEX a_x"),
    ]
    let releases = ["1.0": 1, "1.1": 2, "1.2": 3, "1.3": 4]
    let usual = try lint(steps, .additive, releases: releases)
    #expect(usual.proof.map { $0.message.contains("a 1.1 device creates") }.first == true)
    let full = try lint(steps, .additive, releases: releases, isFull: true)
    #expect(full.proof.map(\.short) == usual.proof.map(\.short))
  }

  @Test("a table whose trigger writes to a full-text table is tested, too")
  func fullText() throws {
    let first = sql(
      """
      CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), x TEXT);
      CREATE VIRTUAL TABLE f USING fts5 (x);
      CREATE TRIGGER a_f AFTER INSERT ON a BEGIN INSERT INTO f (rowid, x) VALUES (new.rowid, new.x); END;
      """)
    func proof(_ step: String) throws -> [String] {
      let report = try lint([first, sql(step)], .sqliteData, releases: ["1.0": 1])
      #expect(!report.notes.contains { $0.contains("could not generate") })
      return report.proof.map { $0.object ?? "" }
    }
    #expect(try proof("ALTER TABLE a ADD COLUMN y TEXT") == [])
    #expect(try proof("CREATE UNIQUE INDEX a_x ON a (x)") == ["a.x"])
  }

  @Test("without a release, nothing is tested")
  func unreleased() throws {
    #expect(try lint([base, drop], .sqliteData).proof == [])
  }

  @Test("every run gives the same result")
  func deterministic() throws {
    let first = sql(
      """
      CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), x TEXT, y INTEGER,
        made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, seed INTEGER NOT NULL DEFAULT (random()))
      """)
    let step = sql("ALTER TABLE a DROP COLUMN y;\nCREATE UNIQUE INDEX a_x ON a (x)")
    let runs = try (0..<3).map { _ in
      try lint([first, step], .sqliteData, releases: ["1.0": 1]).proof.map(\.message)
    }
    #expect(runs[0].count == 2)
    #expect(runs[0] == runs[1] && runs[1] == runs[2])
  }

  @Test("a table without possible rows is a note")
  func note() throws {
    let first = sql(
      "CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, x TEXT NOT NULL CHECK (hex(x) = '7A7A' || '71'))"
    )
    let step = sql("ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT ''")
    #expect(
      try proven(step, after: first) == [
        "3:7 note a lint could not generate a row of `a` for a 1.0 device, so it did not simulate this "
          + "table: CHECK constraint failed: hex(x) = '7A7A' || '71'"
      ])
  }

  @Test("many tables that change in many releases are tested")
  func many() throws {
    let tables = (1...10).map { number in
      """
      CREATE TABLE t\(number) (id TEXT PRIMARY KEY NOT NULL, a TEXT, b INTEGER NOT NULL DEFAULT 0,
        c REAL, d TEXT CHECK (d IN ('x', 'y')), parent TEXT REFERENCES t\(max(1, number - 1)));
      """
    }
    let changes = (1...10).map { "ALTER TABLE t\($0) ADD COLUMN e TEXT;" }
    let steps = [tables, changes].map { sql($0.joined(separator: "\n")) }
    let more = (1...20).map { sql("CREATE INDEX i\($0) ON t\(1 + $0 % 10) (a)") }
    let releases = Dictionary(uniqueKeysWithValues: (1...20).map { ("1.\($0)", $0) })
    let report = try lint(steps + more, .additive, releases: releases)
    #expect(report.proof.map(\.short) == [])
  }
}

@Suite("Compatibility simulation: suppressions")
struct ProofSuppressionTests {
  private func suppression(_ rule: String) -> String {
    "\nlint: { allow: [{ rule: \(rule), reason: Why. }] }\n"
  }

  private func isSuppressed(_ step: String, _ rule: String) throws -> [Bool] {
    let report = try lint([base, step + suppression(rule)], .sqliteData, releases: ["1.0": 1])
    return report.proof.map(\.isSuppressed)
  }

  private let drop = "operations:\n  - drop_column: { table: lists, column: name }"

  @Test("its own suppression applies", arguments: ["two-devices", "drop-column"])
  func own(_ rule: String) throws {
    #expect(try isSuppressed(drop, rule) == [true])
  }

  @Test("a suppression of a rule with another finding does not apply")
  func other() throws {
    #expect(try isSuppressed(drop, "rename-column") == [false])
    let both = sql("ALTER TABLE lists DROP COLUMN name;\nALTER TABLE reminders DROP COLUMN title")
    let report = try lint(
      [base, both + suppression("rename-column")], .sqliteData, releases: ["1.0": 1])
    #expect(report.proof.map(\.isSuppressed) == [false, false])
  }

  @Test("the suppression of a move covers its new column")
  func move() throws {
    let step = """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: status, type: INTEGER, not_null: true, default: 0 }
            map: { 0: 0, 1: 1 }
      """
    #expect(try isSuppressed(step, "drop-column") == [true])
  }

  @Test("in SQL each column has its own suppression")
  func columns() throws {
    let text = "ALTER TABLE lists ADD COLUMN k TEXT NOT NULL DEFAULT '';\n"
    let step = sql(text + "ALTER TABLE lists DROP COLUMN name")
    #expect(try isSuppressed(step, "drop-column") == [false, true])
    #expect(try isSuppressed(step, "not-null-without-conflict-default") == [true, false])
  }

  @Test("the repository's own history suppresses its findings")
  func living() throws {
    let report = try lint(try livingExample(), .additive, releases: ["1.0": 6])
    #expect(report.lines == [])
    #expect(report.proof.map(\.isSuppressed) == [true])
  }
}
