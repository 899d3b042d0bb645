import Foundation
import SchemaJSONChecking
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Reports of shards")
struct MergeTests {
  /// Migrates shards on several machines, each a folder with its databases of the list.
  private func migrate(_ tenants: Tenants, shards: Int) throws {
    for index in 1...shards {
      let run = try tenants.fleet(
        "migrate", "--databases", "tenants/*.sqlite", "--shard", "\(index)/\(shards)", "--format",
        "jsonl")
      try tenants.write("shard-\(index)", run.text)
    }
  }

  @Test("the reports of two machines add up to the whole list, with each database once")
  func twoMachines() throws {
    let names = (0..<40).map(Tenants.name)
    let machines = try [Tenants(40), Tenants(40)]
    for (index, machine) in machines.enumerated() {
      try machine.write("list", names.joined(separator: "\n"))
      let run = try machine.fleet(
        "migrate", "--databases-from", "list", "--shard", "\(index + 1)/2", "--format", "jsonl")
      #expect(run.code == 0)
      try machines[0].write("shard-\(index + 1)", run.text)
    }
    for name in names {
      #expect(try machines.filter { try $0.isMigrated(name) }.count == 1, "\(name)")
    }
    let merged = try machines[0].fleet("merge", "shard-1", "shard-2")
    #expect(merged.code == 0)
    #expect(merged.text.hasPrefix("40  migrated\n"))
  }

  @Test("a machine needs only the databases of its shard")
  func othersMissing() throws {
    let tenants = try Tenants(20)
    let names = (0..<20).map(Tenants.name)
    try tenants.write("list", names.joined(separator: "\n"))
    let first = try tenants.fleet(
      "status", "--databases-from", "list", "--shard", "1/2", "--format", "jsonl")
    let own = try Set(first.states.keys)
    for name in names where !own.contains(name) {
      try FileManager.default.removeItem(atPath: tenants.path(name))
    }
    let again = try tenants.fleet("migrate", "--databases-from", "list", "--shard", "1/2")
    #expect(again.code == 0)
    #expect(!own.isEmpty && own.count < 20)
  }

  @Test("the exit code is the worst of all reports, and failures are shown")
  func failures() throws {
    let tenants = try Tenants(12)
    try tenants.open(Tenants.name(4)).execute("ALTER TABLE items ADD COLUMN done TEXT")
    try migrate(tenants, shards: 3)
    let text = try tenants.fleet("merge", "shard-1", "shard-2", "shard-3")
    #expect(text.code == 1)
    #expect(text.text.contains("\(Tenants.name(4)): differs from the history\n"))
    let json = try tenants.fleet("merge", "shard-3", "shard-2", "shard-1", "--format", "json")
    let tree = try JSONTree(parsing: json.text)
    #expect(tree["reports"] == .number(3))
    #expect(tree["states"]?["migrated"] == .number(11))
    let checker = try SchemaChecker(
      contentsOf: jsonSchemas.appendingPathComponent("fleet.schema.json"), isClosed: true)
    #expect(checker.problems(of: tree) == [])
  }

  @Test("a missing report is an error")
  func missing() throws {
    let tenants = try Tenants(6)
    try migrate(tenants, shards: 3)
    let run = try tenants.fleet("merge", "shard-1", "shard-3")
    #expect(run.code == 66)
    #expect(run.errors.contains("the report of shard 2/3 is missing"))
    #expect(try tenants.fleet("merge", "shard-1", "shard-2", "no-such-file").code == 66)
  }

  @Test("a report of another list, another history or another number of shards is refused")
  func others() throws {
    let tenants = try Tenants(6)
    try migrate(tenants, shards: 2)
    func expectRefusal(_ message: String) throws {
      let run = try tenants.fleet("merge", "shard-1", "other")
      #expect(run.code == 65)
      #expect(run.errors.contains(message), "\(run.errors)")
    }
    func other(_ words: String..., shard: String = "2/2") throws {
      let run = try SchemaTestPrograms.run(
        "schemactl", ["fleet"] + words + ["--shard", shard, "--format", "jsonl"], in: tenants.folder
      )
      try tenants.write("other", run.output)
    }
    try other("migrate", "--databases", "tenants/00[1-5].sqlite")
    try expectRefusal("is the report of another list of databases")
    try other("migrate", "--databases", "tenants/*.sqlite", shard: "2/3")
    try expectRefusal("a list in 3 shards, not 2")
    try other("status", "--databases", "tenants/*.sqlite")
    try expectRefusal("`fleet status`, not `fleet migrate`")
    try other("migrate", "--databases", "tenants/*.sqlite", "--to", "1")
    try expectRefusal("another history")
    try other("migrate", "--databases", "tenants/*.sqlite", shard: "1/2")
    try expectRefusal("are both reports of shard 1/2")
  }

  @Test("an incomplete or edited report is refused")
  func incomplete() throws {
    let tenants = try Tenants(6)
    try migrate(tenants, shards: 1)
    let whole = try #require(String(data: tenants.bytes("shard-1"), encoding: .utf8))
    let lines = whole.split(separator: "\n").map(String.init)
    let forms: [(String, String)] = [
      (lines.dropLast().joined(separator: "\n") + "\n", "is incomplete"),
      (String(whole.dropLast(20)), "is incomplete"),
      ((lines[..<2] + lines[3...]).joined(separator: "\n") + "\n", "do not name the databases"),
      ((lines[..<3] + lines[2...]).joined(separator: "\n") + "\n", "has more than one result"),
      (lines.dropFirst().joined(separator: "\n") + "\n", "is not a line that"),
      ("", "is not a line that"), ("{}\n", "is not a line that"), ("x\n", "is not a line that"),
    ]
    for (text, message) in forms {
      try tenants.write("edited", text)
      let run = try tenants.fleet("merge", "edited")
      #expect(run.code == 65, "\(message)")
      #expect(run.errors.contains(message), "\(run.errors)")
    }
    #expect(try tenants.fleet("merge", "shard-1").code == 0)
  }

  @Test("the exit code counts every result, whatever the sum of a report says")
  func countedResults() throws {
    let tenants = try Tenants(2)
    try migrate(tenants, shards: 1)
    let whole = try #require(String(data: tenants.bytes("shard-1"), encoding: .utf8))
    let lines = whole.split(separator: "\n").map(String.init)
    let failed = lines[1].replacing(
      #""state": "migrated", "code": 0"#, with: #""state": "failed", "code": 3"#)
    #expect(failed != lines[1])
    try tenants.write("edited", ([lines[0], failed] + lines[2...]).joined(separator: "\n") + "\n")
    #expect(try tenants.fleet("merge", "edited").code == 3)
  }

  @Test("the report of an interrupted run is incomplete")
  func stopped() throws {
    let tenants = try Tenants(6)
    try tenants.open(Tenants.name(0)).execute("ALTER TABLE items ADD COLUMN done TEXT")
    let run = try tenants.migrateAll("--canary", "1")
    try tenants.write("report", run.text)
    let merged = try tenants.fleet("merge", "report")
    #expect(merged.code == 1)
    #expect(merged.text.contains("5  not started\n"))
  }
}
