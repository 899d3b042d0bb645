import Foundation

/// A database of reminders as an app would have it, with so many rows.
struct Reminders {
  let rows: Int
  let isWide: Bool
  let indexes: Int
  let folder: URL
  /// What is copied for each run; schemactl has taken it over.
  let base: URL

  static let columns = """
    id INTEGER PRIMARY KEY, remindersListID INTEGER NOT NULL, title TEXT NOT NULL DEFAULT '',
    isCompleted INTEGER NOT NULL DEFAULT 0, dueDate TEXT, notes TEXT NOT NULL DEFAULT '',
    priority INTEGER, position INTEGER NOT NULL DEFAULT 0
    """

  /// - Parameters:
  ///   - isWide: with 20 columns more, as many apps have them after some years.
  ///   - indexes: 0, 2 or 5.
  init(
    _ rows: Int, isWide: Bool = false, indexes: Int = 0, in workplace: URL, _ schemactl: String
  ) throws {
    self.rows = rows
    self.isWide = isWide
    self.indexes = indexes
    folder = workplace.appendingPathComponent(
      "reminders-\(rows)-\(isWide ? "wide" : "narrow")-\(indexes)")
    base = folder.appendingPathComponent("base.sqlite")
    guard !FileManager.default.fileExists(atPath: base.path) else { return }
    try create(folder.appendingPathComponent("migrations"))
    try "sync: { engine: none }\n".write(
      to: folder.appendingPathComponent("schemactl.yaml"), atomically: false, encoding: .utf8)
    let statements = definitions
    try ("operations:\n" + statements.map { "  - sql: \"\($0)\"\n" }.joined()).write(
      to: folder.appendingPathComponent("migrations/0001_reminders.yaml"), atomically: false,
      encoding: .utf8)
    let more = isWide ? (1...20).map { "'text ' || (i % 97 + \($0))" } : []
    let script = folder.appendingPathComponent("base.sql")
    try """
    PRAGMA synchronous = OFF;
    \(statements.map { $0 + ";" }.joined(separator: "\n"))
    WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(rows))
    INSERT INTO reminders SELECT \((["i", "i % 50", "'Reminder number ' || i", "i % 3 = 0",
      "CASE WHEN i % 4 THEN '2026-11-' || (i % 28 + 1) END",
      "'Notes that somebody wrote ' || (i * 7919 % 100003)", "i % 4", "i"] + more)
      .joined(separator: ", ")) FROM c;
    """.write(to: script, atomically: false, encoding: .utf8)
    _ = try output(["sqlite3", base.path], in: folder, input: script.path)
    _ = try output([schemactl, "adopt", "--database", base.path], in: folder)
  }

  private var definitions: [String] {
    let more = isWide ? (1...20).map { ", more\($0) TEXT" }.joined() : ""
    return [
      "CREATE TABLE reminders (\(Self.columns.replacingOccurrences(of: "\n", with: " "))\(more))"
    ] + Self.indexes(indexes)
  }

  static func indexes(_ count: Int) -> [String] {
    let terms = [
      "remindersListID, position", "title", "position", "remindersListID", "position, title",
    ]
    return (0..<count).map { "CREATE INDEX reminders_\($0) ON reminders (\(terms[$0]))" }
  }

  func database(_ name: String) -> URL { folder.appendingPathComponent("\(name).sqlite") }

  /// A copy of its own for one contestant, on the disk before anything is measured.
  func copy(for name: String) throws {
    let file = database(name)
    for suffix in ["", "-journal"] { unlink(file.path + suffix) }
    try FileManager.default.copyItem(at: base, to: file)
    let handle = try FileHandle(forUpdating: file)
    try handle.synchronize()
    try handle.close()
  }

  /// A folder with the history, and one migration more.
  func history(_ name: String, _ operations: String) throws -> URL {
    let history = folder.appendingPathComponent("history-\(name)")
    try create(history)
    for (file, text) in [
      (
        "0001_reminders.yaml",
        try String(
          contentsOf: folder.appendingPathComponent("migrations/0001_reminders.yaml"),
          encoding: .utf8)
      ),
      ("0002_\(name).yaml", "operations:\n\(operations)\n"),
    ] {
      try text.write(
        to: history.appendingPathComponent(file), atomically: false, encoding: .utf8)
    }
    return history
  }
}

/// One change of the reminders, as operations and as the SQL that people write.
struct Change {
  let name: String
  let title: String
  let target: Double?
  let operations: String
  let sql: String
  /// The same on everybody's database, whatever the order of the columns.
  let question: String

  static func statusMove(_ name: String, _ what: String, _ target: Double, map: [Int]) -> Change {
    Change(
      name: name, title: "isCompleted to status, \(what)", target: target,
      operations: """
          - move_column:
              table: reminders
              from: isCompleted
              to: { name: status, type: INTEGER, not_null: true, default: 0 }
              map: { 0: \(map[0]), 1: \(map[1]) }
        """,
      sql: """
        BEGIN;
        ALTER TABLE reminders ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
        UPDATE reminders SET status = CASE isCompleted WHEN 0 THEN \(map[0]) WHEN 1 THEN \(map[1]) END;
        ALTER TABLE reminders DROP COLUMN isCompleted;
        COMMIT;
        """,
      question: "SELECT count(*), sum(id * (status + 1)), sum(length(title)), sum(position) "
        + "FROM reminders")
  }

  static let statusMoves = [
    statusMove("same", "no value changes", 0.15, map: [0, 1]),
    statusMove("third", "one row in three changes", 0.70, map: [0, 2]),
    statusMove("every", "every row changes", 0.90, map: [5, 6]),
  ]

  static let threeDrops = Change(
    name: "drops", title: "drop three columns", target: nil,
    operations: ["dueDate", "notes", "priority"].map {
      "  - drop_column: { table: reminders, column: \($0) }"
    }.joined(separator: "\n"),
    sql: ["dueDate", "notes", "priority"].map {
      "ALTER TABLE reminders DROP COLUMN \($0);"
    }.joined(separator: "\n"),
    question: "SELECT count(*), sum(id), sum(length(title)), sum(position), "
      + "(SELECT group_concat(name) FROM pragma_table_info('reminders')) FROM reminders")

  /// Another type for a column that no index reads, beside SQLite's documented procedure.
  static func type(indexes: Int, _ target: Double) -> Change {
    let old = "priority INTEGER"
    return Change(
      name: "type", title: "another type", target: target,
      operations: "  - alter_column: { table: reminders, column: priority, type: TEXT }",
      sql: """
        BEGIN;
        CREATE TABLE new_reminders (\(Reminders.columns.replacingOccurrences(of: old, with: "priority TEXT")));
        INSERT INTO new_reminders SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE new_reminders RENAME TO reminders;
        \(Reminders.indexes(indexes).map { $0 + ";" }.joined(separator: "\n"))
        COMMIT;
        """,
      question: "SELECT count(*), sum(id), sum(length(title)), sum(length(priority)), "
        + "min(typeof(priority)) FROM reminders")
  }

  static let primaryKey = Change(
    name: "primary-key", title: "an integer key to UUIDs", target: nil,
    operations: "  - convert_primary_key: { table: reminders, to: uuid, uuids: from_integer }",
    sql: """
      BEGIN;
      CREATE TABLE new_reminders (\(Reminders.columns.replacingOccurrences(of: "id INTEGER PRIMARY KEY", with: "id TEXT PRIMARY KEY NOT NULL")));
      INSERT INTO new_reminders SELECT substr(printf('%016x', id), 1, 8) || '-' ||
        substr(printf('%016x', id), 9, 4) || '-8000-8000-00000000' ||
        substr(printf('%016x', id), 13),
        remindersListID, title, isCompleted, dueDate, notes, priority, position FROM reminders;
      DROP TABLE reminders;
      ALTER TABLE new_reminders RENAME TO reminders;
      COMMIT;
      """,
    question: "SELECT count(*), min(id), max(id), sum(length(title)) FROM reminders")

  static let notNull = constraint(
    "not-null", "a NOT NULL more", "priority", "not_null: true", "priority INTEGER",
    "priority INTEGER NOT NULL")

  static let check = constraint(
    "check", "a CHECK more", "isCompleted", "check: isCompleted IN (0, 1)",
    "isCompleted INTEGER NOT NULL DEFAULT 0",
    "isCompleted INTEGER NOT NULL DEFAULT 0 CHECK (isCompleted IN (0, 1))")

  private static func constraint(
    _ name: String, _ title: String, _ column: String, _ key: String, _ old: String, _ new: String
  ) -> Change {
    Change(
      name: name, title: title, target: 0.10,
      operations: """
          - alter_column:
              table: reminders
              column: \(column)
              \(key)
        """,
      sql: """
        BEGIN;
        CREATE TABLE new_reminders (\(Reminders.columns.replacingOccurrences(of: old, with: new)));
        INSERT INTO new_reminders SELECT * FROM reminders;
        DROP TABLE reminders;
        ALTER TABLE new_reminders RENAME TO reminders;
        COMMIT;
        """,
      question: "SELECT count(*), sum(id), sum(length(title)), sum(isCompleted), "
        + "(SELECT group_concat(name || \"notnull\") FROM pragma_table_info('reminders')) "
        + "FROM reminders")
  }
}
