import SchemaSQLText

extension Rule {
  static let failsOnRows = Rule(
    id: "fails-on-rows",
    section: .failsOnData,
    severities: Severities(.warning, .warning, .warning),
    why: """
      The migration runs on empty tables, as in every test of a new database, and stops on rows that \
      the schema allows. Lint fills the tables with a handful of rows that satisfy every CHECK, \
      UNIQUE, NOT NULL and foreign key, with NULL and with values that repeat where nothing forbids \
      it, and runs each step on them: what fails there, and is the subject of no other rule, is this \
      finding. With `lint --data FILE` the rows are those of a copy of a real database, and the \
      finding is an error.
      """,
    fix: """
      Say what becomes of the rows that stand in the way: leave them out with WHERE, give NULL a \
      value with coalesce, delete or change what repeats first. Where no row can be like that, a \
      CHECK or NOT NULL says so, and lint makes no such rows.
      """,
    bad: Rule.Example(
      .local, booksManifest, writersManifest,
      """
      operations:
        - sql: INSERT INTO writers (name) SELECT DISTINCT author FROM books
      """),
    good: Rule.Example(
      .local, booksManifest, writersManifest,
      """
      operations:
        - sql: |
            INSERT INTO writers (name)
            SELECT DISTINCT author FROM books WHERE author IS NOT NULL
      """),
    check: { timeline, _ in
      timeline.rows.failures.filter { !$0.isOfMap }.map { failure in
        var draft = timeline.draft(
          failure.database.map { "on a copy of \($0) this fails: \(failure.message)" }
            ?? "this runs on empty tables and fails on rows that the schema allows: \(failure.message)",
          at: failure.place, object: failure.object, table: failure.object,
          position: failure.position)
        draft.isCertain = failure.database != nil
        draft.failedTables = failure.tables
        return draft
      }
    })
}

private let booksManifest = tableManifest("books", columns: "{ name: author, type: TEXT }")
private let writersManifest = tableManifest(
  "writers", columns: "{ name: name, type: TEXT, not_null: true }")
