import Foundation
import SchemaPlanning
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Torture", .thorough)
struct TortureTests {
  @Test("an unknown campaign is reported with the existing ones")
  func unknown() throws {
    let ended = try run("SchemaTorture", ["no-such-campaign"])
    #expect(ended.code == 64)
    #expect(ended.errors.hasPrefix("unknown: no-such-campaign; campaigns: "))
  }

  @Test(
    "damaged databases and hostile manifests cause neither crashes nor changes",
    arguments: [("hostile-databases", 17), ("hostile-manifests", 30)])
  func hostile(campaign: String, tries: Int) throws {
    let ended = try run(
      "SchemaTorture", [campaign, "--seed", "7", "--tries", "\(tries)", "--seconds", "3600"])
    #expect(ended.code == 0, "\(ended.errors)")
    let rows = ended.output.split(separator: "\n").dropFirst(2)
    #expect(rows.count >= 5)
    #expect(rows.allSatisfy { $0.hasSuffix("| 0 |") }, "\(ended.output)")
  }

  /// The campaign also fails if it met no boundary, no hot journal, no WAL and no loss, or did not
  /// detect a deliberate fault.
  @Test("a power failure after any event leaves a complete migration, and migrate can finish")
  func powerCuts() throws {
    let ended = try run(
      "SchemaTorture", ["power-cuts", "--seed", "1", "--tries", "2000", "--seconds", "3600"])
    #expect(ended.code == 0, "\(ended.errors)")
    let rows = ended.output.split(separator: "\n").dropFirst(2)
    #expect(rows.allSatisfy { $0.hasSuffix(" | 0 |") }, "\(ended.output)")
    for journal in ["delete", "truncate", "persist", "wal"] {
      let scenarios = rows.filter { $0.hasPrefix("| power cut, \(journal): ") }
      #expect(scenarios.count == Strategy.allCases.count + 13, "\(journal)")
    }
    let harness = rows.filter { $0.hasPrefix("| harness: ") }
    #expect(harness.count == 3, "what would go unseen without it: \(harness)")
  }

  /// Each of them first causes damage deliberately, and counts undetected damage.
  @Test(
    "after any failure, database and history are consistent, and the message is correct",
    arguments: [
      ("allocation-faults", 300, " allocation"), ("io-faults", 400, " of wal fails"),
      ("system-call-faults", 60, " fails, once"), ("full-disk", 60, "the disk is full"),
    ])
  func faults(campaign: String, tries: Int, kind: String) throws {
    let ended = try run(
      "SchemaTorture", [campaign, "--seed", "1", "--tries", "\(tries)", "--seconds", "3600"])
    #expect(ended.code == 0, "\(ended.errors)")
    // The machine does not allow mounting a file system or preloading a library.
    if ended.errors.contains("not run: ") { return }
    let rows = ended.output.split(separator: "\n").dropFirst(2)
    #expect(rows.allSatisfy { $0.hasSuffix(" | 0 |") }, "\(ended.output)")
    #expect(rows.contains { $0.contains(kind) }, "\(ended.output)")
    #expect(rows.filter { $0.hasPrefix("| harness: ") }.count == 7, "\(ended.output)")
  }

  @Test("a number always names the same pair of schemas")
  func schemaPairs() throws {
    let ended = try run(
      "SchemaTorture", ["schema-pairs", "--seed", "40", "--tries", "3", "--seconds", "3600"])
    #expect(ended.code == 0, "\(ended.errors)")
    #expect(ended.output.contains("| schema pair | 3 | 0 |"))
  }

  @Test("the table is written between the marks of a document, and nothing else changes")
  func writtenTable() throws {
    let sandbox = try Sandbox()
    let document = sandbox.folder + "/page.md"
    let text = "before\n<!-- torture: begin -->\nold\n<!-- torture: end -->\nafter\n"
    try text.write(toFile: document, atomically: true, encoding: .utf8)
    let ended = try run(
      "SchemaTorture", ["power-cuts", "--seed", "7", "--seconds", "0", "--write", document])
    let written = try String(contentsOfFile: document, encoding: .utf8)
    #expect(written.hasPrefix("before\n<!-- torture: begin -->\n"))
    #expect(written.hasSuffix("<!-- torture: end -->\nafter\n"))
    #expect(written.contains(ended.output))
    #expect(written.contains("seed 7:") && !written.contains("old"))
  }

  @Test("a killed copy leaves the old or the new content, and no obstacle")
  func killedCopies() throws {
    let ended = try run(
      "SchemaTorture", ["killed-copies", "--seed", "1", "--tries", "12", "--seconds", "3600"])
    #expect(ended.code == 0, "\(ended.errors)")
    for command in ["--backup", "--on-copy", "restore"] {
      for journal in ["delete", "wal"] {
        #expect(ended.output.contains("| kill -9 of \(command), \(journal) | 2 | 0 |"))
      }
    }
  }

  @Test(
    "a killed or interrupted program leaves the old or the new state",
    arguments: [
      ("kills", 24), ("signals", 40),
    ])
  func ended(campaign: String, tries: Int) throws {
    let ended = try run(
      "SchemaTorture", [campaign, "--seed", "7", "--tries", "\(tries)", "--seconds", "3600"])
    #expect(ended.code == 0, "\(ended.errors)")
    let rows = ended.output.split(separator: "\n").dropFirst(2)
    #expect(rows.count > 11)
    #expect(rows.allSatisfy { $0.hasSuffix("| 0 |") }, "\(ended.output)")
  }
}
