import Foundation
import SchemaTestPrograms
import Testing

/// A page of `docs/from`.
struct Guide: Sendable, CustomTestStringConvertible {
  let name: String

  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("docs/from")

  static var all: [Guide] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".md") }.sorted().map { Guide(name: String($0.dropLast(3))) }
  }

  var testDescription: String { name }

  var text: String {
    get throws {
      try String(
        contentsOf: Self.folder.appendingPathComponent(name + ".md"), encoding: .utf8)
    }
  }

  /// SQLiteData uses GRDB for its migrations.
  var sample: String { name == "sqlitedata" ? "grdb" : name }

  /// The contents of the code blocks in a language.
  func blocks(_ language: String) throws -> [String] {
    try text.components(separatedBy: "```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  /// The path between two words.
  func path(after start: String) throws -> String {
    let rest = try text.components(separatedBy: start + "`").dropFirst().first ?? ""
    return rest.components(separatedBy: "`").first ?? ""
  }
}

@Suite("Guides for other tools")
struct GuideTests {
  @Test("the commands of a guide work on the sample, and its files are shown", arguments: Guide.all)
  func commands(_ guide: Guide) throws {
    let folder = try Sample(guide.sample)
    let lines = try guide.blocks("sh").flatMap { $0.split(separator: "\n") }
    let commands = lines.filter { $0.hasPrefix("schemactl ") }
    #expect(commands.count >= 2)
    for command in commands {
      let words = command.split(separator: " ").dropFirst().map(String.init)
      let run = try SchemaTestPrograms.run(
        programs.appendingPathComponent("schemactl").path, words, in: folder.path)
      #expect(run.code == 0, "\(command): \(run.output)\(run.errors)")
    }
    let before = try guide.path(after: guide.sample == "grdb" ? "of the app:\n\n" : "and after\n\n")
    let after = try guide.path(after: "becomes ")
    #expect(try guide.blocks("sql") == [folder.text(before).trimmingEnd + "\n"])
    #expect(try guide.blocks("yaml") == [folder.text(after).trimmingEnd + "\n"])
  }

  @Test("every tool has a guide")
  func tools() {
    let tools = [
      "alembic", "atlas", "dbmate", "diesel", "django", "drizzle", "flyway", "golang-migrate",
      "goose", "grdb", "plain", "prisma", "rails", "sqlitedata", "sqlx",
    ]
    #expect(Guide.all.map(\.name) == tools)
  }
}

extension String {
  fileprivate var trimmingEnd: String {
    var text = self
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text
  }
}
