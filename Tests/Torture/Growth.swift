import Foundation
import SchemaPlatform
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport

/// Measures time and memory while the number of rows grows by factors of ten, until the time is up. Prints
/// the measurements on standard error. A failing migration, a lost row, and memory that grows with the rows
/// are bad results.
enum Growth: Campaign {
  static let name = "growth"

  private struct Work {
    let name: String
    let operation: String
    /// A condition that is true for every row after the migration.
    let holds: String
    var options: [String] = []
  }

  private static let identity = move(
    "type: INTEGER, not_null: true, default: 0", "{ 0: 0, 1: 1, 2: 2 }")

  private static let works = [
    Work(name: "move, identity map", operation: identity, holds: "status IN (0, 1, 2)"),
    Work(
      name: "move, one row in three changes",
      operation: move("type: INTEGER, not_null: true, default: 0", "{ 0: 3, 1: 1, 2: 2 }"),
      holds: "status IN (1, 2, 3)"),
    Work(
      name: "move, the table is rebuilt",
      operation: move("type: TEXT", "{ 0: open, 1: done, 2: gone }"),
      holds: "status IN ('open', 'done', 'gone')"),
    Work(
      name: "add a column",
      operation: "add_column: { table: reminders, column: { name: more, type: TEXT, default: x } }",
      holds: "more = 'x'"),
    Work(
      name: "move, identity map, --paranoid", operation: identity,
      holds: "status IN (0, 1, 2)", options: ["--paranoid"]),
  ]

  private static func move(_ definition: String, _ map: String) -> String {
    "move_column: { table: reminders, from: isCompleted, "
      + "to: { name: status, \(definition) }, map: \(map) }"
  }

  static func run(_ run: Run) throws {
    say("| work | MB | seconds | ms per MB | peak memory |\n|---|---|---|---|---|")
    var rows = 21_500
    var smallest: [String: Int] = [:]
    var last = Duration.zero
    while run.hasTime(for: last * 12) {
      let started = ContinuousClock.now
      let sandbox = try database(rows: rows)
      for work in works where run.mayContinue {
        try measure(work, sandbox, rows, &smallest, run)
      }
      last = ContinuousClock.now - started
      rows *= 10
    }
  }

  /// Creates a database with about 465 bytes per row, a text key and two indexes.
  private static func database(rows: Int) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.add(
      "0001_create",
      """
      operations:
        - create_table:
            name: reminders
            columns:
              - { name: id, type: TEXT, primary_key: true, not_null: true }
              - { name: title, type: TEXT, not_null: true }
              - { name: notes, type: TEXT }
              - { name: list, type: INTEGER, not_null: true }
              - { name: isCompleted, type: INTEGER, not_null: true, default: 0 }
              - { name: updatedAt, type: TEXT, not_null: true }
        - create_index: { name: byList, table: reminders, columns: [list] }
      """)
    try sandbox.migrate()
    try sandbox.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO reminders SELECT printf('%032x', i * 2654435761), 'Reminder ' || i,
        hex(randomblob(155)), i % 100, i % 3, '2020-01-01T00:00:00.000Z' FROM n
      """)
    return sandbox
  }

  private static func measure(
    _ work: Work, _ original: Sandbox, _ rows: Int, _ smallest: inout [String: Int], _ run: Run
  ) throws {
    let sandbox = try Sandbox()
    let migrations = sandbox.folder + "/migrations"
    try FileManager.default.removeItem(atPath: migrations)
    try FileManager.default.copyItem(
      atPath: original.folder + "/migrations", toPath: migrations)
    try FileManager.default.copyItem(atPath: original.database, toPath: sandbox.database)
    try sandbox.add("0002_work", "operations: [{ \(work.operation) }]")
    let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.database)
    let size = (attributes[.size] as? Int ?? 0) / 1_000_000

    let started = ContinuousClock.now
    let child = try Child(
      programs.appendingPathComponent("schemactl").path,
      ["migrate", "--database", sandbox.database, "--migrations", migrations] + work.options)
    let (code, peak) = child.wait()
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    say(
      "| \(work.name) | \(size) | \(hundredths(seconds)) | "
        + "\(hundredths(seconds * 1000 / Double(max(size, 1)))) | \(peak / 1024) MB |")

    let atFirst = smallest[work.name] ?? peak
    smallest[work.name] = atFirst
    let found = try sandbox.rows("SELECT count(*), total(\(work.holds)) FROM reminders")[0]
    var problem: String?
    if code != 0 {
      problem = "exit \(code) at \(rows) rows"
    } else if found != [.integer(Int64(rows)), .real(Double(rows))] {
      problem = "\(rows) rows became \(found)"
    } else if peak > atFirst + 16 * 1024 {
      problem = "\(peak) KB of memory at \(rows) rows, \(atFirst) KB at fewer"
    }
    run.note("growth: \(work.name)", problem: problem)
  }

  private static func hundredths(_ number: Double) -> String {
    "\((number * 100).rounded() / 100)"
  }
}

/// A child process that reports its peak memory, which Foundation does not.
private struct Child {
  private let identifier: pid_t

  init(_ program: String, _ arguments: [String]) throws {
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var identifier: pid_t = 0
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    let code = posix_spawn(&identifier, program, &actions, nil, words, environ)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    self.identifier = identifier
  }

  /// Waits for the end of the process.
  ///
  /// - Returns: the exit code, or -1 if a signal ended the process, and the maximum resident size in KB.
  func wait() -> (code: Int32, peak: Int) {
    var status: Int32 = 0
    var usage = rusage()
    while wait4(identifier, &status, 0, &usage) < 0, errno == EINTR {}
    #if canImport(Darwin)
      let peak = usage.ru_maxrss / 1024
    #else
      let peak = usage.ru_maxrss
    #endif
    return (status & 0x7F == 0 ? status >> 8 & 0xFF : -1, peak)
  }
}
