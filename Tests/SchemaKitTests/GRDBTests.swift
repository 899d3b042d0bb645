import Foundation
import SchemaKitYAML
import SchemaSQLText
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("An app that was released with GRDB")
struct GRDBTests {
  /// The migrations of GRDB's migrator in order: name and SQL.
  private static let old = [
    ("createLists", "CREATE TABLE lists (id INTEGER PRIMARY KEY, title TEXT NOT NULL)"),
    ("createReminders", "CREATE TABLE reminders (id INTEGER PRIMARY KEY, amount INTEGER)"),
    ("addNotes", "ALTER TABLE reminders ADD COLUMN notes TEXT"),
    ("doubleAmounts", "UPDATE reminders SET amount = amount * 2"),
  ]

  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    for (index, (name, sql)) in Self.old.enumerated() {
      try sandbox.add(
        "000\(index + 1)_\(name)",
        """
        replaces: [{ ledger: grdb_migrations, entries: [\(name)] }]
        operations:
        - sql: \(sql)
        """)
    }
    try sandbox.addSQL("0005_color", "ALTER TABLE lists ADD COLUMN color TEXT")
    try sandbox.freeze()
    return sandbox
  }

  /// A database after some of GRDB 7's migrations.
  private func fill(_ app: AppConnection, _ names: [String]) throws {
    try app.run("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    for (name, sql) in Self.old where names.contains(name) {
      try app.run(sql)
      try app.run("INSERT INTO grdb_migrations VALUES ('\(name)')")
      if name == "createReminders" { try app.run("INSERT INTO reminders VALUES (1, 21)") }
    }
    try app.run("INSERT INTO lists VALUES (7, 'Home')")
  }

  @Test(
    "devices with two, three and four of its migrations reach the latest, with every row",
    arguments: [2, 3, 4], [true, false])
  func adopts(count: Int, onHandle: Bool) throws {
    let sandbox = try sandbox()
    let app = try AppConnection(onHandle ? ":memory:" : sandbox.database)
    try fill(app, Self.old.prefix(count).map(\.0))
    let migrator = try sandbox.migrator(drafts: .refused)
    let report =
      onHandle
      ? try migrator.migrate(handle: app.handle)
      : try migrator.migrate(databaseAt: sandbox.database)
    #expect(report.adopted.count == count && report.applied.count == 5 - count)
    #expect(try app.run("SELECT title FROM lists WHERE id = 7 AND color IS NULL") == "Home")
    #expect(try app.run("SELECT amount FROM reminders WHERE id = 1 AND notes IS NULL") == "42")
    #expect(try app.run("SELECT count(*) FROM grdb_migrations") == "\(count)")
    #expect(try app.run("SELECT count(*) FROM schemactl_migrations") == "5")
  }

  @Test("a device that ran them out of order is not changed", arguments: [true, false])
  func outOfOrder(onHandle: Bool) throws {
    let sandbox = try sandbox()
    let app = try AppConnection(onHandle ? ":memory:" : sandbox.database)
    try fill(app, ["createLists", "createReminders", "doubleAmounts"])
    let error = #expect(throws: SchemaError.self) {
      let migrator = try sandbox.migrator()
      _ =
        onHandle
        ? try migrator.migrate(handle: app.handle)
        : try migrator.migrate(databaseAt: sandbox.database)
    }
    #expect(error?.code == .drift)
    #expect(error?.message.contains("`schemactl") == false)
    #expect(try app.run("SELECT amount FROM reminders") == "42")
    #expect(try app.run("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'schemactl%'") == "0")
  }
}
