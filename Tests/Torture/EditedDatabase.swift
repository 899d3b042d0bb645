import SchemaSQLite

/// Damage by SQL, to `sqlite_schema` and to the ledger.
enum EditedDatabase {
  static let schemaEdits = [
    "UPDATE sqlite_schema SET rootpage = 0 WHERE name = 'notes'",
    "UPDATE sqlite_schema SET rootpage = -1 WHERE name = 'files'",
    "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'tags'",
    "UPDATE sqlite_schema SET rootpage = 999999 WHERE name = 'notes'",
    "UPDATE sqlite_schema SET rootpage = 'x' WHERE name = 'notes'",
    "UPDATE sqlite_schema SET rootpage = rootpage + 1 WHERE name IN ('notes', 'files')",
    rootpage(of: "files", for: "notes"), rootpage(of: "notes", for: "files"),
    rootpage(of: "noteBody", for: "bigFiles"), rootpage(of: "tags", for: "noteTags"),
    rootpage(of: "notes", for: "noteTags"), rootpage(of: "schemactl_migrations", for: "files"),
    rootpage(of: "files", for: "schemactl_migrations"), rootpage(of: "notes", for: "noteBody"),
    rootpage(of: "search_data", for: "noteTags"), rootpage(of: "sqlite_sequence", for: "files"),
    sql("NULL", of: "notes"), sql("NULL", of: "touch"), sql("''", of: "files"),
    sql("'not SQL at all'", of: "files"), sql("'CREATE TABLE notes ('", of: "notes"),
    sql("'CREATE VIEW notes AS SELECT 1'", of: "notes"),
    sql("'CREATE TABLE bodies (a)'", of: "bodies"),
    sql("'DROP TABLE files'", of: "touch"), sql("x'00ff'", of: "notes"), sql("17", of: "notes"),
    sql("sql || char(0) || '; DROP TABLE tags'", of: "notes"),
    sql("sql || CAST(x'ff80' AS TEXT)", of: "files"),
    sql(
      "'CREATE TABLE notes (id INTEGER PRIMARY KEY, body /*' || hex(zeroblob(1000000)) || '*/)'",
      of: "notes"),
    sql("replace(sql, 'id INTEGER PRIMARY KEY', 'id INTEGER')", of: "files"),
    sql("sql || ' WITHOUT ROWID'", of: "files"), sql("sql || ' STRICT'", of: "notes"),
    sql("replace(sql, 'WITHOUT ROWID', '')", of: "tags"),
    sql("replace(sql, 'body TEXT', 'body TEXT COLLATE NOCASE')", of: "notes"),
    sql("replace(sql, 'data BLOB,', '')", of: "files"),
    sql("replace(sql, 'data BLOB', 'data BLOB, more AS (data || 1) UNIQUE')", of: "files"),
    sql("replace(sql, 'body', 'nobody')", of: "noteBody"),
    sql("'CREATE VIEW bodies AS SELECT * FROM bodies'", of: "bodies"),
    sql("'CREATE VIEW bodies AS SELECT * FROM notes, bodies, bodies b'", of: "bodies"),
    sql(
      "'CREATE TRIGGER touch AFTER UPDATE ON notes BEGIN UPDATE notes SET body = 1; END'",
      of: "touch"),
    sql(
      "'CREATE TRIGGER touch BEFORE INSERT ON schemactl_migrations BEGIN DELETE FROM notes; END'",
      of: "touch"),
    sql(
      "'CREATE VIEW bodies AS SELECT ' || replace(hex(zeroblob(3000)), '00', '(') || '1'",
      of: "bodies"),
    sql(
      "'CREATE VIEW bodies AS SELECT 1' || replace(hex(zeroblob(5000)), '00', ',1')",
      of: "bodies"),
    sql("'CREATE VIRTUAL TABLE search USING nothing(words)'", of: "search"),
    sql("'CREATE VIRTUAL TABLE search USING fts5(words, content=''bodies'')'", of: "search"),
    sql("'CREATE TABLE schemactl_migrations (id)'", of: "schemactl_migrations"),
    "UPDATE sqlite_schema SET name = 'files' WHERE name = 'notes'",
    "UPDATE sqlite_schema SET name = 'sqlite_notes' WHERE name = 'notes'",
    "UPDATE sqlite_schema SET name = NULL WHERE name = 'notes'",
    "UPDATE sqlite_schema SET name = x'00' WHERE name = 'touch'",
    "UPDATE sqlite_schema SET name = char(27) || '[31mred' WHERE name = 'bodies'",
    "UPDATE sqlite_schema SET tbl_name = 'files' WHERE name = 'noteBody'",
    "UPDATE sqlite_schema SET tbl_name = 'nothing' WHERE name IN ('touch', 'bigFiles')",
    "UPDATE sqlite_schema SET type = 'tabel' WHERE name = 'notes'",
    "UPDATE sqlite_schema SET type = NULL WHERE name = 'files'",
    "UPDATE sqlite_schema SET type = 'index' WHERE name = 'notes'",
    "UPDATE sqlite_schema SET type = 'view' WHERE name = 'tags'",
    "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema",
    "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'notes'",
    "INSERT INTO sqlite_schema SELECT type, 'twin', 'twin', rootpage, replace(sql, 'notes', 'twin') "
      + "FROM sqlite_schema WHERE name = 'notes'",
    "INSERT INTO sqlite_schema SELECT 'table', name || rootpage, tbl_name, rootpage, sql "
      + "FROM sqlite_schema",
    "DELETE FROM sqlite_schema WHERE name = 'noteBody'",
    "DELETE FROM sqlite_schema WHERE name = 'search_data'",
    "DELETE FROM sqlite_schema WHERE name LIKE 'sqlite_autoindex%'",
    "DELETE FROM sqlite_schema WHERE name = 'sqlite_sequence'",
    "DELETE FROM sqlite_schema WHERE name = 'schemactl_migrations'",
    "DELETE FROM sqlite_schema WHERE name = 'files'",
    "DELETE FROM sqlite_schema",
    "INSERT INTO sqlite_schema VALUES (NULL, NULL, NULL, NULL, NULL), (1, 2, 3, 4, 5)",
  ]

  static let ledgerEdits =
    [
      "position = NULL", "position = 'x'", "position = 1", "position = -position",
      "position = 9223372036854775807", "position = 1e300", "position = x'00'",
      "raw_digest = ''", "raw_digest = x'00ff'", "raw_digest = upper(raw_digest)",
      "canonical_digest = raw_digest", "canonical_digest = hex(zeroblob(1000000))",
      "fingerprint = NULL", "fingerprint = 12", "started_at = char(27) || '[2J'",
      "started_at = NULL", "milliseconds = 'long'", "milliseconds = -9223372036854775808",
      "tool_version = NULL", "tool_version = char(10) || 'error: all is lost'",
      "id = NULL", "id = CAST(id AS BLOB)", "id = upper(id)", "id = id || char(0)",
      "id = char(27) || ']0;owned' || char(7) || id", "id = '../../' || id",
      "id = replace(id, '0001', '0004')", "id = replace(id, '0003_search', '0006_colours')",
      "id = replace(id, '0003_search', '0005_kind')", "id = CAST(x'ff' AS TEXT) || id",
    ].map { "UPDATE schemactl_migrations SET \($0)" } + [
      "DELETE FROM schemactl_migrations", "DELETE FROM schemactl_migrations WHERE position = 2",
      "INSERT INTO schemactl_migrations SELECT * FROM schemactl_migrations",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO schemactl_migrations
        SELECT 'x' || i, 100 + i, raw_digest, canonical_digest, fingerprint, started_at, 0, '' FROM n
        JOIN schemactl_migrations m ON m.position = 1
      """,
      "INSERT INTO schemactl_migrations VALUES (hex(zeroblob(2000000)), 4, 1, 2, 3, 4, 5, 6)",
      "ALTER TABLE schemactl_migrations ADD COLUMN more",
      "DROP TABLE schemactl_migrations; CREATE VIEW schemactl_migrations AS SELECT 1 AS id",
      "CREATE TRIGGER own BEFORE INSERT ON schemactl_migrations BEGIN DELETE FROM notes; END",
      "CREATE TRIGGER own AFTER INSERT ON schemactl_migrations BEGIN SELECT RAISE(IGNORE); END",
      "CREATE TRIGGER own BEFORE INSERT ON schemactl_migrations BEGIN SELECT RAISE(IGNORE); END",
      "CREATE TRIGGER own AFTER INSERT ON schemactl_migrations "
        + "BEGIN DELETE FROM schemactl_migrations WHERE id = new.id; END",
      "CREATE UNIQUE INDEX own ON schemactl_migrations (tool_version)",
    ]

  /// Replaces the ledger by one without constraints, which would prevent most of the damage.
  private static let unconstrainedLedger = """
    CREATE TABLE other AS SELECT * FROM schemactl_migrations; DROP TABLE schemactl_migrations;
    CREATE TABLE schemactl_migrations (id PRIMARY KEY, position, raw_digest, canonical_digest,
      fingerprint, started_at, milliseconds, tool_version);
    INSERT INTO schemactl_migrations SELECT * FROM other; DROP TABLE other;
    """

  static func edit(_ path: String, _ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    connection.set(.defensive, to: false)
    connection.set(.writableSchema, to: true)
    do {
      try connection.execute(sql)
    } catch {
      // A constraint of the ledger prevents the edit, so remove the constraints.
      try? connection.execute(unconstrainedLedger)
      try? connection.execute(sql)
    }
  }

  private static func rootpage(of source: String, for name: String) -> String {
    """
    UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = '\(source)')
    WHERE name = '\(name)'
    """
  }

  private static func sql(_ expression: String, of name: String) -> String {
    "UPDATE sqlite_schema SET sql = \(expression) WHERE name = '\(name)'"
  }
}
