import Foundation
import SchemaSQLite
import SchemaTestPrograms
import Testing

@Suite("Edits of layout in frozen manifests")
struct CosmeticEditTests {
  private static let table = "operations:\n- sql: CREATE TABLE t (a INTEGER, b INTEGER)\n"

  private func history(_ yaml: String) throws -> WorkingFolder {
    try WorkingFolder.committed([
      "0001_t": Self.table, "0002_made": yaml, "0003_last": manifest("CREATE TABLE last (a)"),
    ])
  }

  private static let renamings = [
    "operations:\n- sql: CREATE TABLE s AS SELECT a+b FROM t\n",
    "operations:\n- sql: [CREATE TABLE x (a), CREATE TABLE s AS SELECT a+b FROM t]\n",
    "operations:\n- sql: CREATE VIEW s AS SELECT a+b FROM t\n",
    "operations:\n- create_view: { name: s, sql: CREATE VIEW s AS SELECT a+b FROM t }\n",
    "operations:\n- sql: CREATE VIEW s AS SELECT * FROM (SELECT a+b FROM t)\n",
    "operations:\n- create_view: { name: s, sql: CREATE VIEW s AS SELECT a+b FROM t }\n"
      + "- sql: CREATE TABLE copied AS SELECT * FROM s\n",
  ]

  @Test("an edit that changes the name of a column is reported", arguments: oneIn(3, of: renamings))
  func naming(yaml: String) throws {
    let folder = try history(yaml)
    try folder.expect(0, "migrate", "--database", "old.sqlite")
    try folder.write("migrations/0002_made.yaml", yaml.replacing("a+b", with: "a + b"))
    for format in ["text", "json", "github", "sarif", "xcode"] {
      for command in ["verify", "check"] {
        let run = try folder.expect(2, command, "--format", format)
        let isJSON = format == "json" || format == "sarif"
        #expect(run.output.contains("edited"), "\(run.output)")
        #expect(run.output.contains("creates another schema"), "\(run.output)")
        #expect(isJSON || !run.output.contains("engine-differs"))
        if command == "verify" || format != "text" {
          #expect(run.output.contains("git checkout"), "\(run.output)")
        }
      }
    }
    for arguments in [["migrate", "--database", "new.sqlite"], ["freeze"]] {
      let run = try folder.start(arguments).wait()
      #expect(run.status == 2, "\(run.errors)")
      #expect(run.errors.contains("`0002_made` is edited"), "\(run.errors)")
    }
    #expect(!folder.exists("new.sqlite"))
    try folder.expect(64, "freeze", "--accept", "3", "--reason", "x")
    try folder.expect(0, "freeze", "--accept", "2", "--reason", "only names")
    #expect(try folder.expect(0, "verify").output.contains("accepted"))
    try folder.expect(0, "check")
    let live = try folder.expect(1, "verify", "--database", "old.sqlite")
    #expect(live.output.contains("a + b"), "\(live.output)")
  }

  @Test(
    "an edit that changes no name is cosmetic",
    arguments: [
      ("CREATE TABLE s AS SELECT a+b AS x FROM t", "CREATE TABLE s AS SELECT a + b AS x FROM t"),
      ("CREATE VIEW s AS SELECT a+b AS x FROM t", "CREATE VIEW s AS\n    SELECT a + b AS x FROM t"),
      ("CREATE VIEW s AS SELECT a, b FROM t", "create view s as select a,b from t"),
      ("CREATE TABLE s (a CHECK (a>0))", "CREATE TABLE s (a CHECK (a > 0)) -- positive"),
      ("CREATE INDEX s ON t (a+b)", "CREATE INDEX s ON t (a + b)"),
    ])
  func harmless(old: String, new: String) throws {
    let folder = try history(manifest(old))
    try folder.write("migrations/0002_made.yaml", manifest(new))
    // The digest includes the case of words that SQLite does not reserve.
    let isCosmetic = !new.contains("view")
    let run = try folder.expect(isCosmetic ? 0 : 2, "verify")
    #expect(!isCosmetic || run.output.contains("1 cosmetic"), "\(run.output)")
    try folder.expect(isCosmetic ? 0 : 2, "check")
    guard isCosmetic else { return }
    try folder.expect(64, "freeze", "--accept", "2", "--reason", "x")
    try folder.expect(0, "freeze")
  }

  @Test("the case of reserved words is layout")
  func keywords() throws {
    let folder = try history(manifest("CREATE VIEW s AS SELECT a FROM t WHERE a IS NOT NULL"))
    try folder.write(
      "migrations/0002_made.yaml", manifest("CREATE VIEW s as select a from t where a is not null"))
    #expect(try folder.expect(0, "verify").output.contains("1 cosmetic"))
    try folder.expect(0, "migrate", "--database", "new.sqlite")
  }

  @Test("diff and verify --database detect the names of a view's columns")
  func drift() throws {
    let folder = try history(Self.renamings[3])
    try folder.expect(0, "migrate", "--database", "app.sqlite")
    try folder.connection().execute("DROP VIEW s; CREATE VIEW s AS SELECT a + b FROM t")
    for (command, sentence) in [
      ("diff", "@@ the spelling of `s.a+b` @@\n-a+b\n+a + b\n"),
      ("verify", "the spelling of `s.a+b` differs: expected `a+b`, found `a + b`"),
    ] {
      let run = try folder.expect(1, command, "--database", "app.sqlite")
      #expect(run.output.contains(sentence), "\(run.output)")
      let json = try folder.expect(1, command, "--database", "app.sqlite", "--format", "json")
      #expect(json.output.contains("a + b"))
    }
    try folder.connection().execute("DROP VIEW s; CREATE VIEW s AS SELECT a+b   FROM t -- same")
    try folder.expect(0, "diff", "--database", "app.sqlite")
  }
}
