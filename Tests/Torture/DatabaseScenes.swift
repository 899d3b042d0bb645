import Foundation
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport

/// Scenes in which the program migrates, creates and resets databases.
final class DatabaseScenes {
  /// The journal mode of the last writer of the database. Only WAL is a property of the file. The other modes
  /// leave no journal, an empty one, or one with a header of zeros.
  enum Journal: String, CaseIterable {
    case delete, truncate, persist, wal
  }

  private static let database = "app.sqlite"
  private static let migrate = ["migrate", "--database", database, "--timeout", "60"]

  /// Migrations in addition to those of Reminders. They rename a column, rewrite a table, update rows, and
  /// add and fill a column; some are small.
  private static let manifests: KeyValuePairs<String, String> = [
    "0008_rebuild": """
    operations:
      - move_column:
          table: reminders
          from: notes
          to: { name: text, type: TEXT, not_null: true, default: none }
          using: upper(notes)
    """,
    "0009_values": """
    operations:
      - move_column:
          table: reminders
          from: status
          to: { name: state, type: INTEGER, not_null: true, default: 0 }
          map: { 0: 1, 1: 2 }
    """,
    "0010_filled": """
    operations:
      - move_column:
          table: reminders
          from: state
          to: { name: phase, type: INTEGER, not_null: true, default: 1 }
          map: { 1: 1, 2: 5 }
          keep_source: true
    """,
    "0011_small": """
    operations:
      - create_table: { name: small, columns: [{ name: a, type: TEXT }] }
      - insert: { table: small, rows: [{ a: one }] }
    """,
    "0012_rows": """
    operations:
      - update: { table: small, set: { a: "'two'" }, all: true }
      - sql: CREATE INDEX small_a ON small (a); DELETE FROM tags WHERE id = 't2'
    """,
  ]

  private let folder: String
  /// The prepared databases, by the number of reminders.
  private var prepared: [Int: Prepared] = [:]

  /// - Parameter folder: the folder for templates.
  init(in folder: String) {
    self.folder = folder
  }

  func all() throws -> [Scene] {
    let small = try Journal.allCases.map { try migrating($0, reminders: 300) }
    let large = try [Journal.delete, .wal].map { try migrating($0, reminders: 4000) }
    return try small + large + others()
  }

  func others() throws -> [Scene] {
    try [creating(), resetting(.delete), resetting(.wal)]
  }

  /// Returns a scene with pending migrations. The first is a draft, so that the program also makes a draft
  /// copy.
  func migrating(_ journal: Journal, reminders: Int) throws -> Scene {
    let name = "migrate\(reminders > 1000 ? ", large" : ""), \(journal.rawValue)"
    let prepared = try prepared(reminders)
    let template = try template(name, prepared)
    try leave(template, journal)
    return scene(name, Self.migrate, template, prepared.boundaries)
  }

  /// Returns a folder with a database that lacks migrations, for commands that only read.
  func template() throws -> String { try template("look", prepared(300)) }

  private func creating() throws -> Scene {
    let prepared = try prepared(0)
    let template = try template("create", prepared)
    try FileManager.default.removeItem(atPath: "\(template)/\(Self.database)")
    return scene("create", Self.migrate, template, prepared.boundaries)
  }

  /// Returns a scene that resets drafts: the database has run them, has newer rows, and has a draft copy.
  private func resetting(_ journal: Journal) throws -> Scene {
    let name = "reset drafts, \(journal.rawValue)"
    let prepared = try prepared(300)
    let template = try template(name, prepared)
    let ended = try schemactl(Self.migrate, in: template)
    guard ended.code == 0 else { throw Unprepared(reason: ended.errors) }
    let database = "\(template)/\(Self.database)"
    try Connection(path: database).execute("INSERT INTO tags (id, title) VALUES ('t9', 'late')")
    var boundaries = prepared.boundaries
    try boundaries.add(database)
    try leave(template, journal)
    return scene(name, Self.migrate + ["--reset-drafts"], template, boundaries, ends: 2)
  }

  // MARK: Preparation

  /// A history that is frozen through 0006, a database that has run its frozen migrations, and the allowed
  /// states after that.
  private struct Prepared {
    let sandbox: Sandbox
    let start: String
    let boundaries: Boundaries
  }

  /// - Parameter reminders: the number of rows; 0 for a database without migrations.
  private func prepared(_ reminders: Int) throws -> Prepared {
    if let prepared = prepared[reminders] { return prepared }
    let sandbox = try Sandbox.reminders()
    try sandbox.freeze(through: "0006")
    for (id, text) in Self.manifests { try sandbox.add(id, text) }
    if reminders > 0 { try sandbox.makeRelease1(reminders: reminders) } else { try sandbox.run("") }
    let start = "\(folder)/\(reminders).sqlite"
    try FileManager.default.copyItem(atPath: sandbox.database, toPath: start)
    var boundaries = try Boundaries(in: "\(folder)/\(reminders) boundaries")
    try boundaries.add(sandbox.database)
    let applied = Set((try? sandbox.ledger) ?? [])
    for migration in try sandbox.project().migrations where !applied.contains(migration.id) {
      try sandbox.migrate(to: migration.id)
      try boundaries.add(sandbox.database)
    }
    let made = Prepared(sandbox: sandbox, start: start, boundaries: boundaries)
    prepared[reminders] = made
    return made
  }

  private func template(_ name: String, _ prepared: Prepared) throws -> String {
    let template = "\(folder)/\(name)"
    try FileManager.default.createDirectory(atPath: template, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: prepared.sandbox.folder + "/migrations", toPath: template + "/migrations")
    try FileManager.default.copyItem(
      atPath: prepared.start, toPath: "\(template)/\(Self.database)")
    return template
  }

  private func leave(_ template: String, _ journal: Journal) throws {
    let database = "\(template)/\(Self.database)"
    let connection = try Connection(path: database)
    try connection.execute(
      "PRAGMA journal_mode = \(journal.rawValue); UPDATE tags SET title = title")
  }

  // MARK: Checks

  private func scene(
    _ name: String, _ words: [String], _ template: String, _ boundaries: Boundaries, ends: Int = 1
  ) -> Scene {
    // The scene may end in any of the last states.
    let last = boundaries.files.indices.suffix(ends)
    return Scene(name: name, words: words, template: template) { folder, ended in
      let database = "\(folder)/\(Self.database)"
      if let problem = try Self.wrong(with: database, boundaries, ended) { return problem }
      let again = try schemactl(Self.migrate, in: folder)
      guard again.code == 0 else { return "the next migrate fails: \(again.errors)" }
      let connection = try Connection(path: database, mode: .readWrite)
      guard let end = try boundaries.index(of: connection), last.contains(end) else {
        return "the next migrate does not come to the end"
      }
      let strangers = try Scene.strangers(in: folder) { name in
        ["app.sqlite", "migrations", "app.sqlite-wal", "app.sqlite-shm"].contains(name)
          // A journal without a valid header has no effect. SQLite leaves it until the next write.
          || name == "app.sqlite-journal"
          || name.hasPrefix("app.sqlite.before-")
      }
      return strangers.isEmpty ? nil : "nobody knows what \(strangers) are"
    }
  }

  private static func wrong(
    with database: String, _ boundaries: Boundaries, _ ended: Finished
  ) throws -> String? {
    guard FileManager.default.fileExists(atPath: database) else {
      return ended.output.contains("Applied") ? "what it had applied is gone" : nil
    }
    let connection = try Connection(path: database, mode: .readWrite)
    let integrity = try connection.rows("PRAGMA integrity_check")
    guard integrity == [["ok"]] else { return "integrity_check: \(integrity)" }
    guard try connection.rows("PRAGMA foreign_key_check").isEmpty else {
      return "foreign keys are violated"
    }
    guard try boundaries.index(of: connection) != nil else {
      return "the database is at no migration's boundary"
    }
    let ledger = Set(try Ledger.usual.rows(in: connection)?.map(\.id) ?? [])
    let said = ended.output.split(separator: "\n").filter { $0.hasPrefix("Applied ") }
      .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
    guard ledger.isSuperset(of: said) else { return "it said \(said), and has run \(ledger)" }
    return try wrongAfterSignal(ended, ledger: ledger, said: said)
  }

  /// Checks that the message names the last applied migration.
  private static func wrongAfterSignal(
    _ ended: Finished, ledger: Set<String>, said: [String]
  ) throws -> String? {
    guard ended.code == 130, ended.errors.contains("rolled back") else { return nil }
    let mark = "The last applied migration is `"
    let named = ended.errors.components(separatedBy: mark).dropFirst().first
      .map { String($0.prefix { $0 != "`" }) }
    return named == said.last ? nil : "it names \(named ?? "none"), and applied \(said)"
  }
}

/// An error in the preparation of a scene: a bug of the test program.
struct Unprepared: Error {
  let reason: String
}
