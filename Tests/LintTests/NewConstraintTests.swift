import SchemaLint
import SchemaTestSupport
import SchemaTimeline
import Testing

/// The findings about failures of a migration after `table`: `warning fails-on-data t`.
private func failures(_ table: String, _ steps: String...) throws -> [String] {
  let report = try lint([sql(table)] + steps, .local)
  #expect(report.failure == nil)
  return report.findings.filter { $0.rule == "fails-on-data" }.map(\.kind)
}

private func operations(_ lines: String...) -> String {
  "operations:\n" + lines.map { "  - \($0)\n" }.joined()
}

@Suite("New constraints on values that the migration computes")
struct NewConstraintTests {
  // MARK: CHECK

  private func moved(_ type: String, _ check: String, _ using: String) -> String {
    operations(
      "move_column: { table: t, from: old, to: { name: new, type: \(type), check: \"\(check)\" }, "
        + "using: \"\(using)\" }")
  }

  @Test(
    "a new CHECK refuses values of a moved column",
    arguments: [
      ("INTEGER", "new BETWEEN 0 AND 3", "old"),
      ("INTEGER", "new IN (0, 1, 2)", "coalesce(old, 0)"),
      ("TEXT", "new BETWEEN 0 AND 150", "CAST(old AS INTEGER)"),
      ("TEXT", "length(new) <= 20", "old"),
      ("TEXT", "new IN ('', 'Milk', 'Bread', '007')", "old"),
    ])
  func refused(_ old: String, _ check: String, _ using: String) throws {
    let type = using.hasPrefix("CAST") ? "INTEGER" : old
    for column in ["old \(old)", "old \(old) NOT NULL"] {
      #expect(
        try failures(
          "CREATE TABLE t (id INTEGER PRIMARY KEY, \(column));", moved(type, check, using))
          == ["warning fails-on-data t"])
    }
  }

  @Test("a new CHECK refuses values that a copy converts")
  func refusedCopy() throws {
    func copied(_ value: String) -> String {
      sql(
        """
        CREATE TABLE n (id INTEGER PRIMARY KEY, age INTEGER CHECK (age BETWEEN 0 AND 150));
        INSERT INTO n SELECT id, \(value) FROM t;
        DROP TABLE t;
        ALTER TABLE n RENAME TO t;
        """)
    }
    let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, age TEXT);"
    #expect(try failures(table, copied("CAST(age AS INTEGER)")) == ["warning fails-on-data t"])
    #expect(try failures(table, copied("max(0, min(CAST(age AS INTEGER), 150))")) == [])
  }

  @Test(
    "a new CHECK accepts the values that the migration computes",
    arguments: [
      ("INTEGER", "new BETWEEN 0 AND 3", "min(max(old, 0), 3)"),
      ("INTEGER", "new IN (0, 1)", "old <> 0"),
      ("TEXT", "new IN ('open', 'done')", "CASE old WHEN 0 THEN 'open' ELSE 'done' END"),
      ("TEXT", "length(new) <= 20", "substr(old, 1, 20)"),
    ])
  func accepted(_ type: String, _ check: String, _ using: String) throws {
    #expect(
      try failures(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, old INTEGER);", moved(type, check, using)) == [])
  }

  @Test("an earlier draft limits the values of a moved column")
  func limited() throws {
    #expect(
      try failures(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, old INTEGER);",
        sql("UPDATE t SET old = 3 WHERE old NOT BETWEEN 0 AND 3"),
        moved("INTEGER", "new BETWEEN 0 AND 3", "old")) == [])
  }

  @Test("the message does not report values as lost if a new CHECK refuses most of them")
  func notLost() throws {
    let report = try lint(
      [
        sql("CREATE TABLE t (id INTEGER PRIMARY KEY, old TEXT);"),
        moved("INTEGER", "new BETWEEN 0 AND 150", "CAST(old AS INTEGER)"),
      ], .local)
    let messages = report.findings.filter { $0.rule == "drop-column" }.map(\.message)
    #expect(messages.count == 1 && messages[0].contains("`new` holds results of its values"))
  }

  // MARK: UNIQUE

  @Test(
    "an UPDATE makes the values of a new unique index equal",
    arguments: [
      "lower(a) WHERE a IS NOT NULL", "lower(a) WHERE a <> lower(a)", "trim(a)",
      "upper(replace(a, ' ', ''))",
    ])
  func equal(_ update: String) throws {
    for (column, index) in [("a TEXT", "a"), ("a TEXT NOT NULL", "a"), ("a TEXT", "b, a")] {
      #expect(
        try failures(
          "CREATE TABLE t (id INTEGER PRIMARY KEY, \(column), b TEXT NOT NULL);",
          sql("UPDATE t SET a = \(update);\nCREATE UNIQUE INDEX t_a ON t (\(index));"))
          == ["error fails-on-data t"])
    }
  }

  @Test("an UPDATE replaces each NULL of a new unique index with the same value")
  func sameValue() throws {
    #expect(
      try failures(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT NOT NULL);",
        sql("UPDATE t SET a = '' WHERE a IS NULL;\nCREATE UNIQUE INDEX t_a ON t (a);"))
        == ["error fails-on-data t"])
  }

  @Test(
    "an UPDATE makes the values of a new unique index distinct",
    arguments: [
      "a || id", "'c' || id WHERE a IS NULL", "lower(a) || '-' || id",
      "NULL WHERE id NOT IN (SELECT min(id) FROM t GROUP BY a)",
    ])
  func distinct(_ update: String) throws {
    #expect(
      try failures(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT NOT NULL);",
        sql("UPDATE t SET a = \(update);\nCREATE UNIQUE INDEX t_a ON t (a);")) == [])
  }

  // MARK: Generated columns and NOT NULL

  @Test(
    "a rebuild makes a column with values generated",
    arguments: ["exif TEXT", "exif TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(exif))"],
    ["iso INTEGER", "iso INTEGER NOT NULL"])
  func generated(_ exif: String, _ iso: String) throws {
    let check =
      exif.contains("CHECK") ? ", not_null: true, default: '{}', check: json_valid(exif)" : ""
    #expect(
      try failures(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, \(iso), \(exif));",
        operations(
          """
          rebuild_table:
                table: t
                columns:
                  - { name: id, type: INTEGER, primary_key: true }
                  - { name: exif, type: TEXT\(check) }
                  - { name: iso, type: INTEGER, generated: { as: "exif ->> '$.iso'" } }
          """)) == ["error fails-on-data t"])
  }

  @Test(
    "another table may lack the values that replace NULL in a column that becomes NOT NULL",
    arguments: [
      ("(SELECT p.price FROM prices p WHERE p.name = t.name)", true),
      ("(SELECT c.price FROM kinds c WHERE c.id = t.kind)", true),
      ("(SELECT c.rank FROM kinds c WHERE c.id = t.kind)", false),
      ("coalesce((SELECT p.price FROM prices p WHERE p.name = t.name), 0)", false),
    ])
  func lookup(_ value: String, _ fails: Bool) throws {
    let tables = """
      CREATE TABLE prices (name TEXT PRIMARY KEY NOT NULL, price INTEGER NOT NULL);
      CREATE TABLE kinds (id INTEGER PRIMARY KEY, price INTEGER, rank INTEGER NOT NULL);
      CREATE TABLE t (
        id INTEGER PRIMARY KEY, price INTEGER, name TEXT NOT NULL,
        kind INTEGER NOT NULL REFERENCES kinds);
      """
    #expect(
      try failures(
        tables,
        operations(
          "update: { table: t, set: { price: \"\(value)\" }, where: price IS NULL }",
          "alter_column: { table: t, column: price, not_null: true }"))
        == (fails ? ["error fails-on-data t"] : []))
  }

  @Test(
    "a member of a JSON object that may be missing becomes NOT NULL",
    arguments: [
      ("data ->> '$.kind'", true), ("json_extract(data, '$.kind')", true),
      ("coalesce(data ->> '$.kind', '')", false),
    ])
  func member(_ value: String, _ fails: Bool) throws {
    let data = "data TEXT NOT NULL CHECK (json_valid(data))"
    #expect(
      try failures(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, \(data));",
        sql(
          """
          CREATE TABLE n (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, \(data));
          INSERT INTO n SELECT id, \(value), data FROM t;
          DROP TABLE t;
          ALTER TABLE n RENAME TO t;
          """)) == (fails ? ["error fails-on-data t"] : []))
    #expect(
      try failures(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, \(data));",
        operations(
          "move_column: { table: t, from: data, to: { name: kind, type: TEXT, not_null: true, "
            + "default: '' }, using: \"\(value)\", keep_source: true }"))
        == (fails ? ["error fails-on-data t"] : []))
  }
}
