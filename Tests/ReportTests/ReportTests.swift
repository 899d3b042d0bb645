import Foundation
import SchemaDiagram
import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaReport
import SchemaSQLText
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import SchemaYAML
import Testing

@Suite("The report")
struct ReportTests {
  @Test("it shows the origin and the end of columns, tables and triggers")
  func origins() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_first", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, old INT)")
    try sandbox.addSQL("0002_title", "ALTER TABLE notes ADD COLUMN title TEXT")
    try sandbox.addSQL("0003_rename", "ALTER TABLE notes RENAME TO pages")
    try sandbox.addSQL(
      "0004_more",
      "ALTER TABLE pages RENAME COLUMN body TO text; ALTER TABLE pages DROP COLUMN old; CREATE INDEX byTitle ON pages (title)"
    )
    try sandbox.addSQL("0005_drop", "DROP INDEX byTitle")
    let chronicle = try sandbox.linted().0
    let notes = try #require(chronicle.tables.first { $0.name == "notes" })
    // A new name of the table changes no column.
    #expect(!(chronicle.tables.flatMap(\.columns).contains { $0.part.isChange }))
    let pages = try #require(chronicle.tables.first { $0.name == "pages" })
    #expect(notes.life.until == 2)
    #expect(pages.since == 0 && pages.formerName == "notes" && !pages.life.isOver)
    func column(_ name: String) -> Part? { pages.columns.first { $0.column.name == name }?.part }
    #expect(column("id")?.since == 0)
    #expect(column("title")?.since == 1)
    #expect(column("old")?.life.until == 3)
    #expect(column("body")?.life.until == 3)
    #expect(column("text")?.since == 3)
    let index = pages.parts.first { if case .index = $0.content { true } else { false } }
    #expect(index?.life.from == 3 && index?.life.until == 4)
  }

  @Test("a replaced column names its predecessor, and a changed one keeps its origin")
  func moves() throws {
    let sandbox = try Sandbox.reminders()
    let chronicle = try sandbox.linted().0
    let reminders = try #require(chronicle.tables.first { $0.name == "reminders" })
    let status = reminders.columns.first { $0.column.name == "status" && !$0.part.life.isOver }
    #expect(status?.part.replaced == "isCompleted")
    #expect(status?.part.since == 6)
    let before = reminders.columns.map(\.column.name)
    #expect(
      try #require(before.firstIndex(of: "isCompleted")) + 1 == before.firstIndex(of: "status"))
  }

  @Test("a table lists the foreign keys, views and triggers that use it")
  func uses() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_a",
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY);
      CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a);
      CREATE TABLE log (text TEXT);
      CREATE VIEW both AS SELECT a.id FROM a JOIN b ON b.a = a.id;
      CREATE TRIGGER noted AFTER UPDATE OF a ON b BEGIN INSERT INTO log VALUES ('b'); END;
      """)
    let page = try sandbox.page()
    func article(_ name: String) throws -> Substring {
      let start = try #require(page.firstRange(of: "<article id=\"t-\(name)\""))
      let end = try #require(page[start.upperBound...].firstRange(of: "</article>"))
      return page[start.lowerBound..<end.lowerBound]
    }
    #expect(try article("a").contains("<h4>Referred to by</h4>"))
    #expect(try article("a").contains("view <a href=\"#v-both\">"))
    #expect(try article("log").contains("trigger <code>noted</code> of <a href=\"#t-b\">"))
  }

  @Test("hostile names, descriptions and reasons are escaped")
  func hostile() throws {
    let attack = "<script>alert(1)</script>]]>\"'><img src=x onerror=alert(1)>-->\u{202E}"
    let name = Quoting.quoted(attack)
    let literal = Quoting.stringLiteral(attack)
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_attack",
      """
      description: \(yamlQuoted(attack + "\nsecond line"))
      lint: { allow: [{ rule: missing-strict, reason: \(yamlQuoted(attack)) }] }
      operations:
        - sql: \(yamlQuoted("CREATE TABLE \(name) (\(name) TEXT DEFAULT \(literal), b REFERENCES \(name))"))
        - sql: \(yamlQuoted("CREATE INDEX \(Quoting.quoted("i" + attack)) ON \(name) (\(name))"))
        - sql: \(yamlQuoted("CREATE VIEW \(Quoting.quoted("v" + attack)) AS SELECT * FROM \(name)"))
        - sql: \(yamlQuoted(
          "CREATE TRIGGER \(Quoting.quoted("g" + attack)) AFTER INSERT ON \(name) BEGIN SELECT \(literal); END"))

      """)
    let page = try sandbox.page()
    let elements = try HTMLElements(page)
    #expect(elements.names.count { $0 == "script" } == 1)
    #expect(!elements.names.contains("img"))
    #expect(elements.attributes.allSatisfy { !$0.hasPrefix("on") })
    #expect(!page.unicodeScalars.contains("\u{202E}"))
    #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;]]&gt;"))
  }

  @Test("it contains no values of rows, neither of the database nor of manifests")
  func values() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.run("UPDATE remindersLists SET title = 'SECRETVALUE' WHERE id = 'home'")
    try sandbox.add(
      "0008_insert",
      "operations:\n- insert: { table: tags, rows: [{ id: OTHERSECRET, title: THIRDSECRET }] }\n")
    let page = try sandbox.page(database: sandbox.database)
    #expect(!page.contains("SECRET"))
    #expect(page.contains("0007_replace_is_completed_with_status"))
    // The row counts and the cost of pending migrations.
    #expect(page.contains("<td>30</td>"))
    #expect(page.contains("writes at most"))
  }

  @Test("drift of the database is listed")
  func drift() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    try sandbox.run("ALTER TABLE tags ADD COLUMN stray TEXT")
    #expect(try sandbox.page(database: sandbox.database).contains("column <code>tags.stray</code>"))
  }

  @Test("a database that is ahead of the history is shown with its unknown migrations")
  func ahead() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.makeRelease1()
    let id = "0009_from_another_branch"
    try sandbox.addSQL(id, "CREATE TABLE other (id INTEGER PRIMARY KEY)")
    let run = try start(
      "schemactl", ["migrate", "--database", sandbox.database], in: sandbox.folder
    ).wait()
    #expect(run.code == 0, "\(run.errors)")
    try FileManager.default.removeItem(atPath: "\(sandbox.folder)/migrations/\(id).yaml")
    let page = try sandbox.page(database: sandbox.database)
    #expect(page.contains("The database and the history disagree"))
    #expect(page.contains("<li><code>\(id)</code> is unknown: the database has run it"))
    // The report changes no database.
    #expect(!page.contains("Nothing changed"))
    #expect(!page.contains("Nothing is pending"))
  }

  @Test("sizes include the shadow tables of virtual tables")
  func shadowTables() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE VIRTUAL TABLE area USING rtree(id, minX, maxX)")
    _ = try sandbox.migrate()
    #expect(try sandbox.page(database: sandbox.database).contains("<code>area_node</code>"))
  }

  @Test("findings have their rationale, and suppressions their reasons")
  func findings() throws {
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(release: "1.0", through: "0006")
    let page = try sandbox.page()
    #expect(page.contains("id=\"lint\""))
    #expect(page.contains("Why this is a rule"))
    #expect(page.contains("<section id=\"drafts\">"))
  }

  @Test("the two devices of a counterexample are shown side by side")
  func devices() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL, body TEXT)")
    try sandbox.freeze(release: "1.0")
    try sandbox.addSQL("0002_b", "ALTER TABLE notes RENAME COLUMN body TO text")
    let page = try sandbox.page()
    #expect(page.contains("<section id=\"devices\">"))
    #expect(page.contains("<div class=\"sender\">") && page.contains("<div class=\"receiver\">"))
  }

  @Test("a failing history is shown up to its failure")
  func failing() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    try sandbox.addSQL("0002_b", "CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    let run = try start("schemactl", ["report", "--output", "r.html"], in: sandbox.folder).wait()
    #expect(run.code == 3)
    let page = try String(contentsOfFile: sandbox.folder + "/r.html", encoding: .utf8)
    #expect(page.contains("The replay ended early in 0002_b"))
    #expect(page.contains("id=\"t-notes\""))
  }

  @Test("an empty history has a report")
  func empty() throws {
    let sandbox = try Sandbox()
    let run = try start("schemactl", ["report", "--output", "r.html"], in: sandbox.folder).wait()
    #expect(run.code == 0, "\(run.errors)")
  }

  @Test("300 migrations of 100 tables take less than a megabyte", .thorough)
  func size() throws {
    let sandbox = try Sandbox.large()
    #expect(try sandbox.page().utf8.count < 1_000_000)
  }
}

extension Sandbox {
  func linted() throws -> (Chronicle, LintReport) {
    let project = try project()
    var chronicle = Chronicle(project)
    let lint = try Linter(project: project, configuration: Configuration()).lint {
      step, scratch throws(Failure) in try chronicle.note(step, scratch)
    }
    return (chronicle, lint)
  }

  /// The report of the project, and of a database.
  func page(database: String? = nil) throws -> String {
    let project = try project()
    let (chronicle, lint) = try linted()
    var report = try Report(
      of: chronicle, lint, project.application, name: "reminders", date: "2026-01-01T00:00:00Z")
    if let database {
      report.database = try project.facts(
        of: ReadableDatabase(file: database, timeout: 5), timeout: 5)
    }
    return String(decoding: report.page, as: UTF8.self)
  }

  /// 300 migrations, of which the last hundred are drafts: 100 tables with foreign keys, indexes
  /// and added columns.
  static func large() throws -> Sandbox {
    let sandbox = try Sandbox()
    for number in 1...300 {
      let table = (number - 1) % 100
      let digits = String(repeating: "0", count: 4 - String(number).count) + String(number)
      let sql =
        switch number {
        case ...100:
          """
          CREATE TABLE table\(table) (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', notes TEXT,
            createdAt TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, position INTEGER NOT NULL DEFAULT 0,
            parent TEXT REFERENCES table\(max(0, table - 1 - table % 7)) ON DELETE CASCADE,
            amount REAL CHECK (amount >= 0), flags INTEGER NOT NULL DEFAULT 0) STRICT;
          CREATE INDEX table\(table)_parent ON table\(table) (parent);
          """
        case ...200: "ALTER TABLE table\(table) ADD COLUMN extra\(number) TEXT"
        default: "CREATE INDEX table\(table)_\(number) ON table\(table) (title, position)"
        }
      try sandbox.add(
        "\(digits)_change_table\(table)",
        "description: What the author says about the change of table \(table), in a sentence.\noperations:\n- sql: |\n"
          + sql.split(separator: "\n").map { "    \($0)\n" }.joined())
      if number % 100 == 0, number < 300 { try sandbox.freeze(release: "\(number / 100).0") }
    }
    return sandbox
  }
}
