import SchemaApply
import SchemaHistory
import SchemaSQLite
import SchemaTestSupport
import Testing

@Suite("convert_primary_key")
struct KeyConversionTests {
  private func shop(_ uuids: String) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_shop",
      """
      CREATE TABLE people (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, parent INTEGER REFERENCES people);
      CREATE TABLE photos (person INTEGER PRIMARY KEY REFERENCES people (id) ON DELETE CASCADE, image BLOB);
      CREATE TABLE comments (id INTEGER PRIMARY KEY, photo INTEGER NOT NULL REFERENCES photos, text TEXT);
      CREATE INDEX comments_by_photo ON comments (photo);
      CREATE TABLE friends (
        a INTEGER, b INTEGER, since TEXT, PRIMARY KEY (a, b),
        FOREIGN KEY (a) REFERENCES people (id), FOREIGN KEY (b) REFERENCES people (id)) WITHOUT ROWID;
      CREATE TABLE others (id INTEGER PRIMARY KEY, person INTEGER);
      CREATE TRIGGER people_touch AFTER UPDATE ON people BEGIN SELECT raise(ABORT, 'fired'); END;
      """)
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO people VALUES (1, 'Ada', NULL), (2, 'Ben', 1), (-5, 'Old', 2),
        (9223372036854775807, 'Last', 1);
      INSERT INTO photos VALUES (1, x'01'), (-5, x'02');
      INSERT INTO comments VALUES (10, 1, 'a'), (11, 1, 'b'), (12, -5, 'c');
      INSERT INTO friends VALUES (1, 2, 'x'), (2, -5, 'y');
      INSERT INTO others VALUES (1, 1);
      """)
    return try sandbox.add(
      "0002_uuid",
      "operations:\n- convert_primary_key: { table: people, to: uuid, uuids: \(uuids) }\n")
  }

  /// The rows, with names instead of keys. They must not change.
  private let families = """
    SELECT p.name, parent.name, photos.image, c.id, c.text FROM people p
    LEFT JOIN people parent ON parent.id = p.parent LEFT JOIN photos ON photos.person = p.id
    LEFT JOIN comments c ON c.photo = photos.person ORDER BY p.name, c.id
    """
  private let friendships = """
    SELECT a.name, b.name, since FROM friends JOIN people a ON a.id = friends.a
    JOIN people b ON b.id = friends.b ORDER BY 3
    """

  @Test(
    "it converts the key and every column that refers to it, also through other keys",
    arguments: ["from_integer", "per_database"])
  func converted(uuids: String) throws {
    let sandbox = try shop(uuids)
    let before = try sandbox.rows(families)
    let friends = try sandbox.rows(friendships)
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure.map { "\($0)" } ?? "")")
    #expect(try sandbox.rows(families) == before)
    #expect(try sandbox.rows(friendships) == friends)
    for (table, column) in [
      ("people", "id"), ("people", "parent"), ("photos", "person"), ("comments", "photo"),
      ("friends", "a"), ("friends", "b"),
    ] {
      #expect(
        try sandbox.rows(
          """
          SELECT count(*) FROM \(table) WHERE \(column) IS NOT NULL AND (typeof(\(column)) <> 'text'
            OR \(column) NOT GLOB '????????-????-[48]???-[89ab]???-????????????')
          """) == [[0]], "\(table).\(column)")
    }
    #expect(try sandbox.rows("PRAGMA foreign_key_check").isEmpty)
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(try sandbox.rows("SELECT * FROM others") == [[1, 1]], "nothing says that it refers")
    let rowids = try sandbox.rows("SELECT rowid FROM people WHERE name = 'Ben'")
    #expect(rowids == [[2]])
  }

  @Test("from_integer gives the same key for the same number on every device")
  func deterministic() throws {
    let keys = try (0..<2).map { _ in
      let sandbox = try shop("from_integer")
      try sandbox.migrate()
      return try sandbox.rows("SELECT id FROM people ORDER BY name")
    }
    #expect(keys[0] == keys[1])
    #expect(keys[0].first == ["00000000-0000-8000-8000-000000000001"])
    #expect(Set(keys[0]).count == 4)
  }

  @Test(
    "it converts columns with any names",
    arguments: ["old", "new", "rowid", "oid", "_rowid_", "schemactl_key"])
  func names(column: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_create",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v, "\(column)" INTEGER REFERENCES t);
      CREATE TABLE k (kid INTEGER PRIMARY KEY, "\(column)" REFERENCES t);
      """)
    try sandbox.migrate()
    try sandbox.run(
      """
      INSERT INTO t VALUES (11, 'a', 33), (22, 'b', NULL), (33, 'c', 22);
      INSERT INTO k VALUES (1, 22), (2, 33);
      """)
    try sandbox.add(
      "0002_convert",
      "operations: [{ convert_primary_key: { table: t, to: uuid, uuids: from_integer } }]")
    let failure = try sandbox.migrate().failure
    #expect(failure == nil, "\(failure?.message ?? "")")
    let parent = "(SELECT p.v FROM t AS p WHERE p.id = c.\"\(column)\")"
    #expect(
      try sandbox.rows("SELECT c.v, \(parent) FROM t AS c ORDER BY c.v")
        == [["a", "c"], ["b", .null], ["c", "b"]])
    #expect(
      try sandbox.rows("SELECT c.kid, \(parent) FROM k AS c ORDER BY c.kid")
        == [[1, "b"], [2, "c"]])
  }

  @Test("new rows get a key of their own")
  func newRows() throws {
    let sandbox = try shop("per_database")
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO people (name) VALUES ('New'); INSERT INTO people VALUES (NULL, 'N', NULL)")
    #expect(try sandbox.rows("SELECT count(DISTINCT id) FROM people WHERE name LIKE 'N%'") == [[2]])
  }

  @Test("a dangling reference stops it without changes")
  func dangling() throws {
    let sandbox = try shop("from_integer")
    try sandbox.run("INSERT INTO friends VALUES (1, 77, 'z')")
    let failure = try #require(try sandbox.migrate().failure)
    #expect(failure.status == .migrationFailed)
    #expect(failure.message.contains("`friends.b` holds keys that no row of `people` has"))
    #expect(try sandbox.rows("SELECT typeof(id) FROM people LIMIT 1") == [["integer"]])
  }

  @Test(
    "a key other than a single integer is refused",
    arguments: [
      "CREATE TABLE people (id TEXT PRIMARY KEY)", "CREATE TABLE people (id INTEGER)",
      "CREATE TABLE people (id INTEGER, b INTEGER, PRIMARY KEY (id, b))",
    ])
  func unfit(create: String) throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_table", create)
    try sandbox.add(
      "0002_uuid",
      "operations:\n- convert_primary_key: { table: people, to: uuid, uuids: from_integer }\n")
    #expect(throws: Failure.self) { try sandbox.migrate() }
  }

  @Test("a table that refers to the key keeps the AUTOINCREMENT of its own key")
  func ownCounter() throws {
    let sandbox = try Sandbox()
    try sandbox.addSQL(
      "0001_shop",
      """
      CREATE TABLE people (id INTEGER, PRIMARY KEY (id AUTOINCREMENT));
      CREATE TABLE photos (
        id INTEGER, person INTEGER REFERENCES people (id), PRIMARY KEY (id AUTOINCREMENT));
      """)
    try sandbox.migrate()
    try sandbox.run(
      "INSERT INTO people VALUES (1); INSERT INTO photos VALUES (7, 1), (9, 1); "
        + "DELETE FROM photos WHERE id = 9")
    try sandbox.add(
      "0002_uuid",
      "operations:\n- convert_primary_key: { table: people, to: uuid, uuids: from_integer }\n")
    let report = try sandbox.migrate()
    #expect(report.failure == nil, "\(report.failure.map { "\($0)" } ?? "")")
    try sandbox.run("INSERT INTO photos (person) SELECT id FROM people")
    #expect(try sandbox.rows("SELECT id FROM photos ORDER BY id") == [[7], [10]])
    #expect(try sandbox.rows("PRAGMA integrity_check") == [["ok"]])
  }
}
