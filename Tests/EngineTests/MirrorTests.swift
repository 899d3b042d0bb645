import Foundation
import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Two columns that mirror each other")
struct MirrorTests {
  @Test(
    "after any writes of an older and a newer app, both columns match the model",
    arguments: oneIn(3, of: MirroredTable.all), [false, true])
  func property(table: MirroredTable, recursive: Bool) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      \(table.create);
      CREATE TABLE log (line TEXT);
      CREATE TRIGGER touched AFTER UPDATE ON t WHEN NEW.note IS OLD.note BEGIN
        UPDATE t SET note = coalesce(note, 0) + 1 WHERE label = NEW.label;
      END;
      CREATE TRIGGER seen BEFORE UPDATE ON t BEGIN INSERT INTO log VALUES (OLD.label); END;
      """)
    try sandbox.add("0002_mirror", table.manifest)
    try sandbox.addSQL(
      "0003_triggers",
      """
      CREATE TRIGGER born AFTER INSERT ON t BEGIN
        UPDATE t SET note = 0 WHERE label = NEW.label;
      END;
      CREATE TRIGGER written AFTER UPDATE OF old, new ON t BEGIN
        UPDATE t SET note = 7 WHERE label = NEW.label;
      END;
      """)
    #expect(try sandbox.migrate().failure == nil)
    let connection = try sandbox.open()
    try connection.execute(
      "PRAGMA synchronous = OFF; PRAGMA recursive_triggers = \(recursive ? "ON" : "OFF")")
    var writer = MirrorWriter(table: table, seed: recursive ? 2 : 1)
    for _ in 0..<300 {
      let statement = writer.next()
      try connection.execute(statement)
      let rows = try connection.rows("SELECT label, old, new FROM t ORDER BY label")
      try #require(rows == writer.expected, "\(statement)")
    }
  }

  // MARK: Reminders

  private static let mirrorOfReminders = """
    operations:
      - move_column:
          table: reminders
          from: isCompleted
          to: { name: status, type: INTEGER, not_null: { on_conflict: replace }, default: 0 }
          map: { 0: 0, 1: 1 }
          keep_source: true
          mirror: true
          map_back: { 0: 0, 1: 1, 2: 0 }
    """

  private func mirroredReminders() throws -> Sandbox {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.add(Sandbox.statusMove, Self.mirrorOfReminders)
    return sandbox
  }

  private func pair(_ id: String, in sandbox: Sandbox) throws -> [Value]? {
    try sandbox.rows("SELECT isCompleted, status FROM reminders WHERE id = '\(id)'").first
  }

  @Test(
    "the old flag remains, the new status is derived from it, and no timestamp changes")
  func reminders() throws {
    let sandbox = try mirroredReminders()
    let report = try sandbox.migrate()
    #expect(report.failure == nil)
    #expect(report.applied.first?.strategies == [.update])
    #expect(
      try sandbox.rows("SELECT DISTINCT isCompleted, status FROM reminders ORDER BY 1")
        == [[0, 0], [1, 1]])
    #expect(
      try sandbox.rows("SELECT DISTINCT updatedAt FROM reminders") == [["2020-01-01T00:00:00.000Z"]]
    )
    #expect(try sandbox.migrate().applied.isEmpty)
    let verified = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(verified.status == .success)
  }

  @Test("an old and a new app that share the reminders see each other's changes")
  func twoVersions() throws {
    let sandbox = try mirroredReminders()
    #expect(try sandbox.migrate().failure == nil)
    // The old app writes.
    try sandbox.run("UPDATE reminders SET isCompleted = 1 WHERE id = 'r1'")
    #expect(try pair("r1", in: sandbox) == [1, 1])
    try sandbox.run("INSERT INTO reminders (id, title, isCompleted) VALUES ('o', 'Old', 1)")
    #expect(try pair("o", in: sandbox) == [1, 1])
    // The new app writes.
    try sandbox.run("UPDATE reminders SET status = 2 WHERE id IN ('r1', 'o')")
    #expect(try pair("r1", in: sandbox) == [0, 2])
    #expect(try pair("o", in: sandbox) == [0, 2])
    try sandbox.run("INSERT INTO reminders (id, title, status) VALUES ('n', 'New', 2)")
    #expect(try pair("n", in: sandbox) == [0, 2])
    // The old app saves a whole row, of which it has changed only the title.
    try sandbox.run("UPDATE reminders SET title = 'x', isCompleted = 0 WHERE id = 'n'")
    #expect(try pair("n", in: sandbox) == [0, 2])
    // A sync engine delivers a new record from an old device, and an existing record from a new device.
    try sandbox.run(
      """
      INSERT INTO reminders (id, title, isCompleted, status) VALUES ('n', 'x', 1, NULL)
        ON CONFLICT (id) DO UPDATE SET isCompleted = excluded.isCompleted;
      INSERT INTO reminders (id, title, isCompleted, status) VALUES ('m', 'x', 1, NULL)
        ON CONFLICT (id) DO UPDATE SET isCompleted = excluded.isCompleted;
      """)
    #expect(try pair("n", in: sandbox) == [1, 1])
    #expect(try pair("m", in: sandbox) == [1, 1])
  }

  @Test("a value that no map names is stored unchanged and does not affect the other column")
  func unnamed() throws {
    let sandbox = try mirroredReminders()
    #expect(try sandbox.migrate().failure == nil)
    try sandbox.run("UPDATE reminders SET status = 42 WHERE id = 'r3'")
    #expect(try pair("r3", in: sandbox) == [1, 42])
    try sandbox.run("UPDATE reminders SET isCompleted = 9 WHERE id = 'r3'")
    #expect(try pair("r3", in: sandbox) == [9, 42])
    try sandbox.run("UPDATE reminders SET isCompleted = 0 WHERE id = 'r3'")
    #expect(try pair("r3", in: sandbox) == [0, 0])
  }

  @Test(
    "a trigger that changes the new column in response to the old one takes precedence",
    arguments: [true, false])
  func otherTrigger(isFirst: Bool) throws {
    let trigger = """
        - create_trigger:
            name: starts
            sql: |
              CREATE TRIGGER starts AFTER UPDATE OF isCompleted ON reminders
              WHEN NEW.isCompleted = 1 AND NEW.title = 'later' BEGIN
                UPDATE reminders SET status = 2 WHERE id = NEW.id;
              END
      """
    let sandbox = try mirroredReminders()
    let lines = Self.mirrorOfReminders.split(separator: "\n", maxSplits: 1).map(String.init)
    try sandbox.add(
      Sandbox.statusMove,
      ([lines[0]] + (isFirst ? [trigger, lines[1]] : [lines[1], trigger])).joined(separator: "\n"))
    #expect(try sandbox.migrate().failure == nil)
    try sandbox.run("UPDATE reminders SET title = 'later', isCompleted = 1 WHERE id = 'r1'")
    #expect(try pair("r1", in: sandbox) == [0, 2])
  }

  @Test("the SQL of the triggers is stable")
  func golden() throws {
    let sandbox = try mirroredReminders()
    #expect(try sandbox.migrate().failure == nil)
    let triggers = try sandbox.schema().objects.filter { $0.name.hasPrefix("mirror_") }
    let text = triggers.compactMap(\.sql).joined(separator: ";\n") + ";"
    #expect(
      text == """
        CREATE TRIGGER "mirror_reminders_status_to_isCompleted_on_insert" AFTER INSERT ON "reminders"
        WHEN (NOT NEW."status" IS 0 OR NEW."isCompleted" IS 0)
          AND NEW."status" IN (0, 1, 2)
          AND NOT (NEW."isCompleted" IS 0 AND NEW."status" IS 0
            OR NEW."isCompleted" IS 1 AND NEW."status" IS 1
            OR NEW."isCompleted" IS 0 AND NEW."status" IS 2)
        BEGIN
          UPDATE "reminders"
          SET "isCompleted" = CASE
            WHEN NEW."status" IS 0 THEN 0
            WHEN NEW."status" IS 1 THEN 1
            WHEN NEW."status" IS 2 THEN 0
          END
          WHERE rowid = NEW.rowid AND "status" IS NEW."status" AND "isCompleted" IS NEW."isCompleted";
        END;
        CREATE TRIGGER "mirror_reminders_isCompleted_to_status_on_insert" AFTER INSERT ON "reminders"
        WHEN NEW."status" IS 0
          AND NOT NEW."isCompleted" IS 0
          AND NEW."isCompleted" IN (0, 1)
          AND NOT (NEW."isCompleted" IS 0 AND NEW."status" IS 0
            OR NEW."isCompleted" IS 1 AND NEW."status" IS 1
            OR NEW."isCompleted" IS 0 AND NEW."status" IS 2)
        BEGIN
          UPDATE "reminders"
          SET "status" = CASE
            WHEN NEW."isCompleted" IS 0 THEN 0
            WHEN NEW."isCompleted" IS 1 THEN 1
          END
          WHERE rowid = NEW.rowid AND "isCompleted" IS NEW."isCompleted" AND "status" IS NEW."status";
        END;
        CREATE TRIGGER "mirror_reminders_status_to_isCompleted_on_update" AFTER UPDATE OF "status" ON "reminders"
        WHEN NOT NEW."status" IS OLD."status"
          AND NEW."status" IN (0, 1, 2)
          AND NOT (NEW."isCompleted" IS 0 AND NEW."status" IS 0
            OR NEW."isCompleted" IS 1 AND NEW."status" IS 1
            OR NEW."isCompleted" IS 0 AND NEW."status" IS 2)
        BEGIN
          UPDATE "reminders"
          SET "isCompleted" = CASE
            WHEN NEW."status" IS 0 THEN 0
            WHEN NEW."status" IS 1 THEN 1
            WHEN NEW."status" IS 2 THEN 0
          END
          WHERE rowid = NEW.rowid AND "status" IS NEW."status" AND "isCompleted" IS NEW."isCompleted";
        END;
        CREATE TRIGGER "mirror_reminders_isCompleted_to_status_on_update" AFTER UPDATE OF "isCompleted" ON "reminders"
        WHEN NOT NEW."isCompleted" IS OLD."isCompleted"
          AND NEW."status" IS OLD."status"
          AND NEW."isCompleted" IN (0, 1)
          AND NOT (NEW."isCompleted" IS 0 AND NEW."status" IS 0
            OR NEW."isCompleted" IS 1 AND NEW."status" IS 1
            OR NEW."isCompleted" IS 0 AND NEW."status" IS 2)
        BEGIN
          UPDATE "reminders"
          SET "status" = CASE
            WHEN NEW."isCompleted" IS 0 THEN 0
            WHEN NEW."isCompleted" IS 1 THEN 1
          END
          WHERE rowid = NEW.rowid AND "isCompleted" IS NEW."isCompleted" AND "status" IS NEW."status";
        END;
        """)
  }

  @Test("its plan gives the sqlite3 shell the same schema and rows")
  func script() throws {
    let sandbox = try mirroredReminders()
    let byShell = try Sandbox()
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: byShell.database)
    let script = try sandbox.project().plan(sandbox.options(), database: sandbox.database).script
    let ended = try run("/usr/bin/env", ["sqlite3", byShell.database], input: script)
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try Dump(byShell.open()) == Dump(sandbox.open()))
    #expect(try sandbox.schema().objects.filter { $0.name.hasPrefix("mirror_") }.count == 4)
  }

  @Test("names are quoted, and a column may hide the rowid")
  func hostileNames() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE "a;b" (rowid INTEGER PRIMARY KEY, oid, _rowid_, "f""g" DEFAULT 'it''s');
      INSERT INTO "a;b" ("f""g") VALUES ('it''s'), ('not');
      """)
    try sandbox.add(
      "0002_mirror",
      """
      operations:
        - move_column:
            table: "a;b"
            from: "f\\"g"
            to: { name: "BEGIN s's", type: TEXT, default: "yes;" }
            map: { "it's": "yes;", not: "END" }
            keep_source: true
            mirror: true
            map_back: { "yes;": "it's", END: not }
      """)
    let script = try sandbox.project().plan(sandbox.options(), database: sandbox.database).script
    let byShell = try Sandbox()
    let ended = try run("/usr/bin/env", ["sqlite3", byShell.database], input: script)
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try Dump(byShell.open()) == Dump(sandbox.open()))
    try sandbox.run(
      """
      UPDATE "a;b" SET "f""g" = 'not' WHERE rowid = 1;
      UPDATE "a;b" SET "BEGIN s's" = 'yes;' WHERE rowid = 2;
      """)
    #expect(
      try sandbox.rows("SELECT \"f\"\"g\", \"BEGIN s's\" FROM \"a;b\" ORDER BY rowid")
        == [["not", "END"], ["it's", "yes;"]])
  }

  @Test("the new column's default replaces the NULL of an old column without a default")
  func withoutDefault() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (id INTEGER, old INTEGER);")
    try sandbox.add(
      "0002_mirror",
      """
      operations:
        - move_column:
            { table: t, from: old, to: { name: new, default: 0 }, map: { 0: 0, 1: 1 },
              keep_source: true, mirror: true, map_back: { 0: 0, 1: 1 } }
      """)
    #expect(try sandbox.migrate().failure == nil)
    try sandbox.run("INSERT INTO t (id) VALUES (1)")
    #expect(try sandbox.rows("SELECT * FROM t") == [[1, 0, 0]])
  }

  // MARK: Later migrations

  private static let names = [
    "mirror_reminders_status_to_isCompleted_on_insert",
    "mirror_reminders_isCompleted_to_status_on_insert",
    "mirror_reminders_status_to_isCompleted_on_update",
    "mirror_reminders_isCompleted_to_status_on_update",
  ]

  @Test(
    "dropping one of them names the triggers that synchronise them",
    arguments: ["isCompleted", "Status"])
  func dropping(column: String) throws {
    let sandbox = try mirroredReminders()
    try sandbox.migrate()
    try sandbox.add(
      "0008_drop", "operations: [{ drop_column: { table: reminders, column: \(column) } }]")
    let caught = #expect(throws: Failure.self) { try sandbox.migrate() }
    let failure = try #require(caught)
    #expect(failure.status == .invalidInput)
    #expect(
      failure.message.contains(
        "these objects mention `reminders.\(column)`: "
          + Self.names.map { "trigger `\($0)`" }.joined(separator: ", ")))
  }

  @Test("after the triggers are dropped, the old column can be dropped")
  func dropped() throws {
    let sandbox = try mirroredReminders()
    try sandbox.migrate()
    let before = try sandbox.rows("SELECT id, status FROM reminders")
    try sandbox.add(
      "0008_drop",
      "operations:\n"
        + Self.names.map { "  - drop_trigger: { name: \($0) }\n" }.joined()
        + "  - drop_column: { table: reminders, column: isCompleted }\n")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT id, status FROM reminders") == before)
    try sandbox.run(
      "UPDATE reminders SET status = 2; INSERT INTO reminders (id, title) VALUES ('z', '')")
    let verified = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(verified.status == .success)
  }

  @Test("they stay synchronised after renames of table and columns and a rebuild")
  func renamed() throws {
    let sandbox = try mirroredReminders()
    try sandbox.add(
      "0008_rename",
      """
      operations:
        - rename_column: { table: reminders, from: isCompleted, to: done }
        - rename_table: { table: reminders, to: tasks }
        - alter_column: { table: tasks, column: dueDate, type: BLOB }
      """)
    let failure = try sandbox.migrate().failure
    #expect(failure == nil, "\(failure?.message ?? "")")
    try sandbox.run(
      """
      UPDATE tasks SET done = 1 WHERE id = 'r1';
      UPDATE tasks SET status = 2 WHERE id = 'r3';
      """)
    #expect(
      try sandbox.rows("SELECT done, status FROM tasks WHERE id IN ('r1', 'r3') ORDER BY id")
        == [[1, 1], [0, 2]])
    let verified = try sandbox.project().verify(database: sandbox.database, timeout: 1)
    #expect(verified.status == .success)
  }

  @Test("a trigger name that exists gets a number")
  func names() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE t (a DEFAULT 0);
      CREATE TABLE other (x);
      CREATE TRIGGER mirror_T_a_to_b_on_insert AFTER INSERT ON other BEGIN SELECT 1; END;
      """)
    func move(_ from: String, _ to: String) -> String {
      """
        - move_column:
            { table: t, from: \(from), to: { name: \(to), default: 0 }, map: { 0: 0, 1: 2 },
              keep_source: true, mirror: true, map_back: { 0: 0, 2: 1 } }

      """
    }
    try sandbox.add("0002_mirror", "operations:\n" + move("a", "b") + move("a", "a_to_a"))
    #expect(try sandbox.migrate().failure == nil)
    #expect(
      try sandbox.schema().objects.filter { $0.table == "t" }.map(\.name) == [
        "t", "mirror_t_b_to_a_on_insert", "mirror_t_a_to_b_on_insert_2",
        "mirror_t_b_to_a_on_update", "mirror_t_a_to_b_on_update",
        "mirror_t_a_to_a_to_a_on_insert", "mirror_t_a_to_a_to_a_on_insert_2",
        "mirror_t_a_to_a_to_a_on_update", "mirror_t_a_to_a_to_a_on_update_2",
      ])
    // Two mirrors of one column form a chain.
    try sandbox.run("INSERT INTO t (b) VALUES (2)")
    #expect(try sandbox.rows("SELECT a, b, a_to_a FROM t") == [[1, 2, 2]])
    try sandbox.run("UPDATE t SET a_to_a = 0")
    #expect(try sandbox.rows("SELECT a, b, a_to_a FROM t") == [[0, 0, 0]])
  }

  // MARK: Refusals

  struct Refusal: Sendable, CustomTestStringConvertible {
    let old: String
    var to = "{ name: new, type: INTEGER, default: 0 }"
    var map = "{ 0: 0, 1: 1 }"
    var mapBack = "{ 0: 0, 1: 1 }"
    let message: String
    var testDescription: String { message }
  }

  @Test(
    "a column that cannot be mirrored is refused before any write",
    arguments: [
      Refusal(
        old: "id INTEGER, old INTEGER PRIMARY KEY",
        message: "`t.old` is in the primary key: `mirror` cannot write it"),
      Refusal(
        old: "id INTEGER, old INTEGER AS (id)",
        message: "`t.old` is computed: `mirror` cannot write it"),
      Refusal(
        old: "id INTEGER, old INTEGER DEFAULT 0, UNIQUE (old, id)",
        message: "`t.old` is UNIQUE: `mirror` could write duplicate values to it"),
      Refusal(
        old: "id INTEGER, old INTEGER DEFAULT 0",
        to: "{ name: new, type: INTEGER, default: 0, unique: true }",
        message: "`t.new` is UNIQUE: `mirror` cannot write it"),
      Refusal(
        old: "id INTEGER, old INTEGER DEFAULT (abs(0))",
        message:
          "the default of `t.old`, (abs(0)), is not a constant: `mirror` cannot detect whether an "
          + "INSERT names the column"),
      Refusal(
        old: "id INTEGER, old INTEGER DEFAULT 0", mapBack: "{ 0: 0, 1: 1, 2: '1' }",
        message:
          "`map_back` gives '1', which `old` would convert: write a value of the column's type"),
      Refusal(
        old: "id INTEGER, old INTEGER DEFAULT 0", to: "{ name: new, type: TEXT, default: '0' }",
        map: "{ 0: '0', 1: 1 }", mapBack: "{ '0': 0, 1: 1 }",
        message: "`map` gives 1, which `new` would convert: write a value of the column's type"),
      Refusal(
        old: "id INTEGER, old INTEGER NOT NULL DEFAULT 0", mapBack: "{ 0: 0, 1: 1, 2: null }",
        message: "`map_back` gives null, and `old` is NOT NULL"),
      Refusal(
        old: "id INTEGER, old INTEGER NOT NULL DEFAULT 0",
        to: "{ name: new, type: INTEGER, not_null: true, default: 0, check: 'new IN (0, 1, 2)' }",
        mapBack: "{ 0: 0, 1: 1 }",
        message: "`map_back` does not name 2, which the CHECK of `new` accepts"),
      Refusal(
        old: "id INTEGER, old INTEGER NOT NULL DEFAULT 1",
        message:
          "an INSERT that names neither column stores 1 in `old` and 0 in `new`, which do not agree: "
          + "give `new` the default 1"),
      Refusal(
        old: "id INTEGER, old INTEGER DEFAULT 5",
        message:
          "an INSERT that names neither column stores 5 in `old` and 0 in `new`, which do not agree: "
          + "add 5 to `map`"),
    ])
  func refused(_ refusal: Refusal) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_create", "CREATE TABLE t (\(refusal.old));")
    try sandbox.migrate()
    let before = try Dump(sandbox.open())
    try sandbox.add(
      "0002_mirror",
      """
      operations:
        - move_column:
            table: t
            from: old
            to: \(refusal.to)
            map: \(refusal.map)
            keep_source: true
            mirror: true
            map_back: \(refusal.mapBack)
      """)
    let caught = #expect(throws: Failure.self) { try sandbox.migrate() }
    let failure = try #require(caught)
    #expect(failure.status == .invalidInput)
    #expect(failure.message.contains(refusal.message), "\(failure.message)")
    #expect(try Dump(sandbox.open()) == before)
  }
}

extension MirroredTable {
  fileprivate var manifest: String {
    """
    operations:
      - move_column:
          table: t
          from: old
          to: \(to)
          map: \(map.yaml)
          keep_source: true
          mirror: true
          map_back: \(mapBack.yaml)
    """
  }
}

/// Writes of an old and a new app to one table, with the expected content after each statement.
private struct MirrorWriter {
  let table: MirroredTable
  private var random: SeededGenerator
  private var rows: [String: Mirrored] = [:]

  init(table: MirroredTable, seed: UInt64) {
    self.table = table
    random = SeededGenerator(seed: seed)
  }

  var expected: [[Value]] {
    rows.sorted { $0.key < $1.key }.map { [.text($0.key), $0.value.old, $0.value.new] }
  }

  mutating func next() -> String {
    if random.chance(10) { return delete() }
    return random.chance(50) ? insert() : update()
  }

  private mutating func delete() -> String {
    let label = random.pick(table.keys.keys.sorted())
    rows[label] = nil
    return "DELETE FROM t WHERE label = '\(label)'"
  }

  /// Returns the values that a statement sets. The old app sets one column. The new app sets the other column
  /// or both.
  private mutating func written() -> (old: Value?, new: Value?) {
    let old = random.chance(60) ? random.pick(table.oldValues) : nil
    return (old, old == nil || random.chance(40) ? random.pick(table.newValues) : nil)
  }

  private mutating func insert() -> String {
    let label = random.pick(table.keys.keys.sorted())
    let written = random.chance(10) ? (old: nil, new: nil) : written()
    let names = [written.old.map { _ in "old" }, written.new.map { _ in "new" }].compactMap { $0 }
    let values = [written.old, written.new].compactMap { $0?.sql }
    let columns = (table.keyColumns + ["label"] + names).joined(separator: ", ")
    let tuple = ([table.keys[label] ?? "", "'\(label)'"] + values).joined(separator: ", ")
    let into = "INTO t (\(columns)) VALUES (\(tuple))"
    let fresh = table.model.afterInsert(
      stored(written.old ?? table.initial.old, written.new ?? table.initial.new))
    guard let before = rows[label] else {
      rows[label] = fresh
      let verbs = ["INSERT", "REPLACE"] + (isRefusable(written.new) ? [] : ["INSERT OR IGNORE"])
      return "\(random.pick(verbs)) \(into)"
    }
    if random.chance(30) { return "INSERT OR IGNORE \(into)" }
    if names.isEmpty || random.chance(40) {
      rows[label] = fresh
      return "INSERT OR REPLACE \(into)"
    }
    rows[label] = table.model.afterUpdate(
      of: before, to: stored(written.old ?? before.old, written.new ?? before.new))
    let set = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return "INSERT \(into) ON CONFLICT (\(table.key)) DO UPDATE SET \(set)"
  }

  private mutating func update() -> String {
    let written = written()
    let labels = table.keys.keys.sorted().filter { _ in random.chance(50) }
    for label in labels {
      guard let before = rows[label] else { continue }
      rows[label] = table.model.afterUpdate(
        of: before, to: stored(written.old ?? before.old, written.new ?? before.new))
    }
    let set =
      [written.old.map { "old = \($0.sql)" }, written.new.map { "new = \($0.sql)" }]
      .compactMap { $0 } + (random.chance(30) ? ["note = 1"] : [])
    let verb = random.pick(
      ["UPDATE", "UPDATE OR REPLACE"] + (isRefusable(written.new) ? [] : ["UPDATE OR IGNORE"]))
    let list = labels.map { "'\($0)'" }.joined(separator: ", ")
    return "\(verb) t SET \(set.joined(separator: ", ")) WHERE label IN (\(list))"
  }

  /// Whether OR IGNORE skips the row. The conflict clause of the column would replace its NULL otherwise.
  private func isRefusable(_ new: Value?) -> Bool { new == .null && table.replacesNull }

  private func stored(_ old: Value, _ new: Value) -> Mirrored {
    Mirrored(old: old, new: new == .null && table.replacesNull ? table.initial.new : new)
  }
}

extension MirroredTable {
  fileprivate var keyColumns: [String] {
    key.split(separator: ", ").map { String($0.prefix { $0 != " " }) }
  }
}
