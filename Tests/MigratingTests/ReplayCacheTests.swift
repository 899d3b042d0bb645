import Foundation
import History
import ManifestFormat
import Migrating
import Planning
import SQLite
import SchemaModel
import TestSupport
import Testing

@Suite("The cache of replays")
struct ReplayCacheTests {
  @Test("has a history that is frozen run once, and what is newer each time")
  func runsOnce() throws {
    let history = try FrozenHistory()
    let first = try history.chance()
    #expect(try history.chance() == first)
    try history.sandbox.addSQL("0101_draft", "UPDATE chance SET value = 'draft'")
    #expect(try history.chance() == "draft")
    #expect(try history.chance(frozenOnly: true) == first)
  }

  @Test("gives the same steps as a replay without it, also for a new database")
  func sameSteps() throws {
    let history = try FrozenHistory()
    try history.sandbox.addSQL("0101_draft", "CREATE INDEX by_value ON chance (value)")
    func facts() throws -> [String] {
      let project = try history.sandbox.project()
      let replay = try HistoryReplay(project)
      return try project.migrations.map { migration in
        let step = try replay.apply(migration)
        return "\(step.touched.sorted()) \(step.strategies) \(replay.fingerprint) "
          + "\(replay.schema.objects.map { "\($0.name) \($0.sql ?? "") \($0.rootPage)" })"
      }
    }
    let cold = try facts()
    #expect(try facts() == cold)
    history.sandbox.cache = nil
    #expect(try facts() == cold)
  }

  @Test("makes a new database from the record, with the rows that the history writes")
  func newDatabase() throws {
    let history = try FrozenHistory()
    let first = try history.chance()
    try history.sandbox.migrate()
    #expect(try history.sandbox.rows("SELECT value FROM chance") == [[try #require(first)]])
    #expect(try history.sandbox.ledger.count == ReplayCache.fewestMigrations)
  }

  @Test("gives a new database no row that breaks a foreign key")
  func foreignKeys() throws {
    let history = try FrozenHistory(
      "CREATE TABLE a (b REFERENCES chance (value)); INSERT INTO a VALUES ('nobody')")
    _ = try history.chance()
    for _ in 1...2 {
      let report = try history.sandbox.migrate()
      #expect(report.failure?.message.contains("foreign key") == true)
      try? FileManager.default.removeItem(atPath: history.sandbox.database)
    }
  }

  @Test("keeps nothing of a short history")
  func short() throws {
    let history = try FrozenHistory(count: ReplayCache.fewestMigrations - 1)
    _ = try history.chance()
    #expect(!FileManager.default.fileExists(atPath: history.folder))
  }

  @Test("goes on from the record of a shorter history, and keeps one record")
  func grown() throws {
    let history = try FrozenHistory()
    let first = try history.chance()
    try history.sandbox.addSQL("0101_more", "CREATE TABLE more (a)")
    try history.sandbox.freeze()
    #expect(try history.chance() == first)
    #expect(try history.records().count == 1)
    #expect(try history.chance() == first)
  }

  @Test(
    "does not go on from there when what comes next asks what only the connection knows",
    arguments: ["changes()", "Total_Changes()", "last_insert_rowid()"])
  func connectionState(_ question: String) throws {
    let history = try FrozenHistory()
    _ = try history.chance()
    try history.sandbox.addSQL("0101_more", "CREATE TABLE more AS SELECT \(question) AS a")
    try history.sandbox.freeze()
    func rows() throws -> [[Value]] {
      let project = try history.sandbox.project()
      let replay = try HistoryReplay(project)
      for migration in project.migrations { try replay.apply(migration) }
      return try replay.connection.rows("SELECT a FROM more")
    }
    let warm = try rows()
    history.sandbox.cache = nil
    #expect(try rows() == warm)
  }

  /// What somebody may have done to a record.
  enum Harm: String, CaseIterable, Sendable {
    case empty, truncated, longer, flippedAtStart, flippedInTheMiddle, flippedAtEnd
    case writableByOthers, link, folder, ofAnotherHistory
  }

  @Test(
    "takes a record that is not what was kept for none, and replaces it", arguments: Harm.allCases)
  func harmed(_ harm: Harm) throws {
    let history = try FrozenHistory()
    let first = try history.chance()
    let record = try #require(try history.records().first)
    try history.harm(record, harm)
    let second = try history.chance()
    #expect(second != first)
    guard harm != .folder else { return }
    #expect(try history.chance() == second)
    #expect(
      try FileManager.default.attributesOfItem(atPath: record)[.posixPermissions] as? Int == 0o600)
  }

  @Test("takes no record that belongs to somebody else", .enabled(if: geteuid() == 0))
  func stranger() throws {
    let history = try FrozenHistory()
    let first = try history.chance()
    let record = try #require(try history.records().first)
    chown(record, 65534, 65534)
    let second = try history.chance()
    #expect(second != first)
    #expect(try history.chance() == second)
    chown(history.folder, 65534, 65534)
    #expect(try history.chance() != second)
  }

  @Test("survives a record whose digest is right and whose content is not")
  func hostile() throws {
    let history = try FrozenHistory()
    _ = try history.chance()
    let record = try #require(try history.records().first)
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: record)))
    let name = URL(fileURLWithPath: record).deletingPathExtension().lastPathComponent
    let content = Array(bytes.dropFirst(64))
    var generator = SystemRandomNumberGenerator()
    for round in 0..<300 {
      var content = content
      if round % 3 == 0 {
        content.removeLast(Int.random(in: 1...content.count, using: &generator))
      } else {
        let place = Int.random(in: 0..<min(content.count, 4000), using: &generator)
        content[place] = UInt8.random(in: 0...255, using: &generator)
      }
      let digest = SHA256.hex(Array(name.utf8) + content)
      try Data(Array(digest.utf8) + content).write(to: URL(fileURLWithPath: record))
      chmod(record, 0o600)
      // Whatever it says: no more is asked than that it comes to an end.
      _ = try? history.chance()
    }
  }

  @Test("has another record for another build, another application, and another manifest")
  func circumstances() throws {
    let history = try FrozenHistory()
    var known = [try history.chance()]
    func expectNew() throws {
      let chance = try history.chance()
      #expect(!known.contains(chance))
      known.append(chance)
    }
    history.sandbox.cache = ReplayCache(folder: history.folder, build: "another")
    try expectNew()
    history.sandbox.application.declaredFunctions = [DeclaredFunction(name: "f")]
    try expectNew()
    history.sandbox.application.declaredCollations = ["c"]
    try expectNew()
    history.sandbox.application.forcedStrategy = .rebuild
    try expectNew()
    try history.sandbox.add("0050_nothing", "operations: [] # edited\n")
    try expectNew()
    #expect(try history.chance() == known.last)
  }

  @Test("keeps nothing for an application that brings functions, for nobody knows what they do")
  func functions() throws {
    let history = try FrozenHistory()
    history.sandbox.application.functions = [.uuid]
    _ = try history.chance()
    #expect(!FileManager.default.fileExists(atPath: history.folder))
  }

  @Test("is done without where its folder cannot be made")
  func noFolder() throws {
    let history = try FrozenHistory()
    try "".write(toFile: history.folder, atomically: true, encoding: .utf8)
    #expect(try history.chance() != history.chance())
  }

  @Test("may be filled by many at once")
  func many() async throws {
    let history = try FrozenHistory()
    let project = try history.sandbox.project()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let replay = try HistoryReplay(project)
          for migration in project.migrations { try replay.apply(migration) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try history.chance() == history.chance())
    #expect(try FileManager.default.contentsOfDirectory(atPath: history.folder).count == 1)
  }

  @Test("a replay that was taken up in the middle goes on as one that ran")
  func middle() throws {
    let history = try FrozenHistory()
    _ = try history.chance()
    let project = try history.sandbox.project()
    let replay = try HistoryReplay(project)
    for migration in project.migrations.prefix(50) { try replay.apply(migration) }
    #expect(try replay.connection.value("SELECT count(*) FROM chance") == 1)
    for migration in project.migrations.dropFirst(50) { try replay.apply(migration) }
    #expect(try replay.connection.value("SELECT count(*) FROM chance") == 1)
    let live = try Schema(of: replay.connection).ours(except: Ledger.isLedger)
    #expect(replay.schema.ours() == live)
  }
}

/// A history as long as it must be to be recorded, which writes a row by chance: where that row is
/// another one, it was run.
private final class FrozenHistory {
  let sandbox: Sandbox
  var folder: String { sandbox.folder + "/cache" }

  /// - Parameter sql: what the last migration does.
  init(_ sql: String? = nil, count: Int = ReplayCache.fewestMigrations) throws {
    sandbox = try Sandbox(isInMemory: true)
    sandbox.cache = ReplayCache(folder: sandbox.folder + "/cache", build: "")
    try sandbox.addSQL("0001_chance", "CREATE TABLE chance (value TEXT PRIMARY KEY)")
    try sandbox.addSQL("0002_row", "INSERT INTO chance VALUES (hex(randomblob(16)))")
    for number in 3...count {
      let id = String(format: "%04d_nothing", number)
      if number == count, let sql {
        try sandbox.addSQL(id, sql)
      } else {
        try sandbox.add(id, "operations: []\n")
      }
    }
    let cache = sandbox.cache
    sandbox.cache = nil
    try sandbox.freeze()
    sandbox.cache = cache
  }

  /// The row, once the whole history was replayed.
  func chance(frozenOnly: Bool = false) throws -> Value? {
    let project = try sandbox.project()
    let replay = try HistoryReplay(project)
    for migration in project.migrations where !frozenOnly || project.isFrozen(migration) {
      try replay.apply(migration)
    }
    return try replay.connection.value("SELECT value FROM chance")
  }

  func records() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).map { folder + "/" + $0 }
  }

  func harm(_ record: String, _ harm: ReplayCacheTests.Harm) throws {
    let url = URL(fileURLWithPath: record)
    var bytes = Array(try Data(contentsOf: url))
    switch harm {
    case .empty: bytes = []
    case .truncated: bytes.removeLast()
    case .longer: bytes.append(0)
    case .flippedAtStart: bytes[0] ^= 1
    case .flippedInTheMiddle: bytes[bytes.count / 2] ^= 1
    case .flippedAtEnd: bytes[bytes.count - 1] ^= 1
    case .writableByOthers:
      chmod(record, 0o622)
      return
    case .link:
      try FileManager.default.moveItem(atPath: record, toPath: sandbox.folder + "/elsewhere")
      try FileManager.default.createSymbolicLink(
        atPath: record, withDestinationPath: sandbox.folder + "/elsewhere")
      return
    case .folder:
      try FileManager.default.removeItem(atPath: record)
      try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: false)
      return
    case .ofAnotherHistory:
      let other = try FrozenHistory("CREATE TABLE other (a)")
      _ = try other.chance()
      bytes = Array(
        try Data(contentsOf: URL(fileURLWithPath: try #require(try other.records().first))))
    }
    // Into the same file, with its mode.
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: bytes)
  }
}
