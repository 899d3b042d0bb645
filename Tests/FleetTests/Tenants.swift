import Foundation
import SchemaJSONChecking
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// A history of two migrations, and databases that have run the first one.
final class Tenants {
  let sandbox: Sandbox
  var folder: String { sandbox.folder }

  static let first = "0001_items"
  static let second = "0002_done"

  /// - Parameter count: the number of databases, named `tenants/001.sqlite` and so on.
  init(_ count: Int) throws {
    sandbox = try Sandbox()
    try sandbox.addSQL(
      Self.first, "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO items (name) VALUES ('one'), ('two'), ('three')")
    try sandbox.addSQL(Self.second, "ALTER TABLE items ADD COLUMN done INTEGER NOT NULL DEFAULT 0")
    try FileManager.default.createDirectory(
      atPath: folder + "/tenants", withIntermediateDirectories: true)
    for number in 0..<count { try copy(to: Self.name(number)) }
  }

  static func name(_ number: Int) -> String { String(format: "tenants/%03d.sqlite", number + 1) }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  func copy(to name: String) throws {
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: path(name))
  }

  func open(_ name: String) throws -> Connection {
    try Connection(path: path(name), mode: .readWrite)
  }

  func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path(name)))
  }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  /// Whether a database has run all migrations, has all its rows and is intact.
  func isMigrated(_ name: String, migrations: Int64 = 2) throws -> Bool {
    let connection = try open(name)
    return try connection.value("SELECT count(*) FROM schemactl_migrations")
      == .integer(migrations)
      && connection.value("SELECT count(done) FROM items") == 3
      && connection.value("PRAGMA integrity_check") == .text("ok")
  }

  /// Runs `schemactl fleet …` in the folder.
  func fleet(_ words: String..., input: String? = nil) throws -> FleetOutput {
    let run = try SchemaTestPrograms.run(
      "schemactl", ["fleet"] + words, in: folder, input: input)
    return FleetOutput(finished: run)
  }

  func start(_ words: String...) throws -> Running {
    try SchemaTestPrograms.start("schemactl", ["fleet"] + words, in: folder)
  }

  /// Migrates all databases with `--format jsonl`.
  func migrateAll(_ more: String...) throws -> FleetOutput {
    let words = ["fleet", "migrate", "--databases", "tenants/*.sqlite", "--format", "jsonl"]
    return FleetOutput(finished: try SchemaTestPrograms.run("schemactl", words + more, in: folder))
  }
}

struct FleetOutput {
  let finished: Finished

  var code: Int32 { finished.code }
  var text: String { finished.output }
  var errors: String { finished.errors }

  /// The lines of `--format jsonl`.
  var lines: [JSONTree] {
    get throws {
      try text.split(separator: "\n").map { try JSONTree(parsing: String($0)) }
    }
  }

  /// The lines of the databases.
  var results: [String: JSONTree] {
    get throws {
      var results: [String: JSONTree] = [:]
      for line in try lines {
        if case .string(let name) = line["database"] {
          #expect(results.updateValue(line, forKey: name) == nil, "\(name) has two results")
        }
      }
      return results
    }
  }

  /// The state of each database, with the exit code of failures.
  var states: [String: String] {
    get throws {
      try results.mapValues { line in
        guard case .string(let state) = line["state"], case .number(let code) = line["code"]
        else { return "" }
        return code == 0 ? state : "\(state) \(Int(code))"
      }
    }
  }
}

let jsonSchemas = repository.appendingPathComponent("docs/json")

/// Waits for a condition, at most a minute.
func waitUntil(_ condition: () throws -> Bool) throws {
  for _ in 0..<6000 {
    if try condition() { return }
    usleep(10_000)
  }
  Issue.record("waited for a minute in vain")
}
