import Foundation
import SchemaHistory
import SchemaLint
import Testing

@Suite("Messages of findings")
struct MessageTests {
  @Test("the messages of all bad examples match the golden file")
  func messages() throws {
    let text = try Rule.all.map { rule in
      let report = try lint(rule.bad)
      return report.findings.filter { !$0.isSuppressed }.map {
        "\($0.file):\($0.line):\($0.column): \($0.severity.rawValue): \($0.message) (\($0.rule))"
      }.joined(separator: "\n")
    }.joined(separator: "\n")
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Golden/messages.txt")
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data((text + "\n").utf8).write(to: file)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == text + "\n")
  }

  @Test("an unreadable schema after a manual edit does not cause a crash")
  func garbage() throws {
    let made = sql("CREATE TABLE a (id TEXT PRIMARY KEY DEFAULT (uuid()), x)")
    for garbage in ["CREATE TABLE a (", "", "nonsense", "CREATE VIEW a AS SELECT 1"] {
      let edit = sql(
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = '\(garbage)' WHERE name = 'a';
        """)
      // Whether SQLite can still read such a schema depends on its version.
      do {
        _ = try lint([made, edit, sql("DROP TABLE a")])
      } catch let failure as Failure {
        #expect(failure.migration?.id == "0002_step")
      }
    }
  }
}
