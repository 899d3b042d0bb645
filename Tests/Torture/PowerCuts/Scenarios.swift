import Foundation
import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaSQLite
import SchemaTestSupport

/// A scenario for every strategy, and for all other commands that write to a database.
var scenarios: [Scenario] {
  Strategy.allCases.map(\.scenario) + [
    rewriteWithAutoVacuum, creation, shrinking, sharedCommit, failure, enforcedForeignKeys,
    tableRebuild, keyConversion,
    ledgerRepair, adoption, reset, backup, restore,
  ]
}

extension Strategy {
  /// A migration with this strategy. The `switch` ensures that each strategy has one.
  var scenario: Scenario {
    let yaml =
      switch self {
      case .native:
        """
        - add_column: { table: items, column: { name: rank, type: INTEGER, default: 3 } }
        - create_index: { name: items_by_note, table: items, columns: [note, rank] }
        - update: { table: items, set: { rank: "id % 5" }, where: "id % 2" }
        """
      // The moves write a column in place, write one next to its source, and use a default in the schema for
      // old rows.
      case .update:
        """
        - move_column:
            table: items
            from: done
            to: { name: status, type: INTEGER, not_null: true, default: 0 }
            map: { 0: 0, 1: 2 }
            dependents: rename
        - move_column:
            table: items
            from: status
            to: { name: state, type: INTEGER, not_null: true, default: 0 }
            map: { 0: 0, 2: 1 }
            keep_source: true
        """
      case .schemaEdit:
        """
        - alter_column: { table: items, column: rank, default: 4, not_null: true }
        """
      // The rewrites have both endings. `items` and the children of `entries` exchange their b-trees.
      // `entries` gets another automatic index, so it is dropped and its replacement renamed.
      case .rewrite:
        """
        - drop_index: { name: items_by_rank }
        - drop_column: { table: items, column: rank }
        - drop_column: { table: items, column: done }
        - move_column:
            table: items
            from: note
            to: { name: text, type: TEXT, not_null: true, default: none }
            using: "lower(note)"
            dependents: rename
        - rebuild_table:
            table: entries
            columns:
              - { name: entry, type: TEXT, primary_key: true }
              - { name: size, type: INTEGER, not_null: true }
              - { name: rest, unique: true }
        """
      case .sql:
        """
        - sql: |
            DELETE FROM items WHERE id % 3 = 0;
            DELETE FROM tags WHERE item % 3 = 0;
            UPDATE items SET note = note || note WHERE id % 3 = 1;
            CREATE TABLE archive AS SELECT * FROM tags;
        """
      case .assertion:
        """
        - assert: { query: "SELECT count(*) > 0 FROM items", equals: 1, message: "no items" }
        """
      }
    let strategy = self
    return .migrating(
      "strategy \(rawValue)",
      prepare: { sandbox in
        try makeItems(sandbox)
        // Rows that are older than the column get another default.
        if strategy == .schemaEdit {
          try sandbox.addSQL(
            "0002_rank", "ALTER TABLE items ADD COLUMN rank INTEGER DEFAULT 3")
          try sandbox.migrate()
          try sandbox.run("UPDATE items SET rank = 5 WHERE id % 3 = 0")
        }
        if strategy == .rewrite {
          try sandbox.addSQL(
            "0002_more",
            """
            ALTER TABLE items ADD COLUMN rank REAL DEFAULT 3;
            CREATE INDEX items_by_rank ON items (rank);
            CREATE INDEX items_by_note ON items (note);
            CREATE TABLE entries (entry TEXT PRIMARY KEY, size TEXT, rest);
            INSERT INTO entries SELECT name, length(note), note FROM items;
            """)
          try sandbox.migrate()
          try sandbox.run("UPDATE items SET rank = id / 4.0 WHERE id % 3 = 0")
        }
        try sandbox.add("0009_strategy", "operations:\n" + indented(yaml))
      },
      check: { applied in
        guard applied.last?.strategies.contains(strategy) == true else {
          throw Damage("the scenario of \(strategy.rawValue) does not use it")
        }
      })
  }
}

/// A rewrite in which DROP TABLE moves the root pages of other tables.
private var rewriteWithAutoVacuum: Scenario {
  let rewrite = Strategy.rewrite.scenario
  return .migrating("rewrite, auto_vacuum") { sandbox in
    try sandbox.run("PRAGMA auto_vacuum = FULL; CREATE TABLE t (a); DROP TABLE t")
    try rewrite.prepare(sandbox)
  }
}

private func indented(_ yaml: String) -> String {
  yaml.split(separator: "\n").map { "  \($0)\n" }.joined()
}

/// Creates a table with children, triggers and an index. It is several times as large as the cache.
private func makeItems(_ sandbox: Sandbox) throws {
  try sandbox.addSQL(
    "0001_items",
    """
    CREATE TABLE items (
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
      done INTEGER NOT NULL DEFAULT 0, note TEXT
    );
    CREATE TABLE tags (
      item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE, tag TEXT NOT NULL,
      PRIMARY KEY (item, tag)
    ) WITHOUT ROWID;
    CREATE TABLE log (entry TEXT);
    CREATE TRIGGER items_logged AFTER DELETE ON items BEGIN
      INSERT INTO log VALUES (old.name);
    END;
    """)
  try sandbox.migrate()
  try sandbox.run(
    """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
      INSERT INTO items (id, name, done, note)
      SELECT i * 2, 'item ' || i, i % 3 = 0, hex(zeroblob(100 + i)) FROM n;
    INSERT INTO tags SELECT id, 'tag' FROM items;
    UPDATE sqlite_sequence SET seq = 1000;
    """)
}

/// An empty file is migrated. A missing database is not tested here: schemactl writes it from the replay and
/// renames it after a sync (`NewDatabaseTests`), without a journal and without calls that this file system
/// observes.
private var creation: Scenario {
  .migrating("an empty file") { sandbox in
    _ = try sandbox.open()
    try sandbox.addSQL(
      "0001_one", "CREATE TABLE one (a PRIMARY KEY); INSERT INTO one VALUES (1), (2)")
    try sandbox.addSQL("0002_two", "CREATE TABLE two (a REFERENCES one)")
  }
}

/// A commit that shrinks the file truncates it after it deletes the journal.
private var shrinking: Scenario {
  .migrating("a file that shrinks") { sandbox in
    try sandbox.run("PRAGMA auto_vacuum = FULL; CREATE TABLE t (a); DROP TABLE t")
    try makeItems(sandbox)
    try sandbox.addSQL("0002_less", "DELETE FROM tags; DELETE FROM items WHERE id > 20")
    try sandbox.addSQL("0003_log", "DROP TRIGGER items_logged; DROP TABLE log")
  }
}

private var sharedCommit: Scenario {
  .migrating("several small ones in one commit") { sandbox in
    try makeItems(sandbox)
    for number in 2...5 {
      try sandbox.addSQL(
        "000\(number)_small",
        "CREATE TABLE small\(number) (a); INSERT INTO small\(number) SELECT name FROM items")
    }
  }
}

private var failure: Scenario {
  .migrating(
    "a failure after others in the batch", failing: "0004_fails"
  ) { sandbox in
    try makeItems(sandbox)
    for number in 2...3 {
      try sandbox.addSQL("000\(number)_small", "CREATE TABLE small\(number) (a)")
    }
    try sandbox.addSQL(
      "0004_fails",
      """
      CREATE TABLE large AS SELECT a.note, b.name FROM items a, items b LIMIT 200;
      CREATE TABLE one_row (a UNIQUE);
      INSERT INTO one_row SELECT 1 FROM items;
      """)
  }
}

private var enforcedForeignKeys: Scenario {
  .migrating("foreign_keys: enforced") { sandbox in
    try makeItems(sandbox)
    try sandbox.add("0002_first", "operations: []\n")
    try sandbox.add(
      "0003_enforced",
      """
      foreign_keys: enforced
      operations:
        - delete: { table: items, where: "id % 4 = 0" }
      """)
  }
}

private var tableRebuild: Scenario {
  .migrating("rebuild_table") { sandbox in
    try makeItems(sandbox)
    try sandbox.add(
      "0002_table",
      """
      operations:
        - rebuild_table:
            table: items
            columns:
              - { name: id, type: INTEGER, primary_key: true, autoincrement: true }
              - { name: done, type: INTEGER, not_null: true, check: "done IN (0, 1)" }
              - { name: name, type: TEXT, not_null: true, unique: true }
              - { name: size, type: INTEGER }
            copy: { size: "length(note)" }
            where: "id % 5"
            rows_may_be_lost: true
        - delete: { table: tags, where: "item % 5 = 0" }
      """)
  }
}

/// A single operation rebuilds several tables.
private var keyConversion: Scenario {
  .migrating("convert_primary_key") { sandbox in
    try makeItems(sandbox)
    try sandbox.add(
      "0002_key",
      "operations:\n- convert_primary_key: { table: items, to: uuid, uuids: from_integer }\n")
  }
}

private var adoption: Scenario {
  .oneStep(
    "adopt",
    prepare: { sandbox in
      try makeItems(sandbox)
      try sandbox.addSQL("0002_by_hand", "CREATE TABLE by_hand (a)")
      try sandbox.run("DROP TABLE \(Ledger.usual.table); CREATE TABLE by_hand (a)")
    },
    act: { sandbox in
      guard try sandbox.ledger.isEmpty else { return }
      _ = try sandbox.project().adopt(sandbox.database, at: nil, timeout: 5)
    })
}

private var ledgerRepair: Scenario {
  .oneStep(
    "ledger repair",
    prepare: { sandbox in
      try makeItems(sandbox)
      try sandbox.addSQL("0002_by_hand", "CREATE TABLE by_hand (a)")
      try sandbox.run("CREATE TABLE by_hand (a)")
    },
    act: { sandbox in
      guard try !sandbox.ledger.contains("0002_by_hand") else { return }
      let project = try sandbox.project()
      let repair = LedgerRepair(id: "0002_by_hand", action: .applied, reason: "run by hand")
      let plan = try project.plan(repair, database: sandbox.database, timeout: 5)
      try project.carryOut(plan, database: sandbox.database, timeout: 5)
    })
}

/// The replaced database must exist under another name.
private var reset: Scenario {
  var scenario = Scenario.oneStep(
    "migrate --reset-drafts",
    prepare: { sandbox in
      try makeItems(sandbox)
      try sandbox.freeze()
      try sandbox.add(
        "0002_draft",
        """
        operations:
          - sql: "CREATE TABLE draft AS SELECT note AS a, note AS b FROM items"
          - delete: { table: tags, where: "item > 20" }
        """)
      if let failure = try sandbox.migrate().failure { throw failure }
    },
    act: { sandbox in
      _ = try DraftCopy(of: sandbox.database, sandbox.project()).restore(timeout: 5)
    })
  scenario.verify = { sandbox, boundary in
    guard boundary == 1 else { return }
    let kept = try Connection(path: sandbox.database + ".before-reset", mode: .readOnly)
    guard try Ledger.usual.rows(in: kept)?.count == 2 else {
      throw Damage("what the reset replaced is not kept")
    }
  }
  return scenario
}

/// If a migration is applied, its backup must exist.
private var backup: Scenario {
  var scenario = Scenario.oneStep(
    "migrate --backup",
    prepare: { sandbox in
      try makeItems(sandbox)
      try sandbox.addSQL("0002_less", "DELETE FROM tags WHERE item > 20")
    },
    act: { sandbox in
      let report = try sandbox.migrate {
        $0.backup = BackupOptions(.besideDatabase, keep: 1)
      }
      if let failure = report.failure { throw failure }
    })
  scenario.verify = { sandbox, boundary in
    guard boundary == 1 else { return }
    let names = try FileManager.default.contentsOfDirectory(atPath: sandbox.folder)
      .filter { $0.hasPrefix("live.sqlite.backup-") }
    let isKept = try names.contains { name in
      let kept = try Connection(path: "\(sandbox.folder)/\(name)", mode: .immutable)
      return try Ledger.usual.rows(in: kept)?.count == 1
        && kept.value("PRAGMA integrity_check") == "ok"
    }
    guard isKept else { throw Damage("there is no backup from before the migration") }
  }
  return scenario
}

/// The replaced database must exist under another name.
private var restore: Scenario {
  var scenario = Scenario.oneStep(
    "restore",
    prepare: { sandbox in
      try makeItems(sandbox)
      let copy = try Connection(path: sandbox.folder + "/kept.sqlite")
      try sandbox.open().backup(to: copy)
      try sandbox.addSQL("0002_less", "DELETE FROM tags; DELETE FROM items WHERE id > 20")
      if let failure = try sandbox.migrate().failure { throw failure }
    },
    act: { sandbox in
      _ = try Restore(sandbox.database, from: sandbox.folder + "/kept.sqlite", .usual).run(nil)
    })
  scenario.verify = { sandbox, boundary in
    guard boundary == 1 else { return }
    let kept = try Connection(path: sandbox.database + ".before-restore", mode: .immutable)
    guard try Ledger.usual.rows(in: kept)?.count == 2 else {
      throw Damage("what the restore replaced is not kept")
    }
  }
  return scenario
}
