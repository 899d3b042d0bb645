import Foundation
import SchemaApply
import SchemaAuthoring
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaReplay
import SchemaTestSupport
import SchemaTimeline
import SchemaYAML

/// The actions that run with faults.
extension UserAction {
  /// - Parameter isWAL: whether the databases are in WAL mode.
  static func all(isWAL: Bool = false) throws -> [UserAction] {
    let mode = isWAL ? "PRAGMA journal_mode = WAL;" : ""
    return try Strategy.allCases.map { try migration(by: $0, mode) } + [
      newFile(), utf16(mode), drops(mode), failing(mode), firstDraft(mode), reset(mode),
      verify(mode),
      status(mode), rehearse(mode), repair(mode), adopt(mode), freeze(mode), lint(mode),
    ]
  }

  // MARK: Migrating

  /// Creates a database, with many small migrations that share a transaction.
  static func newFile() throws -> UserAction {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_lists", "CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT);")
    try sandbox.addSQL(
      "0002_items",
      "CREATE TABLE items (id INTEGER PRIMARY KEY, list INTEGER REFERENCES lists, title TEXT);")
    try sandbox.addSQL(
      "0003_seed", "INSERT INTO lists VALUES (1, 'home'); INSERT INTO items VALUES (1, 1, 'x');")
    try sandbox.addSQL(
      "0004_view", "CREATE VIEW titles AS SELECT title FROM items UNION SELECT title FROM lists;")
    let ids = ["0001_lists", "0002_items", "0003_seed", "0004_view"]
    return try UserAction("migrate, new file", sandbox, stops: ids, act: { try migrate($0) })
  }

  private static func migration(by strategy: Strategy, _ mode: String) throws -> UserAction {
    let sandbox = try Sandbox()
    try strategy.scenario.prepare(sandbox)
    try sandbox.run(mode)
    let known = try sandbox.ledger
    let pending = try sandbox.project().migrations.map(\.id).filter { !known.contains($0) }
    return try UserAction(
      "migrate, \(strategy.rawValue)", sandbox, stops: pending, act: { try migrate($0) })
  }

  /// Migrates a UTF-16 database, for which SQLite converts every text that it reads or writes.
  static func utf16(_ mode: String) throws -> UserAction {
    let sandbox = try tasks("PRAGMA encoding = 'UTF-16le'; \(mode)")
    try sandbox.add("0002_status", move("{ 0: 0, 1: 2 }"))
    try sandbox.addSQL("0003_more", "CREATE TABLE more (a TEXT DEFAULT 'é');")
    return try UserAction(
      "migrate, UTF-16", sandbox, stops: ["0002_status", "0003_more"], act: { try migrate($0) })
  }

  /// Runs a move that writes rows, and drops columns in one pass.
  static func drops(_ mode: String) throws -> UserAction {
    let sandbox = try tasks(mode)
    try sandbox.add("0002_status", move("{ 0: 0, 1: 2 }"))
    try sandbox.add(
      "0003_drops",
      """
      operations:
        - add_column: { table: tasks, column: { name: a, type: TEXT } }
        - add_column: { table: tasks, column: { name: b, type: TEXT } }
        - drop_column: { table: tasks, column: a }
        - drop_column: { table: tasks, column: b }
      """)
    return try UserAction(
      "migrate, drops", sandbox, stops: ["0002_status", "0003_drops"], act: { try migrate($0) })
  }

  /// Runs a migration that succeeds, and then one that fails.
  static func failing(_ mode: String) throws -> UserAction {
    let sandbox = try tasks(mode)
    try sandbox.addSQL("0002_kept", "CREATE TABLE kept (a);")
    try sandbox.addSQL(
      "0003_fails",
      """
      PRAGMA ignore_check_constraints = ON;
      CREATE TABLE half (a UNIQUE);
      INSERT INTO half SELECT list FROM tasks;
      """)
    return try UserAction(
      "migrate, one fails", sandbox, stops: ["0002_kept"], act: { try migrate($0) })
  }

  /// Runs the first draft, before which the database is copied.
  static func firstDraft(_ mode: String) throws -> UserAction {
    let sandbox = try tasks(mode)
    try sandbox.freeze(through: "0001_tasks")
    try sandbox.add("0002_status", move("{ 0: 0, 1: 2 }"))
    return try UserAction(
      "migrate, first draft", sandbox, stops: ["0002_status"], act: { try migrate($0) })
  }

  private static func migrate(
    _ userAction: UserAction, _ change: (inout MigrateOptions) -> Void = { _ in }
  ) throws -> Ending {
    let options = userAction.sandbox.options { options in
      options.timeout = 0.02
      change(&options)
    }
    let report = try userAction.project.migrate(options)
    return Ending(
      status: report.status, message: report.failure?.message ?? "",
      answer: report.drift.map(\.sentence) + [report.draftCopy ?? ""],
      applied: report.applied.map(\.id))
  }

  // MARK: Other commands

  static func reset(_ mode: String) throws -> UserAction {
    let sandbox = try tasks(mode)
    try sandbox.freeze(through: "0001_tasks")
    try sandbox.add("0002_status", move("{ 0: 0, 1: 2 }"))
    try sandbox.migrate()
    return try UserAction("reset drafts", sandbox) { userAction in
      let reset = try DraftCopy(
        of: userAction.sandbox.database, userAction.project
      ).restore(timeout: 0.02)
      let kept = userAction.sandbox.database + ".before-reset"
      return Ending(answer: [reset?.setAside ?? kept])
    }
  }

  static func verify(_ mode: String) throws -> UserAction {
    try UserAction("verify", migrated(mode)) { userAction in
      let report = try userAction.project.verify(
        database: userAction.sandbox.database, timeout: 0.02)
      return Ending(
        status: report.status, message: report.failure?.message ?? "",
        answer: report.history.map { "\($0)" } + (report.ledger ?? []).map { "\($0)" }
          + (report.drift ?? []).map(\.sentence) + report.notes)
    }
  }

  static func status(_ mode: String) throws -> UserAction {
    try UserAction("status", migrated(mode)) { userAction in
      let report = try userAction.project.status(
        database: userAction.sandbox.database, timeout: 0.02)
      return Ending(
        status: report.status,
        answer: [report.current ?? ""] + report.pending + report.applied.map { "\($0)" }
          + report.ledger.map { "\($0)" } + report.broken.map { "\($0)" })
    }
  }

  static func rehearse(_ mode: String) throws -> UserAction {
    let sandbox = try tasks(mode)
    try sandbox.add("0002_status", move("{ 0: 0 }"))
    return try UserAction("dry run", sandbox) { userAction in
      let report = try userAction.project.dryRun(userAction.sandbox.options { $0.timeout = 0.02 })
      return Ending(
        status: report.status, message: report.failure?.message ?? "",
        answer: [report.plan.script] + report.answers.map { "\($0)" })
    }
  }

  static func repair(_ mode: String) throws -> UserAction {
    let sandbox = try migrated(mode)
    try sandbox.run("DELETE FROM schemactl_migrations WHERE id = '0002_status'")
    return try UserAction("ledger repair", sandbox) { userAction in
      let repair = LedgerRepair(id: "0002_status", action: .applied, reason: "restored")
      // If the action already ran, there is nothing to do.
      let status = try userAction.project.status(
        database: userAction.sandbox.database, timeout: 0.02)
      if status.applied.count == 2 { return Ending(answer: ["clean"]) }
      let plan = try userAction.project.plan(
        repair, database: userAction.sandbox.database, timeout: 0.02)
      try userAction.project.carryOut(plan, database: userAction.sandbox.database, timeout: 0.02)
      return Ending(answer: [plan.isClean ? "clean" : "unfit"])
    }
  }

  /// Adopts a database. A second attempt is refused.
  static func adopt(_ mode: String) throws -> UserAction {
    let sandbox = try migrated(mode)
    try sandbox.run("DROP TABLE schemactl_migrations")
    return try UserAction("adopt", sandbox, repeats: false) { userAction in
      let report = try userAction.project.adopt(userAction.sandbox.database, at: nil, timeout: 0.02)
      return Ending(answer: [report.at] + report.adopted + report.pending)
    }
  }

  static func freeze(_ mode: String) throws -> UserAction {
    try UserAction("freeze", migrated(mode), usesFiles: false) { userAction in
      let report = try userAction.project.freezing(release: "1.1", through: nil)
      return Ending(
        answer: report.frozen + [String(decoding: report.lock.rendered(), as: UTF8.self)])
    }
  }

  /// Checks a history with a view and a trigger that do not compile.
  static func lint(_ mode: String) throws -> UserAction {
    let sandbox = try migrated(mode)
    try sandbox.addSQL(
      "0003_broken",
      """
      CREATE VIEW broken AS SELECT missing FROM tasks;
      CREATE TRIGGER amiss AFTER INSERT ON lists BEGIN UPDATE tasks SET missing = 1; END;
      """)
    return try UserAction("lint", sandbox, usesFiles: false) { userAction in
      let report = try Linter(project: userAction.project, configuration: Configuration()).lint()
      return Ending(
        status: report.status, message: report.failure?.message ?? "",
        answer: report.findings.map { "\($0)" })
    }
  }

  // MARK: Histories

  /// Returns a history with a table that has rows, an index, a trigger, a view of another table, and child
  /// tables.
  private static func tasks(_ settings: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_tasks",
      """
      CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
      CREATE TABLE tasks (
        id INTEGER PRIMARY KEY, list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE,
        title TEXT NOT NULL CHECK (title <> ''), done INTEGER NOT NULL DEFAULT 0, changed TEXT
      );
      CREATE INDEX tasks_of_list ON tasks (list, title);
      CREATE TABLE tags (task INTEGER REFERENCES tasks, tag TEXT, PRIMARY KEY (task, tag)) WITHOUT ROWID;
      CREATE TRIGGER touched AFTER UPDATE ON tasks BEGIN
        UPDATE tasks SET changed = 'now' WHERE id = NEW.id;
      END;
      CREATE VIEW titles AS SELECT title FROM lists;
      """)
    try sandbox.run(settings)
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO lists VALUES (1, 'home'), (2, 'wörk');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO tasks SELECT i, 1 + i % 2, 'täsk ' || i, i % 3 = 0, 'long ago' FROM n;
      INSERT INTO tags SELECT id, 't' FROM tasks;
      """)
    return sandbox
  }

  private static func migrated(_ mode: String) throws -> Sandbox {
    let sandbox = try tasks(mode)
    try sandbox.freeze(through: "0001_tasks")
    try sandbox.add("0002_status", move("{ 0: 0, 1: 2 }"))
    try sandbox.migrate()
    return sandbox
  }

  private static func move(_ map: String) -> String {
    """
    operations:
      - move_column:
          table: tasks
          from: done
          to: { name: status, type: INTEGER, not_null: true, default: 0 }
          map: \(map)
    """
  }
}
