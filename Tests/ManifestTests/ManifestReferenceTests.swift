import Foundation
import SchemaManifest
import SchemaSQLText
import SchemaTestSupport
import Testing

@Suite("The reference of the manifest")
struct ManifestReferenceTests {
  @Test("docs/manifest.md is up to date")
  func golden() throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("docs/manifest.md")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
      try Data(ManifestReference.document.utf8).write(to: url)
    }
    let golden = (try? String(contentsOf: url, encoding: .utf8)) ?? "there is no \(url.path)"
    #expect(
      ManifestReference.document == golden,
      "regenerate it: UPDATE_GOLDEN=1 swift test --filter ManifestReferenceTests")
  }

  @Test("each operation has an example with only that operation")
  func examples() throws {
    #expect(Set(Grammar.examples.keys) == Set(Grammar.operations.map(\.name.exact)))
    for (name, example) in Grammar.examples {
      #expect(try decoded("operations:\n" + example).operations.map(\.name) == [name.text])
    }
  }

  @Test("every example of the document can be decoded")
  func documents() throws {
    let blocks = ManifestReference.document.components(separatedBy: "```yaml\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
    #expect(blocks.count == Grammar.operations.count + 4)
    for block in blocks where !block.hasPrefix("- ") {
      let found =
        block.hasPrefix("migrations:") ? configurationProblems(block) : problems(block)
      #expect(found.isEmpty, "\(block)")
    }
  }

  @Test("every link leads to a section of the document")
  func links() {
    let document = ManifestReference.document
    let titles = document.split(separator: "\n").filter { $0.hasPrefix("#") }.map { title in
      title.drop { $0 == "#" || $0 == " " }.lowercased().replacing("`", with: "")
        .replacing(" ", with: "-").replacing(".", with: "")
    }
    let links = document.components(separatedBy: "](#").dropFirst()
      .compactMap { $0.components(separatedBy: ")").first }
    #expect(!links.isEmpty)
    for link in links { #expect(titles.count { $0 == link } == 1, "\(link)") }
  }
}
