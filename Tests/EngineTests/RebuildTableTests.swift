import SchemaApply
import SchemaHistory
import SchemaPlanning
import SchemaPreview
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("rebuild_table")
struct RebuildTableTests {
  private func library() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_library",
      """
      CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE books (
        id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT COLLATE NOCASE, author INTEGER
          REFERENCES authors (id) ON DELETE CASCADE, pages TEXT, unused BLOB);
      CREATE INDEX books_by_title ON books (title);
      CREATE TABLE log (what TEXT);
      CREATE TRIGGER books_log AFTER DELETE ON books BEGIN INSERT INTO log VALUES (old.title); END;
      CREATE TABLE loans (book INTEGER NOT NULL REFERENCES books (id) ON DELETE CASCADE);
      CREATE VIEW titles AS SELECT title FROM books;
      """)
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO authors VALUES (1, 'Ada'), (2, 'Ben');
      INSERT INTO books VALUES (3, 'Zero', 1, '12', NULL), (7, 'One', 2, '300', x'00'),
        (90, 'Gone', 2, '4', NULL);
      DELETE FROM books WHERE id = 90; DELETE FROM log;
      INSERT INTO loans VALUES (3), (7), (7);
      """)
    return sandbox
  }

  private func rebuild(_ keys: String) -> String {
    """
    operations:
    - rebuild_table:
        table: books
        columns:
        - { name: id, type: INTEGER, primary_key: true, autoincrement: true }
        - { name: title, type: TEXT, not_null: true, collate: NOCASE }
        - { name: length, type: INTEGER, check: "length > 0" }
        - { name: author, type: INTEGER, references: { table: authors, on_delete: restrict } }
        - { name: genre, type: TEXT, default: novel }
        copy: { length: "CAST(pages AS INTEGER)" }
    \(keys)
    """
  }

  @Test("the table gets its new definition and keeps rows, ids, children, triggers and sequence")
  func rebuilt() throws {
    let sandbox = try library()
    try sandbox.add("0002_rebuild", rebuild(""))
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure.map { "\($0)" } ?? "")")
    #expect(
      try sandbox.rows("SELECT * FROM books") == [
        [3, "Zero", 12, 1, "novel"], [7, "One", 300, 2, "novel"],
      ])
    #expect(try sandbox.rows("SELECT count(*) FROM loans") == [[3]])
    #expect(try sandbox.rows("SELECT count(*) FROM log") == [[0]])
    #expect(try sandbox.rows("SELECT seq FROM sqlite_sequence WHERE name = 'books'") == [[90]])
    #expect(
      try sandbox.rows("SELECT name FROM sqlite_schema WHERE tbl_name = 'books' ORDER BY 1") == [
        ["books"], ["books_by_title"], ["books_log"],
      ])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(try sandbox.rows("PRAGMA foreign_key_check").isEmpty)
    #expect(try sandbox.rows("SELECT * FROM titles ORDER BY title DESC") == [["Zero"], ["One"]])
  }

  @Test("it keeps the rows that `where` selects, and fails if a child would lose its parent")
  func filtered() throws {
    let sandbox = try library()
    try sandbox.add(
      "0002_rebuild", rebuild("    where: \"pages <> '12'\"\n    rows_may_be_lost: true"))
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.contains("loans"), "\(failure.message)")
    #expect(try sandbox.rows("SELECT count(*) FROM books") == [[2]])

    try sandbox.run("DELETE FROM loans WHERE book = 3")
    #expect(try sandbox.migrate().failure == nil)
    #expect(try sandbox.rows("SELECT id FROM books") == [[7]])
  }

  @Test("it refuses to drop a column that an index, a trigger or a view mentions, and names it")
  func dependents() throws {
    let sandbox = try library()
    try sandbox.addSQL("0002_index", "CREATE INDEX books_by_pages ON books (\"pages\")")
    try sandbox.add("0003_rebuild", rebuild(""))
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.status == .invalidInput)
    #expect(failure?.message.contains("index `books_by_pages` mentions it") == true)
    #expect(try sandbox.ledger.count == 1)
  }

  @Test(
    "it supports tables without rowid, and with a rowid that no column names",
    arguments: [
      "CREATE TABLE t (a TEXT PRIMARY KEY, b) WITHOUT ROWID", "CREATE TABLE t (a TEXT, b)",
      "CREATE TABLE t (a TEXT, b INTEGER PRIMARY KEY)", "CREATE TABLE t (b, a TEXT PRIMARY KEY)",
    ],
    [
      "strict: true", "without_rowid: true, primary_key: [b]", "primary_key: [b, a]",
      "strict: false",
    ])
  func kinds(create: String, options: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_table", create)
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO t (a, b) VALUES ('x', 5), ('y', 2), ('z', 9); DELETE FROM t WHERE b = 5")
    let hadRowid = !create.contains("WITHOUT")
    let rowids = hadRowid ? try sandbox.rows("SELECT rowid FROM t ORDER BY b") : []
    try sandbox.add(
      "0002_rebuild",
      """
      operations:
      - rebuild_table: {
          table: t,
          columns: [{ name: b, type: INTEGER, not_null: true }, { name: a, type: TEXT }],
          \(options) }
      """)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure.map { "\($0)" } ?? "")")
    #expect(try sandbox.rows("SELECT a, b FROM t ORDER BY b") == [["y", 2], ["z", 9]])
    if hadRowid, !options.contains("without_rowid") {
      #expect(try sandbox.rows("SELECT rowid FROM t ORDER BY b") == rowids)
    }
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test("a copy into a computed column is refused")
  func copies() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_table", "CREATE TABLE t (a INTEGER)")
    try sandbox.add(
      "0002_rebuild",
      """
      operations:
      - rebuild_table:
          table: t
          columns:
          - { name: a, type: INTEGER }
          - { name: twice, type: INTEGER, generated: { as: 2 * a } }
          copy: { twice: "1" }
      """)
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.message.contains("are computed") == true, "\(failure?.message ?? "")")
  }
}

@Suite("Virtual tables")
struct VirtualTableTests {
  @Test(
    "they are created and dropped with all shadow tables; external content tables match")
  func fullText() throws {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_search",
      """
      operations:
      - create_table:
          name: notes
          columns: [{ name: id, type: INTEGER, primary_key: true }, { name: text, type: TEXT }]
      - create_virtual_table:
          name: search
          using: fts5
          arguments: [ text, "content='notes'", "content_rowid='id'" ]
      - create_virtual_table: { name: places, using: rtree, arguments: [ id, x0, x1 ] }
      - create_trigger:
          name: notes_search
          sql: |
            CREATE TRIGGER notes_search AFTER INSERT ON notes BEGIN
              INSERT INTO search (rowid, text) VALUES (new.id, new.text);
            END
      """)
    #expect(try sandbox.migrate().failure == nil)
    // The INSERT fires a trigger that writes to a virtual table, which an untrusted schema must not do.
    try sandbox.addSQL(
      "0002_rows", "INSERT INTO notes VALUES (7, 'milk and bread'), (9, 'bread')")
    #expect(try sandbox.migrate().failure == nil)
    try sandbox.add(
      "0003_alter",
      """
      operations:
      - alter_column: { table: notes, column: text, type: BLOB }
      - drop_virtual_table: { name: places }
      """)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure.map { "\($0)" } ?? "")")
    #expect(report.applied.first?.strategies.first == .rewrite)
    #expect(
      try sandbox.rows("SELECT rowid, text FROM search WHERE search MATCH 'bread'") == [
        [7, "milk and bread"], [9, "bread"],
      ])
    #expect(try sandbox.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'places%'").isEmpty)
    try sandbox.run("INSERT INTO search (search) VALUES ('integrity-check')")
  }

  @Test("drop_virtual_table refuses an ordinary table")
  func ordinary() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_table", "CREATE TABLE t (a)")
    try sandbox.add("0002_drop", "operations:\n- drop_virtual_table: { name: t }\n")
    let failure = #expect(throws: Failure.self) { try sandbox.migrate() }
    #expect(failure?.message.contains("use `drop_table`") == true)
  }

  @Test(
    "NULL does not become a number in a new alias of the rowid",
    arguments: ["INTEGER PRIMARY KEY DESC", "INTEGER"])
  func newAlias(_ definition: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_t", "CREATE TABLE t (id \(definition), x)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t (id) VALUES (NULL), (2)")
    try sandbox.add(
      "0002_alias",
      """
      operations:
      - rebuild_table:
          { table: t, columns: [{ name: id, type: INTEGER, primary_key: true }, { name: x }] }

      """)
    #expect(
      try sandbox.project().dryRun(sandbox.options()).failure?.message
        .contains("NULL (null) in 1 row") == true)
    #expect(sandbox.failure()?.status == .migrationFailed)
    try sandbox.run("UPDATE t SET id = 7 WHERE id IS NULL")
    #expect(sandbox.failure() == nil)
    #expect(try sandbox.rows("SELECT id FROM t") == [[2], [7]])
  }

  @Test("and refuses values that an INTEGER PRIMARY KEY cannot store, before it writes rows")
  func refusedByAlias() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_t", "CREATE TABLE t (id TEXT, x)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO t VALUES ('1', 1), ('abc', 2)")
    try sandbox.add(
      "0002_alias",
      """
      operations:
      - rebuild_table:
          { table: t, columns: [{ name: id, type: INTEGER, primary_key: true }, { name: x }] }

      """)
    let message = """
      1 row of `t` holds a value in `id` that `id INTEGER PRIMARY KEY` does not accept: 'abc' (text) in 1 row. \
      Convert it with `copy`, or correct the rows first
      """
    #expect(try sandbox.project().dryRun(sandbox.options()).failure?.message == message)
    #expect(sandbox.failure()?.message == message)
  }
}
