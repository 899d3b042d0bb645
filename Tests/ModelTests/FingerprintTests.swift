import SchemaModel
import SchemaTestPrograms
import SchemaTestSupport
import Testing

private let reminders = """
  CREATE TABLE "remindersLists"("id" TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), title TEXT);
  CREATE TABLE reminders (id INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT UNIQUE REFERENCES
    remindersLists ON DELETE CASCADE /* lists go with what is in them */, status INT -- 0, 1
  );
  CREATE INDEX i ON reminders (status) WHERE status <> 'Grüße';
  CREATE VIEW v AS SELECT 1;
  CREATE TRIGGER x AFTER DELETE ON reminders BEGIN SELECT ';'; END;
  """

/// These values must never change: history locks and ledgers contain them. A difference is a bug.
@Test(
  "fingerprints of version 1 never change",
  arguments: [
    ("", "0000000000000000000000000000000000000000000000000000000000000000"),
    ("CREATE TABLE t(a)", "ed5f3714ec74fdd23678a368f0735feafea1da773a1a6cda58d44d0b18a3c090"),
    (reminders, "bd24c469879a78d69aafae31276cb6463cd28b3b7e62b3d5d3ec97c538e76aa9"),
  ])
func pinned(sql: String, fingerprint: String) throws {
  #expect(try schema(sql).fingerprint() == fingerprint)
}

@Test("the fingerprint matches its definition")
func definition() {
  let objects = [
    SchemaObject(kind: .view, name: "V", table: "V", sql: "CREATE VIEW V AS\nSELECT 'a b' -- c"),
    SchemaObject(kind: .table, name: "é", table: "é", sql: nil),
  ]
  // The sum of the SHA-256 of "4:view1:V1:V6:CREATE4:VIEW1:V2:AS6:SELECT5:'a b'\n" and
  // "5:table2:é2:é\n", modulo 2^256.
  #expect(
    Schema(objects: objects).fingerprint()
      == "052a17bfc403e9445f7382d826db37b25d83c9f9be7ac87202625685a0a367ac")
}

@Test(
  "a schema that changes step by step has the fingerprint of its last state",
  arguments: seeds(5, of: 40))
func running(seed: UInt64) throws {
  var generator = SeededGenerator(seed: seed)
  var running = RunningFingerprint()
  var last = Schema()
  for _ in 0..<30 {
    var objects = last.objects.filter { _ in Int.random(in: 0..<4, using: &generator) > 0 }
    for _ in 0..<3 {
      let name = "t\(Int.random(in: 0..<9, using: &generator))"
      guard !objects.contains(where: { $0.name == name }) else { continue }
      let column = Int.random(in: 0..<3, using: &generator)
      objects.append(
        SchemaObject(
          kind: .table, name: name, table: name, sql: "CREATE TABLE \(name) (c\(column))"))
    }
    let next = Schema(objects: objects)
    running.apply(SchemaDelta(from: last, to: next))
    last = next
    if Bool.random(using: &generator) { #expect(running.digest() == last.fingerprint()) }
  }
  #expect(running.digest() == last.fingerprint())
  running.apply(SchemaDelta(from: last, to: Schema()))
  #expect(running.digest() == Schema().fingerprint())
}

@Test("white space, comments and the order of objects make no difference")
func noDifference() throws {
  let other = """
    CREATE TABLE reminders(id /* a */ INTEGER PRIMARY KEY AUTOINCREMENT,list TEXT UNIQUE
      REFERENCES remindersLists ON DELETE CASCADE,
      status INT);
    CREATE VIEW  v  AS  SELECT  1 -- one
    ;
    CREATE TRIGGER x AFTER DELETE ON reminders BEGIN SELECT ';' ; END;
    CREATE TABLE IF NOT EXISTS "remindersLists" ("id" TEXT PRIMARY KEY NOT NULL DEFAULT(uuid()),title TEXT);
    CREATE INDEX i ON reminders(status)WHERE status<>'Grüße';
    """
  #expect(try schema(other).fingerprint() == schema(reminders).fingerprint())
}

@Test(
  "anything else makes a difference",
  arguments: [
    ("AUTOINCREMENT", ""), ("INT --", "INTEGER --"), ("title TEXT", "title text"),
    ("\"id\" TEXT", "id TEXT"), ("'Grüße'", "'grüße'"), ("';'", "' ;'"),
    ("CREATE VIEW v", "CREATE VIEW V"),
    ("VIEW v AS SELECT 1", "TABLE v(a)"), (" WHERE status <> 'Grüße'", ""), ("UNIQUE", ""),
    ("CASCADE", "SET NULL"), ("status <>", "status !="),
  ])
func difference(old: String, new: String) throws {
  #expect(reminders.contains(old))
  #expect(
    try schema(reminders.replacing(old, with: new)).fingerprint() != schema(reminders).fingerprint()
  )
}

@Test("only SQLite's own objects and the ledger are excluded")
func leftOut() throws {
  let fingerprint = try schema(reminders).fingerprint()
  for more in [
    "CREATE TABLE schemactl_migrations(id UNIQUE); CREATE INDEX j ON schemactl_migrations(id)",
    "CREATE TABLE SchemaCtl_Migrations(id)", "ANALYZE",
  ] {
    #expect(try schema(reminders + ";" + more).fingerprint() == fingerprint)
  }
  for more in ["CREATE TABLE schemactl_other(a)", "CREATE TABLE sqliteXstat(a)"] {
    #expect(try schema(reminders + ";" + more).fingerprint() != fingerprint)
  }
}

@Test("token boundaries are unambiguous")
func noCollision() throws {
  #expect(
    try schema("CREATE TABLE t(\"a, b\")").fingerprint()
      != schema("CREATE TABLE t(\"a\", \"b\")").fingerprint())
}
