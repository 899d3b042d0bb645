import SchemaAuthoring
import SchemaHistory
import SchemaPlatform
import Testing

@Suite("Ids of new manifests")
struct NewManifestTests {
  @Test(
    "the width of the number is preserved",
    arguments: [
      ([], "0001"), (["0007_a"], "0008"), (["0002_b", "0010_a"], "0011"), (["9_a"], "0010"),
      (["00007_a"], "00008"), (["0099_a"], "0100"), (["9999_a"], "10000"),
      (["20240102030405_a"], "20261120120000"), (["0001_a", "202401020304_b"], "20261120120000"),
      (["20261120120000_a"], "20261120120001"), (["20991231235959_a"], "20991231235960"),
      (["000000000007_a"], "000000000008"),
      (["99999999999999999999999999999_a"], "100000000000000000000000000000"),
    ])
  func numbers(others: [String], number: String) throws {
    let manifest = try #require(NewManifest(name: "x"))
    #expect(manifest.id(after: others, at: noon) == "\(number)_x")
  }

  @Test(
    "the slug contains lower-case letters and digits",
    arguments: [
      ("Add priority!", "add_priority"), ("  a  --  b  ", "a_b"), ("Größe ändern", "größe_ändern"),
      ("優先度を追加", "優先度を追加"), ("e\u{301}tat 2", "e\u{301}tat_2"), ("../../etc/passwd", "etc_passwd"),
      ("a\u{202E}b\nc", "a_b_c"), ("isCompleted → status", "iscompleted_status"),
      (String(repeating: "é", count: 200), String(repeating: "é", count: 40)),
      (String(repeating: "a", count: 79) + " b", String(repeating: "a", count: 79)),
    ])
  func slugs(name: String, slug: String) throws {
    let id = try #require(NewManifest(name: name)).id(after: [], at: noon)
    #expect(id.utf8.elementsEqual("0001_\(slug)".utf8))
    #expect(problem(ofMigrationID: id) == nil)
  }

  /// 2026-11-20T12:00:00Z.
  private let noon = Timestamp(milliseconds: 1_795_176_000_000)
}
