import SchemaHistory
import SchemaTestSupport
import Testing

@Suite("convert_primary_key and expressions with the key")
struct KeyUseTests {
  private func convert(
    people: String = "", photos: String = "", _ more: String = ""
  ) throws -> Failure? {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_shop",
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, up INTEGER REFERENCES people\(people));
      CREATE TABLE photos (id INTEGER PRIMARY KEY, person INTEGER REFERENCES people (id)\(photos));
      CREATE TABLE others (id INTEGER PRIMARY KEY, person INTEGER);
      INSERT INTO people (id, name, up) VALUES (1, 'Ada', NULL), (2, 'Ben', 1);
      INSERT INTO photos (id, person) VALUES (7, 1);
      \(more)
      """)
    try sandbox.migrate()
    try sandbox.add(
      "0002_uuid",
      "operations:\n- convert_primary_key: { table: people, to: uuid, uuids: from_integer }\n")
    return sandbox.failure()
  }

  @Test(
    "a computed column and a CHECK that calculate with the key are refused, each by its text",
    arguments: [
      (", twice INTEGER AS (id * 2)", "", "the generated column `people.twice`"),
      (", kind TEXT AS (typeof(\"up\")) STORED", "", "the generated column `people.kind`"),
      (", CHECK (up < people.id)", "", "`CHECK (up < people.id)` of `people`"),
      (" CHECK (up IS NULL OR up > 0)", "", "`CHECK (up IS NULL OR up > 0)` of `people.up`"),
      (" DEFAULT 1", "", "`DEFAULT 1` of `people.up`"),
      ("", ", CHECK (person <> 5)", "`CHECK (person <> 5)` of `photos`"),
      ("", ", half AS (person / 2)", "the generated column `photos.half`"),
    ])
  func constraints(people: String, photos: String, name: String) throws {
    let failure = try #require(try convert(people: people, photos: photos))
    #expect(failure.status == .invalidInput)
    #expect(failure.message.contains(name), "\(failure.message)")
  }

  @Test(
    "views, triggers and indexes that calculate with the key are refused by name",
    arguments: [
      "CREATE VIEW x AS SELECT id + 1 FROM people",
      "CREATE VIEW x AS SELECT name FROM people ORDER BY [id] LIMIT 1",
      "CREATE VIEW x AS SELECT printf('%05d', id) AS code FROM people",
      "CREATE VIEW x AS SELECT max(id) AS newest FROM people",
      "CREATE VIEW x AS SELECT name FROM people p WHERE p.id > 1",
      "CREATE VIEW x AS SELECT name FROM people WHERE id IN (1, 2)",
      "CREATE VIEW x AS SELECT max(person) FROM photos",
      "CREATE VIEW x AS SELECT o.id FROM others o JOIN people ON people.id = o.person",
      "CREATE VIEW x AS SELECT id FROM others WHERE person IN (SELECT id FROM people)",
      "CREATE VIEW x AS SELECT 1 + p.id = c.person FROM people p, photos c",
      "CREATE VIEW v AS SELECT * FROM people; CREATE VIEW x AS SELECT id || '' FROM v",
      "CREATE VIEW v AS SELECT id AS number FROM people; CREATE VIEW x AS SELECT number % 2 FROM v",
      "CREATE TRIGGER x AFTER INSERT ON people WHEN new.id > 5 BEGIN SELECT 1; END",
      "CREATE TRIGGER x AFTER INSERT ON photos BEGIN "
        + "UPDATE people SET name = abs(id) WHERE id = new.person; END",
      "CREATE INDEX x ON photos (person % 10)", "CREATE INDEX x ON photos (id) WHERE person > 3",
    ])
  func others(sql: String) throws {
    let failure = try #require(try convert("\(sql);"))
    #expect(failure.status == .invalidInput)
    let kind = sql.contains("TRIGGER") ? "trigger" : sql.contains("INDEX") ? "index" : "view"
    #expect(failure.message.contains("\(kind) `x`"), "\(failure.message)")
  }

  @Test("expressions that compare, count or return ids are kept")
  func kept() throws {
    let failure = try convert(
      people: ", CHECK (up IS NOT id)", photos: ", CHECK (person IS NOT NULL)",
      """
      CREATE VIEW a AS SELECT p.id, p.name AS title, count(DISTINCT c.person) AS n
        FROM people p LEFT JOIN photos c ON (c.person = p.id) WHERE p.up IS NULL GROUP BY p.id, name;
      CREATE VIEW b AS SELECT * FROM people WHERE id IN (SELECT person FROM photos)
        AND id NOT IN (SELECT up FROM people WHERE up NOTNULL);
      CREATE VIEW d AS SELECT title FROM a WHERE n > 0;
      CREATE VIEW e (who) AS SELECT id FROM people;
      CREATE VIEW f AS SELECT photos.id + 1 FROM photos JOIN e ON e.who = photos.person;
      CREATE VIEW g AS SELECT id * 2 FROM others ORDER BY person;
      CREATE INDEX by_person ON photos (person DESC, id);
      CREATE INDEX loose ON photos (id) WHERE person IS NULL;
      CREATE TRIGGER t AFTER INSERT ON people WHEN new.up IS NOT NULL BEGIN
        SELECT 1; END;
      CREATE TRIGGER u AFTER DELETE ON people BEGIN
        DELETE FROM photos WHERE person = old.id;
        UPDATE people SET up = NULL WHERE up = OLD.id;
        INSERT INTO others (person) VALUES (old.id);
        SELECT raise(ABORT, 'no') WHERE EXISTS (SELECT 1 FROM photos c WHERE c.person = old.id);
      END;
      CREATE VIEW h AS SELECT name FROM people ORDER BY id;
      """)
    #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
  }
}
