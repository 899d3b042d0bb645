import Foundation
import SchemaJSONChecking
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

@Suite("Databases that cannot be migrated")
struct StateTests {
  /// Why a database of a fleet cannot be migrated.
  enum Problem: String, CaseIterable, Sendable {
    case damaged, notADatabase, locked, ahead, drifted, altered, strangers, failing, emptied,
      missing

    var code: Int32 {
      switch self {
      case .drifted, .strangers: 1
      case .altered: 2
      case .failing: 3
      case .ahead: 4
      case .emptied, .missing: 66
      case .damaged, .notADatabase: 74
      case .locked: 75
      }
    }

    /// Creates the problem, which lasts as long as the result exists.
    func make(_ name: String, _ tenants: Tenants) throws -> Connection? {
      switch self {
      case .damaged:
        var bytes = try tenants.bytes(name)
        // Damage the bytes after the header on the first page.
        for index in 100..<160 { bytes[index] = 0xFF }
        try bytes.write(to: URL(fileURLWithPath: tenants.path(name)))
      case .notADatabase: try tenants.write(name, String(repeating: "no database ", count: 500))
      case .locked:
        let connection = try tenants.open(name)
        try connection.execute("BEGIN EXCLUSIVE")
        return connection
      case .ahead:
        try tenants.open(name).execute(
          """
          INSERT INTO schemactl_migrations SELECT '0009_later', 9, raw_digest, canonical_digest, \
          fingerprint, started_at, milliseconds, tool_version FROM schemactl_migrations
          """)
      case .drifted: try tenants.open(name).execute("ALTER TABLE items ADD COLUMN done TEXT")
      case .altered:
        try tenants.open(name).execute("UPDATE schemactl_migrations SET raw_digest = 'none'")
      case .strangers: try tenants.open(name).execute("DROP TABLE schemactl_migrations")
      case .failing:
        try tenants.open(name).execute("UPDATE items SET name = 'taken'")
      case .emptied: try tenants.write(name, "")
      case .missing: try FileManager.default.removeItem(atPath: tenants.path(name))
      }
      return nil
    }
  }

  @Test("each is reported with its reason and unchanged, and does not stop the others")
  func troubles() throws {
    let tenants = try Tenants(12 + Problem.allCases.count)
    // The rows of `failing` violate this index.
    try tenants.sandbox.addSQL("0003_unique", "CREATE UNIQUE INDEX items_name ON items (name)")
    var connections: [Connection?] = []
    var before: [String: Data] = [:]
    for (index, problem) in Problem.allCases.enumerated() {
      let name = Tenants.name(2 * index)
      // Read the file first, because closing it releases this process's locks on it.
      if problem == .locked { before[name] = try tenants.bytes(name) }
      connections.append(try problem.make(name, tenants))
      if ![.locked, .missing].contains(problem) { before[name] = try tenants.bytes(name) }
    }
    try tenants.write(
      "list", (0..<(12 + Problem.allCases.count)).map { Tenants.name($0) + "\n" }.joined())

    let run = try tenants.fleet(
      "migrate", "--databases-from", "list", "--format", "jsonl", "--timeout", "0.1")
    withExtendedLifetime(connections) {}
    connections = []
    #expect(run.code == 74)
    let states = try run.states
    #expect(states.count == 12 + Problem.allCases.count)
    var expected: [String: String] = [:]
    for (index, problem) in Problem.allCases.enumerated() {
      expected[Tenants.name(2 * index)] = "failed \(problem.code)"
    }
    for (name, state) in states {
      #expect(state == expected[name] ?? "migrated", "\(name)")
      if expected[name] == nil { #expect(try tenants.isMigrated(name, migrations: 3)) }
    }
    let failing = Tenants.name(2 * (Problem.allCases.firstIndex(of: .failing) ?? 0))
    for (name, bytes) in before where name != failing {
      #expect(try tenants.bytes(name) == bytes, "\(name)")
    }
    #expect(
      !FileManager.default.fileExists(
        atPath: tenants.path(Tenants.name(2 * (Problem.allCases.count - 1)))))
    // The migration before the failed one remains applied.
    #expect(try run.results[failing]?["applied"] == .array([.string(Tenants.second)]))
    #expect(try tenants.open(failing).value("SELECT count(*) FROM schemactl_migrations") == 2)

    let checker = try SchemaChecker(
      contentsOf: jsonSchemas.appendingPathComponent("fleet-line.schema.json"), isClosed: true)
    for line in try run.lines { #expect(checker.problems(of: line) == []) }
  }

  @Test("a read-only database is reported as such", .enabled(if: geteuid() == 0))
  func readOnly() throws {
    let tenants = try Tenants(3)
    let manager = FileManager.default
    for folder in ["", "tenants"] {
      try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: tenants.path(folder))
    }
    for number in 0..<3 {
      try manager.setAttributes(
        [.posixPermissions: number == 1 ? 0o444 : 0o666],
        ofItemAtPath: tenants.path(Tenants.name(number)))
    }
    let before = try tenants.bytes(Tenants.name(1))
    let run = try run(
      "/usr/bin/setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups",
        programs.appendingPathComponent("schemactl").path, "fleet", "migrate", "--databases",
        "tenants/*.sqlite", "--format", "jsonl",
      ], in: tenants.folder)
    let output = FleetOutput(finished: run)
    #expect(output.code == 77)
    #expect(
      try output.states
        == [
          Tenants.name(0): "migrated", Tenants.name(1): "failed 77", Tenants.name(2): "migrated",
        ])
    #expect(try tenants.bytes(Tenants.name(1)) == before)
  }

  @Test("drift that no migration uses is counted and stops nothing")
  func harmlessDrift() throws {
    let tenants = try Tenants(3)
    try tenants.open(Tenants.name(1)).execute("CREATE TABLE theirs (id)")
    let run = try tenants.fleet("migrate", "--databases", "tenants/*.sqlite")
    #expect(run.code == 0)
    #expect(run.text.contains("1 differs from the history in objects that no migration changes"))
    let verified = try tenants.fleet(
      "verify", "--databases", "tenants/*.sqlite", "--format", "jsonl")
    #expect(verified.code == 1)
    #expect(
      try verified.states
        == [
          Tenants.name(0): "verified", Tenants.name(1): "failed 1", Tenants.name(2): "verified",
        ])
  }

  @Test("the first ten failures are shown in full, and a table counts all by exit code")
  func table() throws {
    let tenants = try Tenants(15)
    for number in 0..<12 {
      try tenants.open(Tenants.name(number)).execute("ALTER TABLE items ADD COLUMN done TEXT")
    }
    let run = try tenants.fleet("migrate", "--databases", "tenants/*.sqlite", "--jobs", "1")
    #expect(run.code == 1)
    for number in 0..<10 { #expect(run.text.contains("\(Tenants.name(number)): differs")) }
    #expect(!run.text.contains("\(Tenants.name(10)): differs"))
    #expect(run.text.contains("… and 2 more failures"))
    #expect(run.text.contains("\n 3  migrated\n"))
    #expect(
      run.text.contains(
        "\n12  differs from the history (exit code 1): migration `\(Tenants.second)`\n"))
    #expect(run.text.contains(": 3 succeeded, 12 failed.\n"))
    let all = try tenants.fleet("migrate", "--databases", "tenants/*.sqlite", "--verbose")
    for number in 0..<12 { #expect(all.text.contains("\(Tenants.name(number)): differs")) }
    #expect(!all.text.contains("more failures"))
  }

  @Test(
    "a database that was emptied is reported by every work",
    arguments: ["status", "verify", "migrate"])
  func emptied(work: String) throws {
    let tenants = try Tenants(3)
    #expect(try tenants.fleet("migrate", "--databases", "tenants/*.sqlite").code == 0)
    try tenants.write(Tenants.name(1), "")
    let run = try tenants.fleet(work, "--databases", "tenants/*.sqlite", "--format", "jsonl")
    #expect(run.code == 66)
    #expect(try run.states[Tenants.name(1)] == "failed 66")
    #expect(try run.states.values.count { $0.hasPrefix("failed") } == 1)
    #expect(try tenants.bytes(Tenants.name(1)).isEmpty)
  }

  @Test("a history that fails on its own is not run on any database")
  func failingHistory() throws {
    let tenants = try Tenants(2)
    try tenants.sandbox.addSQL("0003_twice", "CREATE TABLE items (id)")
    let before = try tenants.bytes(Tenants.name(0))
    let run = try tenants.fleet("migrate", "--databases", "tenants/*.sqlite")
    #expect(run.code == 3)
    #expect(try tenants.bytes(Tenants.name(0)) == before)
  }

  @Test("status counts pending databases, and --check makes them a finding")
  func status() throws {
    let tenants = try Tenants(3)
    #expect(try tenants.fleet("migrate", "--databases", Tenants.name(0)).code == 0)
    let run = try tenants.fleet("status", "--databases", "tenants/*.sqlite", "--format", "jsonl")
    #expect(run.code == 0)
    #expect(try Set(run.states.values) == ["up-to-date", "pending"])
    #expect(try run.results[Tenants.name(1)]?["pending"] == .array([.string(Tenants.second)]))
    #expect(try run.results[Tenants.name(1)]?["current"] == .string(Tenants.first))
    let checked = try tenants.fleet("status", "--databases", "tenants/*.sqlite", "--check")
    #expect(checked.code == 1)
    #expect(checked.text.contains("2  with pending migrations\n"))
  }
}
