import Foundation
import SchemaAuthoring
import SchemaFleet
import SchemaHistory
import SchemaJSONChecking
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing
import schemactl

@Suite("Runs on many databases")
struct RunTests {
  @Test(
    "after the canary databases, a run continues only if all of them succeed",
    arguments: [true, false])
  func canary(succeeds: Bool) throws {
    let tenants = try Tenants(8)
    if !succeeds {
      try tenants.open(Tenants.name(1)).execute("ALTER TABLE items ADD COLUMN done TEXT")
    }
    let run = try tenants.migrateAll("--canary", "3", "--jobs", "4")
    let states = try run.states
    #expect(states.count == 8)
    #expect(run.code == (succeeds ? 0 : 1))
    for number in 0..<8 {
      let state =
        succeeds || number < 3 ? number == 1 && !succeeds ? "failed 1" : "migrated" : "not-started"
      #expect(states[Tenants.name(number)] == state, "\(number)")
      #expect(try tenants.isMigrated(Tenants.name(number)) == (state == "migrated"))
    }
  }

  @Test("after a failed canary, the advice is to correct the cause first")
  func canaryAdvice() throws {
    let tenants = try Tenants(3)
    try tenants.write(Tenants.name(0), "")
    let run = try tenants.fleet(
      "migrate", "--databases", "tenants/*.sqlite", "--canary", "1")
    #expect(
      run.text.hasSuffix("2 not started. Correct the causes, then run it again to continue.\n"),
      "\(run.text)")
  }

  @Test("status --verbose names the databases with pending migrations")
  func pending() throws {
    let tenants = try Tenants(2)
    let words = ["status", "--databases", "tenants/*.sqlite"]
    #expect(try !tenants.fleet(words[0], words[1], words[2]).text.contains("tenants/"))
    let run = try tenants.fleet(words[0], words[1], words[2], "--verbose", "--jobs", "1")
    #expect(run.text.contains("tenants/002.sqlite: 1 pending, next: `0002_done`\n"), "\(run.text)")
  }

  @Test("a canary number above the number of databases includes all of them")
  func largeCanary() throws {
    #expect(try Set(Tenants(3).migrateAll("--canary", "10").states.values) == ["migrated"])
  }

  @Test("a run starts no further database after the allowed number of failures")
  func maxFailures() throws {
    let tenants = try Tenants(8)
    for number in [1, 3, 5] {
      try tenants.open(Tenants.name(number)).execute("ALTER TABLE items ADD COLUMN done TEXT")
    }
    let run = try tenants.migrateAll("--max-failures", "2", "--jobs", "1")
    #expect(run.code == 1)
    let states = try run.states
    let names = (0..<8).map(Tenants.name)
    #expect(
      names.map { states[$0] } == [
        "migrated", "failed 1", "migrated", "failed 1", "not-started", "not-started", "not-started",
        "not-started",
      ])
  }

  @Test("a busy database is tried again at the end")
  func secondTry() throws {
    let tenants = try Tenants(6)
    let writer = try tenants.open(Tenants.name(0))
    try writer.execute("BEGIN IMMEDIATE")
    let run = try tenants.start(
      "migrate", "--databases", "tenants/*.sqlite", "--format", "jsonl", "--jobs", "1",
      "--timeout", "60")
    // The header and five databases: only the busy one remains.
    try waitUntil { try run.text("out").split(separator: "\n").count >= 6 }
    try writer.execute("ROLLBACK")
    let output = FleetOutput(finished: try run.wait())
    #expect(output.code == 0)
    #expect(try output.states[Tenants.name(0)] == "migrated")
    #expect(try output.results[Tenants.name(0)]?["attempts"] == .number(2))
    #expect(try output.results[Tenants.name(1)]?["attempts"] == .number(1))
  }

  @Test(
    "an interrupted run rolls back, reports the remaining databases, and can be repeated")
  func interrupted() throws {
    let tenants = try Tenants(20)
    // The run waits for this lock when the signal arrives.
    let writer = try tenants.open(Tenants.name(0))
    try writer.execute("BEGIN IMMEDIATE")
    let run = try tenants.start(
      "migrate", "--databases", Tenants.name(0), "--databases", "tenants/00[2-9].sqlite",
      "--canary",
      "1", "--format", "jsonl", "--timeout", "600")
    try waitUntil { try run.text("out").contains("\n") }
    run.send(SIGINT)
    let output = FleetOutput(finished: try run.wait())
    #expect(output.code == 130)
    let states = try output.states
    #expect(states.count == 9)
    #expect(states[Tenants.name(1)] == "not-started")
    #expect(try output.lines.last?["code"] == .number(130))
    try writer.execute("ROLLBACK")
    let again = try tenants.migrateAll()
    #expect(again.code == 0)
    #expect(try Set(again.states.values) == ["migrated"])
  }

  #if os(Linux)
    @Test("a run that is killed at any moment can be repeated with the same result", .thorough)
    func killed() throws {
      let tenants = try Tenants(60)
      try tenants.open(Tenants.name(7)).execute("ALTER TABLE items ADD COLUMN done TEXT")
      for moment in 0..<10 {
        let run = try tenants.start(
          "migrate", "--databases", "tenants/*.sqlite", "--format", "jsonl")
        try waitUntil {
          try run.text("out").split(separator: "\n").count > moment * 5 || !run.isRunning
        }
        run.send(SIGKILL)
        _ = try run.wait()
        for number in 0..<60 where number != 7 {
          let count = try tenants.open(Tenants.name(number)).value(
            "SELECT count(*) FROM schemactl_migrations")?.integer
          let columns = try tenants.open(Tenants.name(number)).value(
            "SELECT count(*) FROM pragma_table_info('items')")?.integer
          // The migration is either complete or missing.
          #expect(count == 1 && columns == 2 || count == 2 && columns == 3)
        }
      }
      let run = try tenants.migrateAll()
      #expect(run.code == 1)
      for (name, state) in try run.states {
        if name == Tenants.name(7) {
          #expect(state == "failed 1")
        } else {
          #expect(["migrated", "up-to-date"].contains(state))
          #expect(try tenants.isMigrated(name))
        }
      }
    }

    @Test("memory does not increase with the number of databases", .thorough)
    func memory() throws {
      func peak(_ count: Int) throws -> Int {
        let tenants = try Tenants(count)
        let run = try tenants.start("migrate", "--databases", "tenants/*.sqlite", "--jobs", "2")
        var peak = 0
        while run.isRunning {
          let status = try? String(
            contentsOfFile: "/proc/\(run.identifier)/status", encoding: .utf8)
          let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
          peak = line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? peak
        }
        #expect(try run.wait().code == 0)
        return peak
      }
      let (few, many) = (try peak(100), try peak(1500))
      #expect(few > 0)
      // The values are in KiB.
      #expect(many < few + 4096, "\(few) and \(many)")
    }
  #endif

  @Test("databases with some of a squash's replaced migrations continue")
  func squash() throws {
    let tenants = try Tenants(3)
    #expect(try tenants.fleet("migrate", "--databases", Tenants.name(1)).code == 0)
    try tenants.sandbox.freeze(release: "1.0")
    try tenants.sandbox.project().squashing(through: "2").write()
    try tenants.sandbox.addSQL("0003_more", "CREATE TABLE more (id INTEGER PRIMARY KEY)")
    let run = try tenants.migrateAll("--jobs", "2")
    #expect(run.code == 0)
    let results = try run.results
    for number in 0..<3 {
      let rest = number == 1 ? ["0003_more"] : [Tenants.second, "0003_more"]
      #expect(
        results[Tenants.name(number)]?["applied"] == .array(rest.map { .string($0) }), "\(number)")
    }
    let verified = try tenants.fleet("verify", "--databases", "tenants/*.sqlite")
    #expect(verified.code == 0)
    #expect(verified.text.hasPrefix("3  verified\n"))
  }

  @Test(
    "a run goes to the squash on databases that have run some of the migrations that it replaces")
  func toSquash() throws {
    let tenants = try Tenants(2)
    try tenants.sandbox.addSQL("0003_more", "CREATE TABLE more (id INTEGER PRIMARY KEY)")
    #expect(try tenants.fleet("migrate", "--databases", Tenants.name(1)).code == 0)
    try tenants.sandbox.freeze(release: "1.0")
    let squash = try tenants.sandbox.project().squashing(through: "2")
    try squash.write()
    let run = try tenants.migrateAll("--to", squash.id)
    #expect(run.code == 0)
    #expect(
      try run.states == [Tenants.name(0): "migrated", Tenants.name(1): "up-to-date"])
    #expect(try tenants.isMigrated(Tenants.name(0)))
    #expect(try tenants.isMigrated(Tenants.name(1), migrations: 3))
  }

  @Test("a run shows its progress, but not in a log of a short run")
  func progress() throws {
    var summary = FleetSummary(expected: 12_000)
    for number in 0..<4200 {
      let name = Tenants.name(number)
      summary.add(
        number < 3
          ? FleetResult(name, .failed, failure: Failure(.busy, "busy"))
          : FleetResult(name, .migrated))
    }
    #expect(
      summary.progress(afterMilliseconds: 2000)
        == "4,200 of 12,000 databases done, 3 failed, 7,800 left, 2,100/s")

    let run = try Tenants(3).fleet("migrate", "--databases", "tenants/*.sqlite")
    #expect(run.errors.isEmpty)
    #expect(run.text.hasPrefix("3  migrated\n\n3 databases in "))
  }

  @Test("an interruption ends the wait for the list at once")
  func interruptedList() throws {
    let tenants = try Tenants(1)
    let list = tenants.path("list")
    try #require(mkfifo(list, 0o600) == 0)
    // A pipe that is open for both directions blocks nobody and never ends.
    let descriptor = open(list, O_RDWR)
    defer { close(descriptor) }
    let run = try tenants.start("migrate", "--databases-from", "list")
    #if os(Linux)
      try waitUntil { run.takes(SIGINT) }
    #endif
    run.send(SIGINT)
    #expect(try run.wait().code == 130)
  }
}
