import Foundation
import SchemaSQLText
import Testing

private let composed = "\u{E9}"
private let decomposed = "e\u{301}"

@Suite("Comparison of texts")
struct TextComparisonTests {
  @Test("two Unicode forms of one letter are different texts, alone and in collections")
  func twoTexts() {
    struct Holder: Hashable {
      let text: String
      var optional: String?
    }
    #expect(!(composed == decomposed) && composed != decomposed)
    let optional: String? = decomposed
    #expect(composed != optional && optional != "\u{E9}" && [composed] != [decomposed])
    #expect(![composed].contains(decomposed) && [composed].firstIndex(of: decomposed) == nil)
    #expect(composed[...] != decomposed[...])
    #expect(Holder(text: composed) != Holder(text: decomposed))
    #expect(Holder(text: "", optional: composed) != Holder(text: "", optional: decomposed))
    #expect(!("\u{212A}" == "K"))
    switch composed {
    case decomposed: Issue.record("a pattern matches the other form")
    default: break
    }
    #expect(Set([composed, decomposed].map(\.exact)).count == 2)
  }

  @Test("texts are sorted by their bytes")
  func order() {
    #expect([composed, "f", decomposed].sorted() == [decomposed, "f", composed])
    #expect("f" < composed && decomposed < "f")
    #expect([composed, decomposed].min() == decomposed)
  }

  @Test("prefixes and suffixes are compared by bytes, not characters")
  func ends() {
    #expect(decomposed.hasPrefix("e") && !composed.hasPrefix("e"))
    #expect("a\r\n".hasSuffix("\n"))
  }

  @Test("names are equal if they differ only in the case of ASCII letters")
  func identifiers() {
    #expect(Identifier("Reminders") == "rEMINDERS")
    #expect(Identifier(composed) != Identifier(decomposed))
    #expect(Identifier("\u{C9}") != Identifier(composed))
    #expect(Identifier("\u{212A}") != "k")
    #expect(Set<Identifier>(["a", "A", "b"]).count == 2)
    #expect(Set([composed, decomposed, "E\u{301}"].map(\.identifier)).count == 2)
    #expect(Identifier("SQLite_stat1").isInternal && !Identifier("sqlite").isInternal)
  }

  /// The declarations of SQLText are visible only to files that import it.
  @Test("every source file that compares texts imports SchemaSQLText")
  func imports() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
    let below = ["Platform", "SQLite", "SQLText", "CommandLine"]
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    let comparison = /==|!=|hasPrefix|hasSuffix|contains\(|Hashable|Equatable|sorted\(\)/
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      guard !below.contains(where: { file.path.hasPrefix(sources.path + "/\($0)/") }) else {
        continue
      }
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains(comparison), !text.contains("import SchemaSQLText") else { continue }
      Issue.record("\(file.lastPathComponent) compares and does not import SchemaSQLText")
    }
  }
}
