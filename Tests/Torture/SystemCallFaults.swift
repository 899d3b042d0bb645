import Foundation
import SchemaCopies
import SchemaHistory
import SchemaReplay
import SchemaTestPrograms
import SchemaTestSupport

/// Makes system calls of the built program fail, including those of SQLite. Each call fails once, or all
/// calls from it on fail. Only calls for the program's own files fail, not those that load the program.
enum SystemCallFaults: Campaign {
  static let name = "system-call-faults"

  static func run(_ run: Run) throws {
    #if !os(Linux)
      say("not run: only Linux can load the library that makes system calls fail")
    #else
      try Harm.proveSeen(run)
      var left = try FaultyCalls.userActions().flatMap { userAction in
        try trials(of: userAction, in: run.folder)
      }
      .shuffled(using: &run.generator)
      while run.mayContinue, let (userAction, fault) = left.popLast() {
        try run.note(userAction, fault)
      }
      run.proveShown()
    #endif
  }

  /// Returns a trial for every call of an action with every possible error.
  private static func trials(
    of userAction: UserAction, in folder: String
  ) throws -> [(UserAction, FaultyCalls.Fault)] {
    let log = folder + "/calls"
    try userAction.reset()
    FaultyCalls.environment = ["FAULTY_CALLS_LOG=\(log)"]
    _ = userAction.perform()
    FaultyCalls.environment = []
    let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    try FileManager.default.removeItem(atPath: log)
    return calls.enumerated().flatMap { index, call in
      let words = call.split(separator: " ", maxSplits: 1)
      let (name, path) = (String(words[0]), words.count > 1 ? String(words[1]) : "")
      return FaultyCalls.errors(of: name).flatMap { error in
        [false, true].map { isLasting in
          (
            userAction,
            FaultyCalls.Fault(
              number: index + 1, name: name, path: path, error: error, isLasting: isLasting)
          )
        }
      }
    }
  }
}

extension Run {
  fileprivate func note(_ userAction: UserAction, _ fault: FaultyCalls.Fault) throws {
    try userAction.reset()
    FaultyCalls.environment = fault.environment
    let ending = userAction.perform()
    FaultyCalls.environment = []
    let problem = try userAction.problem(
      of: ending, unremoved: fault.leaves, isFault: fault.explains)
    note(
      "\(fault.name) fails, \(fault.isLasting ? "and all after it" : "once")",
      shows: ending != userAction.ending,
      problem: problem.map { "\(userAction.name), \(fault): \($0)" })
  }
}

/// Runs the built program with the library that makes its system calls fail.
enum FaultyCalls {
  /// The settings of the library, as environment variables.
  nonisolated(unsafe) static var environment: [String] = []

  struct Fault: CustomStringConvertible {
    let number: Int
    let name: String
    let path: String
    let error: Int32
    let isLasting: Bool

    var environment: [String] {
      [
        "FAULTY_CALLS_FIRST=\(number)", "FAULTY_CALLS_LAST=\(isLasting ? Int.max : number)",
        "FAULTY_CALLS_ERRNO=\(error)",
      ]
    }

    var description: String {
      "call \(number), \(name) of \(path): \(String(cString: strerror(error)))"
    }

    /// Whether the fault may leave a temporary file because it cannot be deleted. The names contain the
    /// process id, so they differ between runs.
    func leaves(_ name: String) -> Bool {
      (isLasting || self.name == "unlink")
        && [".partial", ".tmp"].contains(where: name.contains)
    }

    /// Whether the fault explains the result of a run.
    func explains(_ ending: UserAction.Ending) -> Bool {
      var statuses: [ExitStatus] = error == EACCES ? [.permission, .inputOutput] : [.inputOutput]
      // SQLite treats a failing lock as a lock of another process. A change that could not be undone blocks
      // the next one.
      if name == "lock" || isLasting { statuses.append(.busy) }
      // If SQLite cannot open a file for writing, it opens it for reading. If it cannot check a
      // file, it assumes that the file was moved and does not write.
      if ["open", "create", "stat", "stat64"].contains(name) { statuses.append(.permission) }
      let names = [
        "live.sqlite", "migrations", "queries", "schemactl.yaml", "replay cannot continue",
      ]
      return statuses.contains(ending.status) && names.contains(where: ending.message.contains)
    }
  }

  static func errors(of call: String) -> [Int32] {
    switch call {
    case "create", "mkdir", "link": [EIO, ENOSPC, EACCES]
    case "write", "pwrite", "pwrite64", "ftruncate", "ftruncate64", "fsync", "fdatasync":
      [EIO, ENOSPC]
    case "open", "rename", "unlink", "opendir": [EIO, EACCES]
    default: [EIO]
    }
  }

  // MARK: Actions

  static func userActions() throws -> [UserAction] {
    try [
      migrate(""), migrate("PRAGMA journal_mode = WAL"), newFile(), firstDraft(), reset(), freeze(),
      firstFreeze(), new(), rebase(),
    ]
  }

  private static func history() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.addSQL("0001_a", "CREATE TABLE a (x); INSERT INTO a VALUES (1)")
    try sandbox.addSQL("0002_b", "CREATE TABLE b (x); UPDATE a SET x = 2")
    return sandbox
  }

  private static func migrate(_ settings: String) throws -> UserAction {
    let sandbox = try history()
    try sandbox.migrate(to: "0001_a")
    try sandbox.run(settings)
    try "database: live.sqlite\ntimeout: 0\n".write(
      toFile: sandbox.folder + "/schemactl.yaml", atomically: true, encoding: .utf8)
    return try UserAction("migrate", sandbox, stops: ["0002_b"]) {
      run("migrate", of: $0, isConfigured: true)
    }
  }

  private static func newFile() throws -> UserAction {
    try UserAction("migrate a new file", history(), stops: ["0001_a", "0002_b"]) {
      run("migrate", of: $0)
    }
  }

  private static func firstDraft() throws -> UserAction {
    let sandbox = try history()
    try sandbox.migrate(to: "0001_a")
    try sandbox.freeze(through: "0001_a")
    return try UserAction("migrate the first draft", sandbox, stops: ["0002_b"]) {
      run("migrate", of: $0)
    }
  }

  private static func reset() throws -> UserAction {
    let sandbox = try history()
    try sandbox.migrate(to: "0001_a")
    try sandbox.freeze(through: "0001_a")
    try sandbox.migrate()
    try sandbox.run("INSERT INTO b VALUES ('late')")
    return try UserAction(
      "migrate --reset-drafts", sandbox,
      steps: [{ _ = try DraftCopy(of: $0.database, $0.project()).restore(timeout: 0) }]
    ) {
      // The command restores the database from its copy and migrates it again.
      var ending = run("migrate", "--reset-drafts", of: $0)
      ending.applied = []
      return ending
    }
  }

  private static func firstFreeze() throws -> UserAction {
    try UserAction("freeze, no lock yet", history()) { run("freeze", of: $0) }
  }

  private static func freeze() throws -> UserAction {
    let sandbox = try history()
    try sandbox.freeze(through: "0001_a")
    return try UserAction("freeze", sandbox) { run("freeze", "--release", "1.1", of: $0) }
  }

  private static func new() throws -> UserAction {
    try UserAction(
      "new", history(), optional: "migrations/.manifest.schema.json", repeats: false
    ) { run("new", "Add something", of: $0) }
  }

  private static func rebase() throws -> UserAction {
    let sandbox = try history()
    try sandbox.addSQL("0003_c", "CREATE TABLE c (x)")
    try sandbox.addSQL("0004_d", "CREATE TABLE d (x)")
    let before = try Set(sandbox.project().migrations.map(\.rawDigest))
    return try UserAction(
      "renumber", sandbox, repeats: false,
      isPartOf: { _, ending in
        ending.message.contains("could not be renamed back")
          && (try? Set(sandbox.project().migrations.map(\.rawDigest))) == before
      }
    ) {
      run("renumber", "0001_a", "0002_b", of: $0)
    }
  }

  private static func run(
    _ words: String..., of userAction: UserAction, isConfigured: Bool = false
  ) -> UserAction.Ending {
    let sandbox = userAction.sandbox
    let database = words[0] == "migrate" ? ["--database", sandbox.database, "--timeout", "0"] : []
    let options =
      ["--format", "json"]
      + (isConfigured ? [] : ["--migrations", sandbox.folder + "/migrations"] + database)
    let program = programs.appendingPathComponent("schemactl").path
    do {
      // For a program with a sanitizer, do not detect leaks. The library cannot be loaded into the separate
      // program that finds the names of leaks, so they could not be distinguished from Swift's own leaks.
      let library = try faultyCallsLibrary.get()
      let variables =
        [
          "LD_PRELOAD=\(library)", "FAULTY_CALLS_FOLDER=\(sandbox.folder)",
          "LSAN_OPTIONS=detect_leaks=0",
        ] + environment
      let run = try SchemaTestPrograms.run(
        "/usr/bin/env",
        ["-C", sandbox.folder, "timeout", "60", "env"] + variables + [program]
          + words + options)
      var ending = UserAction.Ending(
        status: ExitStatus(rawValue: run.code) ?? .bug,
        message: run.code == 0 ? "" : run.errors + run.output)
      if ending.status == .bug { ending.message = "exit \(run.code): " + ending.message }
      let report = try? JSONSerialization.jsonObject(with: Data(run.output.utf8))
      let applied = (report as? [String: Any])?["applied"] as? [[String: Any]] ?? []
      ending.applied = applied.compactMap { $0["id"] as? String }
      return ending
    } catch {
      return UserAction.Ending(status: .bug, message: "\(error)")
    }
  }
}
