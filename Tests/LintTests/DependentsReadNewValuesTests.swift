import SchemaLint
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

@Suite("Dependents that read new values")
struct DependentsReadNewValuesTests {
  private static func move(
    _ objects: String, of priority: String = "priority INTEGER",
    _ mapping: String = "map: { null: null, 0: low, 1: high }", renames: Bool = true
  ) -> [String] {
    [
      sql("CREATE TABLE tasks (id TEXT PRIMARY KEY NOT NULL, \(priority)) STRICT; \(objects)"),
      """
      operations:
        - move_column:
            table: tasks
            from: priority
            to: { name: urgency, type: TEXT }
            \(mapping)
            \(renames ? "dependents: rename" : "")
      lint: { allow: [ { rule: drop-column, reason: It is local. } ] }
      """,
    ]
  }

  @Test(
    "a dependent object with unchanged SQL and changed values is a finding",
    arguments: oneIn(
      3,
      of: [
        ("CREATE VIEW v AS SELECT id FROM tasks WHERE NOT priority", true),
        ("CREATE VIEW w AS SELECT \"priority\" + 1 AS p FROM tasks", true),
        ("CREATE INDEX i ON tasks (id) WHERE priority = 1", true),
        ("CREATE INDEX i ON tasks (priority + 1)", true),
        ("CREATE INDEX i ON tasks (priority DESC, id)", false),
        ("CREATE INDEX i ON tasks (lower(id), priority COLLATE NOCASE)", false),
        (
          "CREATE TRIGGER t AFTER UPDATE OF priority ON tasks BEGIN SELECT OLD.id; END", false
        ),
        ("CREATE TRIGGER t AFTER INSERT ON tasks BEGIN UPDATE tasks SET priority = 1; END", true),
        ("CREATE VIEW v AS SELECT id FROM tasks WHERE id <> 'priority'", false),
        (
          "CREATE TRIGGER t AFTER UPDATE OF priority ON tasks WHEN NEW.priority = 1 BEGIN SELECT 1; END",
          true
        ),
      ]))
  func keptWords(objects: String, isFound: Bool) throws {
    func found(_ steps: [String]) throws -> [String] {
      try lint(steps, .local).findings.map(\.rule).filter { $0 == "dependents-read-new-values" }
    }
    let expected = isFound ? ["dependents-read-new-values"] : []
    #expect(try found(Self.move(objects)) == expected)
    #expect(try found(Self.move(objects, "using: \"'p' || priority\"")) == expected)
    #expect(try found(Self.move(objects, "using: '\"Priority\"'")) == [])
    // No existing value changes.
    let same = "map: { null: null, '0': '0', '1': '1' }"
    #expect(try found(Self.move(objects, of: "priority TEXT", same)) == [])
  }

  @Test(
    "a generated column and a CHECK keep their text, too, and each is reported separately")
  func others() throws {
    let columns = """
      priority INTEGER CHECK (priority < 9), isHigh INTEGER AS (priority = 1), CHECK ("Priority" IN (0, 1)),
      CHECK (length(id) > 3)
      """
    let views = "CREATE VIEW v AS SELECT priority FROM tasks; CREATE VIEW w AS SELECT 1 FROM tasks"
    let found = try lint(Self.move(views, of: columns), .local).findings
      .filter { $0.rule == "dependents-read-new-values" }
    #expect(found.map(\.object) == ["tasks.isHigh", "tasks", "v"])
    #expect(
      found.map(\.message).first == """
        the column `isHigh` compares values of `tasks.priority`, and `dependents: rename` changes only \
        the name in it: `urgency` holds 'low' instead of 0
        """)
    #expect(found[1].message.contains("CHECK (\"urgency\" IN (0, 1)) compares values"))
  }

  @Test("a number that is stored as a text is a different value")
  func storedAsText() throws {
    let same = "map: { null: null, 0: 0, 1: 1 }"
    let found = try lint(
      Self.move("CREATE VIEW v AS SELECT id FROM tasks WHERE coalesce(priority, 0) = 0", same),
      .local
    ).findings.filter { $0.rule == "dependents-read-new-values" }
    #expect(found.first?.message.hasSuffix("`urgency` holds '0' instead of 0") == true)
  }

  @Test(
    "an object that the migration renames later is found, and one that it recreates is not",
    arguments: [
      ("- rename_column: { table: tasks, from: urgency, to: pressure }", true),
      ("- rename_table: { table: tasks, to: jobs }", true),
      ("- sql: DROP VIEW v; CREATE VIEW v AS SELECT id FROM tasks WHERE urgency = 'low'", false),
      ("- drop_view: { name: v }", false),
    ])
  func later(operation: String, isFound: Bool) throws {
    var steps = Self.move("CREATE VIEW v AS SELECT id FROM tasks WHERE NOT priority")
    steps[1] = steps[1].replacing("lint: {", with: "  \(operation)\nlint: {")
    let found = try lint(steps, .local).findings.filter { $0.rule == "dependents-read-new-values" }
    #expect(found.count == (isFound ? 1 : 0))
  }
}
