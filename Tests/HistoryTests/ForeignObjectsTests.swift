import Foundation
import SchemaHistory
import Testing

@Suite("Foreign objects")
struct ForeignObjectsTests {
  @Test(
    "internal tables of known engines are foreign",
    arguments: [
      "grdb_migrations", "sqlitedata_icloud_metadata", "crsql_master", "__crsql_x",
      "reminders__crsql_clock", "reminders__crsql_pks", "reminders__crsql_clock_dbv_idx",
      "reminders__crsql_itrig", "_litestream_seq", "android_metadata", "room_master_table",
      "schema_migrations", "atlas_schema_revisions", "alembic_version", "DATABASECHANGELOG",
      "databasechangeloglock", "goose_db_version", "_sqlx_migrations", "django_migrations",
      "schemactl_migrations", "SCHEMACTL_other",
    ])
  func known(name: String) {
    #expect(ForeignObjects().contains(name))
    #expect(ForeignObjects().contains(name.uppercased()))
  }

  @Test(
    "objects of users belong to the history",
    arguments: [
      "reminders", "migrations", "grdb", "my_grdb_migrations", "litestream", "crsql", "schemactl",
      "",
      "sqlitedata",
    ])
  func ours(name: String) {
    #expect(!ForeignObjects().contains(name))
  }

  @Test("objects that the configuration ignores are foreign")
  func configured() {
    let objects = ForeignObjects(ignoring: ["tmp_*", "Cache?"])
    #expect(objects.contains("TMP_x"))
    #expect(objects.contains("cache1"))
    #expect(!objects.contains("cache"))
    #expect(objects.contains("grdb_migrations"))
  }

  @Test("only names that begin with schemactl_ are reserved")
  func reserved() {
    #expect(ForeignObjects.isReserved("SchemaCTL_x"))
    #expect(!ForeignObjects.isReserved("grdb_migrations"))
    #expect(!ForeignObjects.isReserved("schemactl"))
  }
}

@Suite("Globs")
struct GlobTests {
  @Test(
    "patterns match whole names",
    arguments: [
      ("", "", true), ("", "a", false), ("a", "", false), ("*", "", true), ("**", "abc", true),
      ("?", "", false), ("?", "ä", true), ("?", "e\u{301}", false), ("a*c", "abbbc", true),
      ("a*c", "abbbcd", false), ("*a*b*", "xxaxxbxx", true), ("*a*b", "ab_ab_a", false),
      ("*ab", "aab", true), ("A?c", "aBC", true), ("[abc]x", "bx", true), ("[abc]x", "dx", false),
      ("[a-c]", "B", true), ("[A-C]", "b", true), ("[^a-c]", "b", false), ("[^a-c]", "d", true),
      ("[^a]", "", false), ("[]]", "]", true), ("[^]]", "x", true), ("[^]]", "]", false),
      ("[a-]", "-", true), ("[-a]", "-", true), ("[c-a]", "b", false), ("[*]", "*", true),
      ("[*]", "x", false), ("a[", "a[", false), ("a.b", "axb", false), ("\\*", "\\x", true),
      ("ß", "SS", false), ("Ä", "ä", false), ("*.x", "a/b.x", true),
    ])
  func match(pattern: String, name: String, expected: Bool) {
    #expect(Glob(pattern).matches(name) == expected)
  }

  @Test("matching takes linear time for many stars")
  func noExplosion() {
    let name = String(repeating: "a", count: 2000)
    #expect(!Glob(String(repeating: "*a", count: 500) + "*b").matches(name))
    #expect(Glob(String(repeating: "a*", count: 500)).matches(name))
  }

  @Test("generated patterns have the same result as the C library")
  func againstFnmatch() {
    var random = SystemRandomNumberGenerator()
    func text(_ alphabet: String, _ length: Int) -> String {
      String((0..<length).compactMap { _ in alphabet.randomElement(using: &random) })
    }
    for _ in 0..<20_000 {
      let pattern = text("ab*?", Int.random(in: 0...8)) + (Bool.random() ? "[a-b]*" : "")
      let name = text("abc", Int.random(in: 0...10))
      #expect(
        Glob(pattern).matches(name) == (fnmatch(pattern, name, 0) == 0), "\(pattern) on \(name)")
    }
  }
}
