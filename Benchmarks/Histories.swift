import Foundation

/// The same history of small migrations as everybody writes it.
struct SmallMigrations {
  let count: Int
  /// How many tables there are, and then only indexes that come and go; nil: there are more and more
  /// tables, and columns that are added to them.
  let tables: Int?
  let folder: URL

  init(_ count: Int, tables: Int? = nil, in workplace: URL) throws {
    self.count = count
    self.tables = tables
    folder = workplace.appendingPathComponent(
      "history-\(count)" + (tables.map { "-\($0)" } ?? ""))
    try create(folder)
    try write("schemactl.yaml", "sync: { engine: none }\n")
    for number in 1...count {
      try write("migrations/\(id(number)).yaml", manifest(number))
    }
    try write(
      "all.sql",
      "BEGIN;\n" + (1...count).map { sql($0) + ";\n" }.joined() + "COMMIT;\n")
  }

  private func id(_ number: Int) -> String {
    String(format: "%05d_step_%d", number, number)
  }

  private enum Change {
    case table(String)
    case column(table: String)
    case index(String, table: String)
    case noIndex(String)
  }

  private func change(_ number: Int) -> Change {
    guard let tables else {
      let table = "t\((number + 1) / 2)"
      return number % 2 == 1 ? .table(table) : .column(table: table)
    }
    guard number > tables else { return .table("t\(number)") }
    let pair = (number - tables + 1) / 2
    let table = "t\(pair % tables + 1)"
    return (number - tables) % 2 == 1 ? .index("i\(pair)", table: table) : .noIndex("i\(pair)")
  }

  private func sql(_ number: Int) -> String {
    switch change(number) {
    case .table(let table):
      "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '')"
    case .column(let table): "ALTER TABLE \(table) ADD COLUMN note TEXT"
    case .index(let index, let table): "CREATE INDEX \(index) ON \(table) (title)"
    case .noIndex(let index): "DROP INDEX \(index)"
    }
  }

  private func manifest(_ number: Int) -> String {
    let operation =
      switch change(number) {
      case .table(let table):
        """
          - create_table:
              name: \(table)
              columns:
                - { name: id, type: INTEGER, primary_key: true }
                - { name: title, type: TEXT, not_null: true, default: "" }
        """
      case .column(let table):
        """
          - add_column:
              table: \(table)
              column: { name: note, type: TEXT }
        """
      case .index(let index, let table):
        "  - create_index: { name: \(index), table: \(table), columns: [title] }"
      case .noIndex(let index): "  - drop_index: { name: \(index) }"
      }
    return "operations:\n\(operation)\n"
  }

  /// What all must have made.
  static let question = """
    SELECT m.name, group_concat(c.name || ' ' || upper(c.type) || ' ' || c."notnull")
    FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
    WHERE m.type = 'table' AND m.name GLOB 't[0-9]*' GROUP BY m.name
    """

  func write(_ name: String, _ text: String) throws {
    let file = folder.appendingPathComponent(name)
    try create(file.deletingLastPathComponent())
    try text.write(to: file, atomically: false, encoding: .utf8)
  }
}

/// Tables that sync, each with a reference to another one, of which every release gives a tenth a new
/// column: what two devices are tried with.
struct SyncedTables {
  let folder: URL
  private let schemactl: String

  init(tables: Int, releases: Int, in workplace: URL, _ schemactl: String) throws {
    folder = workplace.appendingPathComponent("synced-\(tables)-\(releases)")
    self.schemactl = schemactl
    guard !FileManager.default.fileExists(atPath: folder.path) else { return }
    try create(folder.appendingPathComponent("migrations"))
    try write("schemactl.yaml", "sync: { engine: sqlite-data }\n")
    var all = try release(0, (0..<tables).map(table))
    for number in 1..<releases {
      let tenth = (0..<tables / 10).map { (number * tables / 10 + $0) % tables }
      all += try release(number, tenth.map { "ALTER TABLE t\($0) ADD COLUMN c\(number) TEXT" })
    }
    try write("all.sql", "BEGIN;\n\(all)COMMIT;\n")
  }

  private func table(_ number: Int) -> String {
    let parent = number == 0 ? "" : " REFERENCES t\((number - 1) / 3) ON DELETE CASCADE"
    return """
      CREATE TABLE t\(number) (\
      id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), \
      title TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '', notes TEXT, \
      isDone INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0 CHECK (isDone IN (0, 1)), \
      dueAt TEXT, position REAL, parentID TEXT\(parent)) STRICT
      """
  }

  private func release(_ number: Int, _ statements: [String]) throws -> String {
    let operations = statements.map { "  - sql: \"\($0)\"\n" }.joined()
    try write("migrations/\(1000 + number)_release.yaml", "operations:\n" + operations)
    _ = try measure(
      Command(words: [schemactl, "freeze", "--release", "1.\(number)"], folder: folder))
    return statements.map { $0 + ";\n" }.joined()
  }

  private func write(_ name: String, _ text: String) throws {
    try text.write(to: folder.appendingPathComponent(name), atomically: false, encoding: .utf8)
  }
}

// MARK: As others write it

extension SmallMigrations {
  func writeForDbmate() throws {
    for number in 1...count {
      try write(
        "dbmate/\(20_260_101_000_000 + number)_step.sql",
        "-- migrate:up\n\(sql(number));\n\n-- migrate:down\n")
    }
  }

  func writeForAlembic() throws {
    try write(
      "alembic.ini",
      """
      [alembic]
      script_location = alembic
      """)
    try write(
      "alembic/env.py",
      """
      import os
      from alembic import context
      from sqlalchemy import create_engine
      engine = create_engine("sqlite:///" + os.environ["BENCHMARK_DATABASE"])
      with engine.connect() as connection:
          context.configure(connection=connection)
          with context.begin_transaction():
              context.run_migrations()
      """)
    for number in 1...count {
      try write(
        "alembic/versions/r\(number).py",
        """
        from alembic import op
        revision = "r\(number)"
        down_revision = \(number == 1 ? "None" : "\"r\(number - 1)\"")
        def upgrade():
            op.execute("\(sql(number))")
        """)
    }
  }

  func writeForDjango() throws {
    try write(
      "django/settings.py",
      """
      import os
      SECRET_KEY = "benchmark"
      INSTALLED_APPS = ["app"]
      DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3",
                               "NAME": os.environ["BENCHMARK_DATABASE"]}}
      """)
    try write("django/app/__init__.py", "")
    try write("django/app/migrations/__init__.py", "")
    for number in 1...count {
      try write(
        "django/app/migrations/m\(number).py",
        """
        from django.db import migrations
        class Migration(migrations.Migration):
            dependencies = [\(number == 1 ? "" : "(\"app\", \"m\(number - 1)\")")]
            operations = [migrations.RunSQL("\(sql(number))")]
        """)
    }
  }

  func writeForYoyo() throws {
    for number in 1...count { try write("yoyo/\(id(number)).sql", sql(number) + ";\n") }
  }

  func writeForSqitch() throws {
    try write("sqitch/sqitch.conf", "[core]\n  engine = sqlite\n  top_dir = .\n")
    var plan = "%syntax-version=1.0.0\n%project=benchmark\n\n"
    for number in 1...count {
      plan += "m\(number) 2026-01-01T00:00:00Z Somebody <somebody@example.org> # a step\n"
      try write("sqitch/deploy/m\(number).sql", "BEGIN;\n\(sql(number));\nCOMMIT;\n")
    }
    try write("sqitch/sqitch.plan", plan)
  }
}

func create(_ folder: URL) throws {
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
}
