import SchemaLint
import SchemaTestPrograms
import SchemaTestSupport
import SchemaTimeline
import Testing

/// The losses of a draft that rebuilds `t` with an expression for its column `v`, without severities.
private func losses(_ type: String, _ expression: String, as new: String) throws -> [String] {
  let report = try lint(
    [
      sql("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, v \(type))"),
      sql(
        """
        CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT NOT NULL, v \(new));
        INSERT INTO x (id, name, v) SELECT id, name, \(expression) FROM t;
        DROP TABLE t;
        ALTER TABLE x RENAME TO t;
        """),
    ], .local)
  #expect(report.failure == nil)
  #expect(report.notes == [])
  return report.findings.filter {
    ["loses-values", "loses-rows", "non-deterministic-data"].contains($0.rule)
  }.map { "\($0.rule) \($0.object ?? "")" }
}

@Suite("Values that the type of a column suggests")
struct ColumnTypeTests {
  @Test(
    "an expression that cuts off a part of such a value is found once",
    arguments: [
      ("decimal(10,2)", "CAST(v AS INTEGER)", "INTEGER"), ("NUMERIC", "round(v)", "NUMERIC"),
      ("DECIMAL(20,10)", "CAST(v AS INTEGER)", "INTEGER"),
      ("DECIMAL(12, 4) NOT NULL", "printf('%d', v)", "INTEGER"),
      ("decimal(10,2)", "round(v, 1)", "decimal(10,2)"),
      ("datetime NOT NULL", "date(v)", "date NOT NULL"), ("TIMESTAMP", "date(v)", "date"),
      ("DATETIME NOT NULL", "substr(v, 1, 10)", "TEXT NOT NULL"),
      ("REAL", "CASE WHEN datetime('now') > '' THEN round(v) END", "REAL"),
      ("REAL CHECK (v = round(v, 2))", "CAST(v AS INTEGER)", "INTEGER"),
      ("REAL", "printf('%.2f', v)", "TEXT"), ("REAL NOT NULL", "printf('%.1f', v)", "TEXT"),
      (
        "TEXT NOT NULL CHECK (v IN ('low', 'normal', 'high', 'urgent'))",
        "CASE v WHEN 'low' THEN 0 WHEN 'high' THEN 2 ELSE 1 END", "INTEGER NOT NULL"
      ),
    ])
  func lost(type: String, expression: String, new: String) throws {
    #expect(try losses(type, expression, as: new) == ["loses-values t.v"])
  }

  @Test(
    "an expression that keeps such a value is not a finding",
    arguments: [
      ("decimal(10,2)", "CAST(round(v * 100) AS INTEGER)", "INTEGER"),
      ("decimal(10,0)", "CAST(v AS INTEGER)", "INTEGER"),
      ("DATETIME NOT NULL", "v / 1000", "INTEGER NOT NULL"),
      ("datetime", "datetime(v)", "datetime"), ("timestamp", "strftime('%s', v)", "INTEGER"),
      ("datetime", "strftime('%Y-%m-%dT%H:%M:%SZ', v)", "TEXT"),
      ("timestamp", "datetime(v, '-2 hours')", "timestamp"),
      ("TEXT", "datetime(v, '+1 day')", "TEXT"),
      ("datetime", "CASE WHEN typeof(v) = 'text' THEN unixepoch(v) ELSE v END", "INTEGER"),
      ("datetime", "CASE typeof(v) WHEN 'integer' THEN v ELSE unixepoch(v) END", "INTEGER"),
      ("REAL NOT NULL", "datetime(v + 978307200, 'unixepoch')", "TEXT NOT NULL"),
      (
        "TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP", "CAST(strftime('%s', v) AS INTEGER)",
        "INTEGER NOT NULL DEFAULT (strftime('%s', 'now'))"
      ),
      (
        "TEXT NOT NULL CHECK (v IN ('low', 'high'))",
        "CASE v WHEN 'low' THEN 0 WHEN 'high' THEN 2 ELSE 1 END", "INTEGER NOT NULL"
      ),
    ])
  func kept(type: String, expression: String, new: String) throws {
    #expect(try losses(type, expression, as: new) == [])
  }

  @Test(
    "a Boolean column contains only 0 and 1",
    arguments: ["BOOLEAN NOT NULL", "bool NOT NULL DEFAULT FALSE"])
  func flags(type: String) throws {
    func found(_ kept: String) throws -> [String] {
      try lint(
        [
          sql("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, gone \(type))"),
          sql(
            """
            CREATE TABLE old (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO old SELECT id, name FROM t WHERE gone = 1 AND name <> '';
            CREATE TABLE x (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO x SELECT id, name FROM t WHERE \(kept);
            DROP TABLE t;
            ALTER TABLE x RENAME TO t;
            """),
        ], .local
      ).findings.map(\.rule).filter { $0.hasPrefix("loses") }
    }
    #expect(try found("gone = 0 OR name = ''") == [])
    #expect(try found("gone = 0 AND name LIKE 'M%'") == ["loses-rows"])
  }

  @Test(
    "values of a JSON list without a CHECK are found in the rows of another table",
    arguments: [("p.value", "TEXT"), ("p.value ->> 'url'", "TEXT NOT NULL")])
  func lists(value: String, type: String) throws {
    let report = try lint(
      [
        sql("CREATE TABLE albums (id INTEGER PRIMARY KEY, photos TEXT NOT NULL DEFAULT '[]')"),
        sql(
          """
          CREATE TABLE photos (album INTEGER REFERENCES albums, url \(type));
          CREATE INDEX photos_album ON photos (album);
          INSERT INTO photos SELECT albums.id, \(value) FROM albums, json_each(albums.photos) p;
          ALTER TABLE albums DROP COLUMN photos;
          """),
      ], .local)
    #expect(report.notes == [])
    #expect(report.findings.contains { $0.message.contains("hold results of its values") })
  }
}
