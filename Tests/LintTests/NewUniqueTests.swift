import SchemaLint
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

/// The messages of `fails-on-data` for a `move_column` and a unique constraint.
private func found(
  _ schema: String, to: String, _ mapping: String, before: String = "", after: String = ""
) throws -> [String] {
  try lint(
    [
      sql(schema),
      """
      operations:
      \(before)
        - move_column:
            table: notes
            from: isDone
            to: { name: state, default: open, \(to) }
            \(mapping)
            dependents: rename
      \(after)
      """,
    ], .local
  ).findings.filter { $0.rule == "fails-on-data" && $0.migration == "0002_step" }.map(\.message)
}

@Suite("Unique columns that move")
struct NewUniqueTests {
  private static let schemas = [
    "CREATE TABLE notes (isDone INTEGER, title TEXT); CREATE UNIQUE INDEX u ON notes (isDone, title DESC);",
    "CREATE TABLE notes (isDone INTEGER, title TEXT, UNIQUE (isDone, title));",
  ]

  @Test("values stay unique if the map keeps them distinct", arguments: schemas)
  func apart(schema: String) throws {
    #expect(try found(schema, to: "type: TEXT", "map: { 0: open, 1: done }") == [])
    #expect(try found(schema, to: "type: TEXT", "map: { 0: open, 1: done, null: null }") == [])
  }

  @Test("values stay unique if the index is dropped and recreated under any name")
  func again() throws {
    for name in ["u", "notes_state"] {
      #expect(
        try found(
          Self.schemas[0], to: "type: TEXT", "map: { 0: open, 1: done }",
          before: "  - drop_index: { name: u }",
          after:
            "  - create_index: { name: \(name), table: notes, columns: [title, state], unique: true }"
        ) == [])
    }
  }

  @Test(
    "values may repeat if the map makes two of them equal in SQLite's storage and comparison",
    arguments: schemas,
    oneIn(
      4,
      of: [
        ("type: TEXT", "{ 0: open, 1: done, 2: done }", "makes 1 and 2 of isDone the same"),
        ("type: NUMERIC", "{ 0: 5, 1: '5' }", "makes 0 and 1 of isDone the same"),
        ("type: TEXT, collate: NOCASE", "{ 0: Open, 1: open }", "makes 0 and 1 of isDone the same"),
        ("type: TEXT", "{ 0: open, null: done }", "gives each NULL of isDone the same value"),
      ]))
  func together(schema: String, move: (to: String, map: String, effect: String)) throws {
    let messages = try found(schema, to: move.to, "map: \(move.map)")
    #expect(
      messages == [
        (schema == Self.schemas[0] ? "the unique index `u`" : "`UNIQUE (state, title)` of `notes`")
          + " fails (the map \(move.effect)) if two rows of `notes` hold the same values"
      ])
  }

  @Test(
    "values may repeat if the result is unknown or the old constraint was weaker",
    arguments: oneIn(
      4,
      of: [
        (schemas[0], "using: isDone % 2"), (schemas[1], "using: isDone % 2"),
        (
          "CREATE TABLE notes (isDone INTEGER, title TEXT); CREATE UNIQUE INDEX u ON notes (isDone) WHERE isDone = 1;",
          "map: { 0: 1, 1: 0 }"
        ),
        (
          "CREATE TABLE notes (isDone INTEGER, title TEXT); CREATE UNIQUE INDEX u ON notes (isDone * 2);",
          "map: { 0: 1, 1: 0 }"
        ),
      ]))
  func unknown(schema: String, mapping: String) throws {
    let messages = try found(schema, to: "type: TEXT", mapping)
    #expect(messages.count == 1)
    #expect(messages.first?.contains("the map") == false)
  }

  @Test("values may repeat if the new index has fewer columns than the old one")
  func narrower() throws {
    #expect(
      try found(
        Self.schemas[0], to: "type: TEXT", "map: { 0: open, 1: done }",
        before: "  - drop_index: { name: u }",
        after: "  - create_index: { name: u, table: notes, columns: [state], unique: true }"
      ) == [
        "the unique index `u` fails if two rows of `notes` hold the same values"
      ])
  }
}
