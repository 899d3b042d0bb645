import Foundation
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport

/// Kills the program while it makes a backup, restores one, or migrates a copy.
///
/// After that, the database must have the old or the new content, and a backup under its final name must be
/// complete. The next run must succeed and remove the remains of the copy.
enum KilledCopies: Campaign {
  static let name = "killed-copies"

  private enum Command: String, CaseIterable {
    case backup = "--backup"
    case rehearsal = "--on-copy"
    case restore
  }

  static func run(_ run: Run) throws {
    let scenes = try ["delete", "wal"].map { try Scene(journal: $0, in: run.folder) }
    var number = 0
    while run.mayContinue {
      let scene = scenes[number % scenes.count]
      let command = Command.allCases[number / scenes.count % Command.allCases.count]
      number += 1
      let delay = Double.random(in: 0...scene.duration, using: &run.generator)
      run.note(
        "kill -9 of \(command.rawValue), \(scene.journal)",
        problem: try problem(after: delay, of: command, scene, run.folder))
    }
  }

  private static func problem(
    after delay: Double, of command: Command, _ scene: Scene, _ folder: String
  ) throws -> String? {
    let place = folder + "/try"
    defer { try? FileManager.default.removeItem(atPath: place) }
    let database = try scene.begin(at: place, isMigrated: command == .restore)
    let child = try start("schemactl", scene.words(command.rawValue, database))
    Thread.sleep(forTimeInterval: delay)
    kill(child.identifier, SIGKILL)
    _ = try child.wait()
    let moment = "killed after \(Int(delay * 1_000_000)) µs: "
    if let problem = try scene.problem(of: database, mayBeNew: command != .rehearsal) {
      return moment + problem
    }
    for backup in try scene.backups(in: place) {
      guard try scene.content(backup) == scene.old else { return moment + "a backup is not whole" }
    }
    let next = try SchemaTestPrograms.run("schemactl", scene.words("--on-copy", database))
    guard next.code == 0 else { return moment + "the next run: \(next.errors)" }
    let again = try SchemaTestPrograms.run("schemactl", scene.words(command.rawValue, database))
    guard again.code == 0 else { return moment + "the same run again: \(again.errors)" }
    let left = try FileManager.default.contentsOfDirectory(atPath: place)
      .filter { $0.contains(".partial") }
    return left.isEmpty ? nil : moment + "left: \(left.joined(separator: ", "))"
  }

  /// A database of some megabytes with one pending migration, and the same database after the migration.
  private struct Scene {
    let journal: String
    let migrations: String
    let oldFile: String
    let newFile: String
    let old: [[Value]]
    let new: [[Value]]
    /// The duration of the longest command in seconds.
    let duration: Double

    init(journal: String, in folder: String) throws {
      self.journal = journal
      let home = folder + "/" + journal
      let migrations = home + "/migrations"
      self.migrations = migrations
      oldFile = home + "/old.sqlite"
      newFile = home + "/new.sqlite"
      try FileManager.default.createDirectory(
        atPath: migrations, withIntermediateDirectories: true)
      func write(_ id: String, _ sql: String) throws {
        try "operations: [{ sql: \"\(sql)\" }]\n".write(
          toFile: "\(migrations)/\(id).yaml", atomically: true, encoding: .utf8)
      }
      try write("0001_notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, state, text)")
      try SchemaTestPrograms.run(
        "schemactl", ["migrate", "--migrations", migrations, "--database", oldFile])
      try Connection(path: oldFile).execute(
        """
        PRAGMA journal_mode = \(journal);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
        INSERT INTO notes SELECT i, 'old', hex(zeroblob(500)) FROM n
        """)
      try write("0002_state", "UPDATE notes SET state = 'new'; CREATE TABLE more (a)")
      try FileManager.default.copyItem(atPath: oldFile, toPath: newFile)
      let start = ContinuousClock.now
      try SchemaTestPrograms.run(
        "schemactl",
        ["migrate", "--backup", "--migrations", migrations, "--database", newFile])
      let elapsed = (ContinuousClock.now - start).components
      duration = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
      old = try Self.content(oldFile)
      new = try Self.content(newFile)
    }

    /// Creates a folder with the database. A migrated database also gets the earlier backup.
    func begin(at place: String, isMigrated: Bool) throws -> String {
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      let database = place + "/live.sqlite"
      try FileManager.default.copyItem(atPath: isMigrated ? newFile : oldFile, toPath: database)
      if isMigrated {
        try FileManager.default.copyItem(
          atPath: oldFile, toPath: database + ".backup-0001-20260101T000000Z")
      }
      return database
    }

    func words(_ command: String, _ database: String) -> [String] {
      let common = ["--migrations", migrations, "--database", database]
      let words = ["restore": ["restore"], "--on-copy": ["plan", command]]
      return words[command, default: ["migrate", command]] + common
    }

    func backups(in place: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: place)
        .filter { $0.contains(".backup-") && !$0.contains(".partial") }
        .map { place + "/" + $0 }
    }

    func problem(of database: String, mayBeNew: Bool) throws -> String? {
      let connection = try Connection(path: database, mode: .readWrite)
      guard try connection.rows("PRAGMA integrity_check") == [["ok"]] else { return "damaged" }
      let held = try Self.content(connection)
      return held == old || mayBeNew && held == new ? nil : "neither old nor new: \(held)"
    }

    func content(_ path: String) throws -> [[Value]] { try Self.content(path) }

    private static func content(_ path: String) throws -> [[Value]] {
      try content(Connection(path: path, mode: .readWrite))
    }

    private static func content(_ connection: Connection) throws -> [[Value]] {
      try connection.rows("SELECT state, count(*), sum(length(text)) FROM notes GROUP BY state")
        + connection.rows("SELECT id FROM schemactl_migrations ORDER BY 1")
        + connection.rows("SELECT name FROM sqlite_schema ORDER BY 1")
    }
  }
}
