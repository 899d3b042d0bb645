import Foundation
import TestSupport
import Testing

/// What the program keeps of replays in the user's cache folder.
@Suite("The user's cache")
struct CacheTests {
  enum History: CaseIterable, Sendable {
    case reminders, facts, generated
  }

  static let commands = [
    ["verify"], ["verify", "--format", "json"], ["verify", "--format", "sarif"],
    ["verify", "--database", "app.sqlite"],
    ["lint"], ["lint", "--format", "json"], ["lint", "--format", "sarif"],
    ["lint", "--format", "github"], ["lint", "--format", "xcode"], ["lint", "--full"],
    ["lint", "--data", "app.sqlite"], ["check"], ["check", "--full"],
    ["check", "--format", "json"],
    ["plan", "--empty"], ["plan", "--database", "app.sqlite", "--format", "json"],
    ["status", "--database", "app.sqlite"], ["diff", "--database", "app.sqlite"], ["inspect"],
    ["inspect", "--at", "0050"],
  ]

  @Test("changes no word of what a command says", arguments: History.allCases)
  func same(_ history: History) throws {
    let folder = try longHistory(history)
    try folder.expect(
      0, "migrate", "--to", "0110", "--database", "app.sqlite", environment: .noCache)
    for command in Self.commands {
      try? folder.remove("cache")
      let expected = try folder.start(command, environment: .noCache).wait()
      for _ in ["cold", "warm"] {
        let run = try folder.start(command, environment: folder.cache).wait()
        #expect(run.code == expected.code, "\(command)")
        #expect(run.output == expected.output, "\(command)")
        #expect(run.errors == expected.errors, "\(command)")
      }
    }
  }

  @Test("has migrate do what it does without, on a new database and on an old one")
  func migrate() throws {
    let folder = try longHistory(.generated)
    try folder.expect(0, "migrate", "--to", "0110", "--database", "0", environment: .noCache)
    var contents: Set<[String]> = []
    for (database, environment) in [
      ("0", .noCache), ("1", .noCache), ("2", folder.cache), ("3", folder.cache),
    ] {
      try folder.expect(0, "migrate", "--database", database, environment: environment)
      contents.insert(
        try folder.rows("SELECT name, sql FROM sqlite_schema ORDER BY name", in: database)
          + folder.rows("SELECT id, fingerprint FROM schemactl_migrations", in: database)
          + folder.rows("SELECT * FROM t5", in: database))
    }
    #expect(contents.count == 1)
  }

  @Test("does not hide that a frozen manifest was edited")
  func edited() throws {
    let folder = try longHistory(.generated)
    try folder.expect(0, "verify", environment: folder.cache)
    let file = "migrations/0003_step.yaml"
    let text = try String(contentsOfFile: folder.path(file), encoding: .utf8)
    try folder.write(file, text.replacing("title", with: "name"))
    let run = try folder.expect(2, "verify", environment: folder.cache)
    #expect(run.output.contains("edited"))
    try folder.expect(2, "migrate", "--database", "app.sqlite", environment: folder.cache)
  }

  @Test("stands where the environment says, for this user alone")
  func place() throws {
    let folder = try longHistory(.generated)
    try folder.expect(0, "verify", environment: folder.cache)
    #expect(try records(in: folder, "cache/schemactl") == 1)
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path("cache/schemactl"))
    #expect(mode[.posixPermissions] as? Int == 0o700)
    try folder.makeFolder("home")
    try folder.expect(
      0, "verify", environment: ["XDG_CACHE_HOME": "not/absolute", "HOME": folder.path("home")])
    #if os(Linux)
      #expect(try records(in: folder, "home/.cache/schemactl") == 1)
    #else
      #expect(try records(in: folder, "home/Library/Caches/schemactl") == 1)
    #endif
    #expect(!folder.exists("not"))
  }

  @Test("is not made with SCHEMACTL_CACHE=off, nor for a short history")
  func off() throws {
    let long = try longHistory(.generated)
    for word in ["off", "OFF", "0", "no", "false"] {
      try long.expect(
        0, "verify", environment: long.cache.merging(["SCHEMACTL_CACHE": word]) { $1 })
    }
    #expect(!long.exists("cache"))
    let short = try WorkingFolder.ofReminders()
    try short.expect(0, "freeze", environment: short.cache)
    try short.expect(0, "verify", environment: short.cache)
    #expect(!short.exists("cache"))
  }

  @Test("that cannot be written is done without")
  func readOnly() throws {
    let folder = try longHistory(.generated)
    try folder.makeFolder("cache")
    try folder.setMode(0o555, of: "cache")
    defer { try? folder.setMode(0o755, of: "cache") }
    try folder.setMode(0o755, of: "")
    let run = try folder.run("verify", environment: folder.cache, asStranger: true)
    #expect(run.code == 0, "\(run.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("cache")) == [])
  }

  @Test("is filled by several processes at once, and holds one record for all of them")
  func atOnce() throws {
    let folder = try longHistory(.generated)
    let running = try (0..<6).map { _ in
      try folder.start(["verify"], environment: folder.cache)
    }
    let runs = try running.map { try $0.wait() }
    #expect(runs.allSatisfy { $0.code == 0 })
    #expect(try records(in: folder, "cache/schemactl") == 1)
  }

  private func records(in folder: WorkingFolder, _ name: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(name)).count
  }

  /// A history whose frozen part is long enough to be recorded, and whose last manifest is a draft.
  private func longHistory(_ history: History) throws -> WorkingFolder {
    let folder =
      switch history {
      case .reminders: try WorkingFolder.ofReminders()
      case .facts: try Example.facts.folder()
      case .generated: try WorkingFolder.of([:])
      }
    try? folder.remove("migrations/history.lock")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("migrations"))
    for name in names {
      try FileManager.default.moveItem(
        atPath: folder.path("migrations/\(name)"), toPath: folder.path("migrations/1\(name)"))
    }
    for number in 1...120 {
      try folder.write("migrations/\(padded(number))_step.yaml", step(number))
    }
    if history == .generated {
      try folder.write(
        "migrations/1001_draft.yaml",
        "operations:\n- drop_column: { table: t1, column: note }\n"
          + "- update: { table: t5, set: { title: \"'draft'\" }, all: true }\n")
    }
    let last = try FileManager.default.contentsOfDirectory(atPath: folder.path("migrations")).count
    let frozen = history == .generated ? "120" : "\(10_000 + last - 120 - 1)"
    try folder.expect(0, "freeze", "--release", "1.0", "--through", frozen, environment: .noCache)
    return folder
  }

  private func padded(_ number: Int) -> String { String(format: "%04d", number) }

  private func step(_ number: Int) -> String {
    let table = "t\((number + 3) / 4)"
    return switch number % 4 {
    case 1:
      manifest(
        "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '') STRICT")
    case 2: "operations:\n- add_column: { table: \(table), column: { name: note, type: TEXT } }\n"
    case 3: "operations:\n- insert: { table: \(table), rows: [{ id: 1, title: one }] }\n"
    default: manifest("CREATE INDEX \(table)_title ON \(table) (title)")
    }
  }
}

extension WorkingFolder {
  fileprivate var cache: [String: String] {
    ["XDG_CACHE_HOME": path("cache"), "SCHEMACTL_CACHE": "on"]
  }
}

extension [String: String] {
  fileprivate static var noCache: [String: String] { ["SCHEMACTL_CACHE": "off"] }
}
