import SchemaManifest
import Testing

@Suite("Text as YAML")
struct ScalarTextTests {
  @Test(
    "an unambiguous text is plain, every other one is quoted",
    arguments: [
      ("Add priority", "Add priority"), ("Größe (neu)", "Größe (neu)"), ("7 days", "\"7 days\""),
      ("yes", "\"yes\""), ("null", "\"null\""), ("a: b", "\"a: b\""), ("a #b", "\"a #b\""),
      ("a, b", "\"a, b\""), ("", "\"\""), ("a ", "\"a \""), ("- a", "\"- a\""),
      ("a \"b\" \\", "\"a \\\"b\\\" \\\\\""), ("a\nb\tc", "\"a\\nb\\tc\""),
      ("a\u{202E}b", "\"a\\u202eb\""), ("\u{7}\u{2028}\u{FEFF}", "\"\\u0007\\u2028\\ufeff\""),
      ("it's", "it's"),
    ])
  func styles(text: String, yaml: String) {
    #expect(yamlScalar(text) == yaml)
  }

  @Test("every text is decoded unchanged, in block and in flow style")
  func roundTrip() throws {
    var numbers = SeededNumbers(seed: 7)
    let odd = Array(
      "a Zé0-:#'\"\\{}[],&*!|>%@`?~\n\t\r =<\u{85}\u{A0}\u{301}\u{200B}\u{2028}\u{FEFF}🎈\u{FFFD}\u{10FFFF}\u{1F}\u{7F}"
        .unicodeScalars)
    for _ in 0..<2000 {
      var text = ""
      for _ in 0..<Int.random(in: 0..<8, using: &numbers) {
        text.unicodeScalars.append(odd[Int.random(in: 0..<odd.count, using: &numbers)])
      }
      let scalar = yamlScalar(text)
      for yaml in [
        "description: \(scalar)\noperations: []", "{ operations: [], description: \(scalar) }",
      ] {
        let read = try #require(decoded(yaml).description)
        #expect(read.utf8.elementsEqual(text.utf8), "\(yaml)")
      }
    }
  }
}
