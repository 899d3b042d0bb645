import Foundation
import SchemaFaultyFileSystem
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLite
import SchemaTestSupport

/// A repeatable action of schemactl on a database and a history. It runs from the same initial state with
/// different faults.
final class UserAction {
  /// The result that the action reports to the user.
  struct Ending: Equatable {
    var status = ExitStatus.success
    var message = ""
    /// The state of the database and the history that the action reports after success.
    var answer: [String] = []
    /// The migrations that the action reports as applied.
    var applied: [String] = []
  }

  /// A name such as `migrate, rebuild`.
  let name: String
  let sandbox: Sandbox
  /// The original content of the files.
  private let files: [String: Data]
  private let act: (UserAction) throws -> Ending
  /// Whether the action reports applied migrations.
  private let tellsApplied: Bool
  /// Whether the action opens the database, and not only the history.
  let usesFiles: Bool
  /// The name of a complete file that may exist afterwards.
  private let optional: String?
  /// Whether the action can run again after it succeeded.
  private let repeats: Bool
  private let isPartOf: (FolderContents, Ending) -> Bool
  let project: Project
  /// The allowed states of the folder, from the original state to the final one.
  private(set) var boundaries: [FolderContents] = []
  /// The result without a fault.
  private(set) var ending = Ending()
  /// The content of the optional file.
  private var whole: Data?

  private var contents: FolderContents {
    get throws { try FolderContents(of: sandbox, except: optional) }
  }

  /// Creates an action, and runs it once without a fault.
  ///
  /// - Parameters:
  ///   - sandbox: contains the history and the original database.
  ///   - stops: the migrations after which the action may leave the database.
  ///   - steps: the earlier steps of the action, in order. Each leads to an allowed state.
  ///   - isPartOf: whether the action may have stopped in this state, if it reports this result.
  ///   - optional: the name of a harmless file that the action creates.
  init(
    _ name: String, _ sandbox: Sandbox, stops: [String] = [],
    steps: [(Sandbox) throws -> Void] = [], usesFiles: Bool = true, optional: String? = nil,
    repeats: Bool = true, isPartOf: @escaping (FolderContents, Ending) -> Bool = { _, _ in false },
    act: @escaping (UserAction) throws -> Ending
  ) throws {
    self.name = name
    self.sandbox = sandbox
    self.act = act
    self.usesFiles = usesFiles
    self.optional = optional
    self.repeats = repeats
    self.isPartOf = isPartOf
    tellsApplied = !stops.isEmpty
    project = try sandbox.project()
    files = try Self.files(of: sandbox)
    boundaries = [try contents]
    for step in steps + stops.map({ id in { try $0.migrate(to: id) } }) {
      try step(sandbox)
      boundaries.append(try contents)
    }
    try reset()
    ending = perform()
    let last = try contents
    whole = optional.flatMap { FileManager.default.contents(atPath: sandbox.path($0)) }
    if boundaries.last != last { boundaries.append(last) }
  }

  /// Restores the original folder.
  func reset() throws {
    for name in try Self.files(of: sandbox).keys {
      try FileManager.default.removeItem(atPath: sandbox.path(name))
    }
    for (name, data) in files {
      try data.write(to: URL(fileURLWithPath: sandbox.path(name)))
    }
  }

  func perform() -> Ending {
    do {
      return try act(self)
    } catch let failure as Failure {
      return Ending(status: failure.status, message: failure.message)
    } catch {
      return Ending(status: .bug, message: "\(error)")
    }
  }

  private static func files(of sandbox: Sandbox) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: sandbox.folder)
    where name != "migrations" {
      files[name] = FileManager.default.contents(atPath: sandbox.path(name))
    }
    return files
  }

  // MARK: Checks

  /// Returns the problem with a result; nil if the result is allowed.
  ///
  /// - Parameters:
  ///   - keepsJournal: whether the journal file remains without an open transaction.
  ///   - unremoved: whether a file may remain because it could not be deleted.
  ///   - isFault: whether the fault explains the result.
  func problem(
    of ending: Ending, keepsJournal: Bool = false,
    unremoved: (String) -> Bool = { _ in false }, isFault: (Ending) -> Bool
  ) throws -> String? {
    if ending != self.ending, !isSameFailure(ending), !isFault(ending) {
      return "ended with \(ending.status): \(ending.message) \(ending.answer)"
    }
    return try FaultyFileSystem.shared.withoutWaiting {
      try look(ending, keepsJournal, unremoved)
    }
  }

  /// Whether the action reports the same failure as without a fault, with a difference that a fault can
  /// cause. If the rows that stopped the migration cannot be read, the message does not name them. SQLite may
  /// end the transaction while the migration is rolled back.
  private func isSameFailure(_ ending: Ending) -> Bool {
    guard ending.status != .success, ending.status == self.ending.status else { return false }
    var unnamed = self.ending
    unnamed.message = ending.message
    let isUnnamed =
      ending == unnamed && !ending.message.isEmpty && self.ending.message.hasPrefix(ending.message)
    return isUnnamed || ending.message.contains("SQLite ended the transaction")
  }

  private func look(
    _ ending: Ending, _ keepsJournal: Bool, _ unremoved: (String) -> Bool
  ) throws -> String? {
    if let names = try strangers(ending, ["live.sqlite-journal"], unremoved) {
      return "leaves \(names) after \(ending.message)"
    }
    let state: FolderContents
    do {
      state = try contents
      try requireNoLock()
    } catch {
      return "cannot be opened and locked after \(ending.message): \(error)"
    }
    guard boundaries.contains(state) || isPartOf(state, ending) else {
      return "is between two boundaries after \(ending.status): \(ending.message)\n"
        + "\(state.lines.joined(separator: "\n"))"
    }
    let told = boundaries[0].ledger + ending.applied
    // The message may report that it is unknown whether the last commit is durable.
    let isInDoubt = ending.message.contains("is unknown whether")
    let isTold = state.ledger == told || isInDoubt && state.ledger.starts(with: told)
    guard isTold || !tellsApplied else {
      return "has run \(state.ledger) and says \(told): \(ending.message)"
    }
    guard repeats && !isPartOf(state, ending) || state == boundaries[0] else { return nil }
    let again = perform()
    guard again.status == self.ending.status, try contents == boundaries.last else {
      return "does not go on: \(again.status) \(again.message), after \(ending.message)"
    }
    let names = try strangers(again, keepsJournal ? ["live.sqlite-journal"] : [], unremoved)
    return names.map { "leaves \($0) in the end, after \(ending.message)" }
  }

  /// Returns the unexpected files in the folder. A journal is expected until SQLite has read it.
  private func strangers(
    _ ending: Ending, _ expected: [String], _ unremoved: (String) -> Bool
  ) throws -> String? {
    // A reader without write permission leaves the WAL of a database in WAL mode.
    let own =
      ["live.sqlite", "live.sqlite.before-drafts"].flatMap { [$0, $0 + "-wal", $0 + "-shm"] }
      + expected + boundaries.flatMap(\.history.keys)
    let said = ending.message + ending.answer.joined()
    let strangers = try Self.files(of: sandbox).filter { name, data in
      // A reset sets the replaced database aside and reports its name, except in JSON.
      let isKept =
        name.hasPrefix("live.sqlite.before-reset")
        && (said.contains(name) || self.name == "migrate --reset-drafts")
      return !own.contains(name) && !unremoved(name) && files[name] == nil && !isKept
        && !(name == optional && data == whole)
    }.keys
    return strangers.isEmpty ? nil : strangers.sorted().joined(separator: ", ")
  }

  private func requireNoLock() throws {
    guard FileManager.default.fileExists(atPath: sandbox.database) else { return }
    try Connection(path: sandbox.database, mode: .readWrite).execute("BEGIN EXCLUSIVE; ROLLBACK")
  }
}

/// The content of a database without times, and the manifests with their lock.
struct FolderContents: Equatable {
  let ledger: [String]
  let lines: [String]
  let history: [String: Data]

  init(of sandbox: Sandbox, except optional: String?) throws {
    var history: [String: Data] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: sandbox.folder + "/migrations")
    where ["yaml", "lock", "json"].contains(URL(fileURLWithPath: file).pathExtension) {
      let name = "migrations/" + file
      if name != optional {
        history[name] = FileManager.default.contents(atPath: sandbox.path(name))
      }
    }
    self.history = history
    guard FileManager.default.fileExists(atPath: sandbox.database) else {
      ledger = []
      lines = []
      return
    }
    let connection = try Connection(path: sandbox.database, mode: .readWrite)
    var lines = try connection.rows(
      "SELECT type, name, tbl_name, sql FROM main.sqlite_schema ORDER BY type, name"
    ).map { "\($0)" }
    for table in try connection.rows(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY 1")
    {
      let name = table[0].text ?? ""
      let columns = try connection.rows("SELECT name FROM pragma_table_xinfo(?1)", [table[0]])
        .compactMap(\.first?.text)
        .filter { !["at", "started_at", "milliseconds", "old_row"].contains($0) }
      let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
      lines += try connection.rows("SELECT \(list) FROM main.\"\(name)\" ORDER BY 1")
        .map { "\(name) \($0)" }
    }
    for check in ["integrity_check", "foreign_key_check"] {
      let found = try connection.rows("PRAGMA main.\(check)")
      if !found.isEmpty, found != [["ok"]] { lines.append("\(check): \(found)") }
    }
    self.lines = lines
    ledger = try (Ledger.usual.rows(in: connection) ?? []).map(\.id)
  }
}

extension FaultyFileSystem {
  /// Runs `body` without syncs: power failures are not simulated here.
  func withoutWaiting<Result>(_ body: () throws -> Result) rethrows -> Result {
    install { $0.withoutWaiting }
    defer { uninstall() }
    return try body()
  }
}

extension FileCall {
  /// The decision that skips a sync and executes every other call.
  var withoutWaiting: Decision {
    switch action {
    case .sync: .pretend
    case .delete(syncsFolder: true) where unlink(path) == 0: .pretend
    default: .pass
    }
  }
}

extension Sandbox {
  fileprivate func path(_ name: String) -> String { "\(folder)/\(name)" }
}
