import Foundation
import SchemaLint
import SchemaTimeline
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Examples of rules")
struct RuleExampleTests {
  @Test("the bad one has exactly one finding", arguments: Rule.all)
  func bad(_ rule: Rule) throws {
    let report = try lint(rule.bad)
    #expect(report.failure == nil)
    #expect(report.findings.filter { !$0.isSuppressed }.map(\.rule) == [rule.id])
  }

  @Test(
    "the bad one has a profile with the rule's highest severity",
    arguments: oneIn(9, of: Rule.all))
  func strictness(_ rule: Rule) throws {
    let order: [Severity] = [.off, .note, .warning, .error]
    func rank(_ profile: Profile) throws -> Int {
      let found = try lint(rule.bad, profile).findings.first { $0.rule == rule.id }
      return order.firstIndex(of: found?.severity ?? .off) ?? 0
    }
    let ranks = try Profile.allCases.map(rank)
    #expect(try rank(rule.bad.profile) == ranks.max())
  }

  @Test("the good one has no finding", arguments: Rule.all)
  func good(_ rule: Rule) throws {
    let report = try lint(rule.good)
    #expect(report.failure == nil)
    #expect(report.findings.filter { !$0.isSuppressed }.map(\.short) == [])
  }
}

@Suite("The documentation of the rules")
struct RuleDocumentationTests {
  @Test("docs/rules.md is up to date")
  func document() throws {
    let file = repository.appendingPathComponent("docs/rules.md")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try rulesDocument.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == rulesDocument)
  }

  @Test("an explanation has lines of at most 80 columns", arguments: Rule.all.map(\.id))
  func width(_ id: String) throws {
    let text = try #require(explanation(of: id))
    #expect(text.split(separator: "\n").filter { $0.count > 80 } == [])
    #expect(text.hasPrefix("\(id)\n\nSeverity: "))
  }

  @Test("an unknown rule has no explanation, and a similar one is suggested")
  func unknown() {
    #expect(explanation(of: "drop-colum") == nil)
    #expect(ruleSuggestion(for: "drop-colum") == "drop-column")
  }

  @Test("rule ids are unique, and each file of Rules is registered (`make rules`)")
  func distinct() throws {
    #expect(Set(Rule.all.map(\.id)).count == Rule.all.count)
    let folder = repository.appendingPathComponent("Sources/Lint/Rules")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".swift") }
    // `NewerSQLiteNeeded.swift` holds `newer-sqlite-needed`.
    let names = files.map { $0.dropLast(".swift".count).lowercased() }.sorted()
    #expect(Rule.all.map { $0.id.replacing("-", with: "") }.sorted() == names)
  }
}
