import Foundation
import SchemaFaultyFileSystem
import SchemaHistory
import SchemaReplay
import SchemaSQLite
import SchemaTestSupport

/// Something that schemactl does with a database and a history, to be done again and again from one beginning
/// while faults are made.
final class Deed {
  /// How it ended, as far as the user was told.
  struct Ending: Equatable {
    var status = ExitStatus.success
    var message = ""
    /// What it says of the database and the history when it succeeds.
    var answer: [String] = []
    /// The migrations that it says are applied now.
    var applied: [String] = []
  }

  /// `migrate, rebuild`.
  let name: String
  let sandbox: Sandbox
  /// What the files hold before.
  private let files: [String: Data]
  private let act: (Deed) throws -> Ending
  /// Whether it says which migrations it has applied.
  private let tellsApplied: Bool
  /// Whether it opens the database, or only the history.
  let usesFiles: Bool
  /// A file that may be there or not, when it is whole.
  private let optional: String?
  /// Whether it can be done once more after it was done.
  private let repeats: Bool
  private let isPartOf: (FolderContents, Ending) -> Bool
  let project: Project
  /// The states that the folder may be left in, from the one before to the last one after.
  private(set) var boundaries: [FolderContents] = []
  /// How it ends when nothing goes wrong.
  private(set) var ending = Ending()
  /// What the optional file holds.
  private var whole: Data?

  private var contents: FolderContents {
    get throws { try FolderContents(of: sandbox, except: optional) }
  }

  /// - Parameters:
  ///   - sandbox: with the history, and the database as it is before.
  ///   - stops: the migrations between which the database may be left.
  ///   - steps: what it does before that, one after another.
  ///   - isPartOf: whether it may have been broken off so, where it tells of it.
  ///   - optional: a file that it makes on its way, and that does no harm.
  init(
    _ name: String, _ sandbox: Sandbox, stops: [String] = [],
    steps: [(Sandbox) throws -> Void] = [], usesFiles: Bool = true, optional: String? = nil,
    repeats: Bool = true, isPartOf: @escaping (FolderContents, Ending) -> Bool = { _, _ in false },
    act: @escaping (Deed) throws -> Ending
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

  /// Puts the folder back to where it was before.
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

  // MARK: Looking afterwards

  /// What must never be: nil when the deed ended as it may when `isFault` made it fail.
  ///
  /// - Parameters:
  ///   - keepsJournal: the journal's file stays when no transaction is open.
  ///   - unremoved: whether a file stays because it could not be removed.
  func problem(
    of ending: Ending, keepsJournal: Bool = false,
    unremoved: (String) -> Bool = { _ in false }, isFault: (Ending) -> Bool
  ) throws -> String? {
    if ending != self.ending, !isFault(ending) {
      return "ended with \(ending.status): \(ending.message) \(ending.answer)"
    }
    return try FaultyFileSystem.shared.withoutWaiting {
      try look(ending, keepsJournal, unremoved)
    }
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
    // It says so where the last commit may last or not.
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

  /// Files that have no business in the folder; a journal has, until SQLite has read it.
  private func strangers(
    _ ending: Ending, _ expected: [String], _ unremoved: (String) -> Bool
  ) throws -> String? {
    // Whoever reads a database in WAL mode and may not write it leaves its WAL.
    let own =
      ["live.sqlite", "live.sqlite.before-drafts"].flatMap { [$0, $0 + "-wal", $0 + "-shm"] }
      + expected + boundaries.flatMap(\.history.keys)
    let said = ending.message + ending.answer.joined()
    let strangers = try Self.files(of: sandbox).filter { name, data in
      // What a reset replaces is kept, and is told of; only its JSON does not tell.
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

/// All that a database holds, but for times, and the manifests with their lock.
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
    ledger = try (Ledger.rows(in: connection) ?? []).map(\.id)
  }
}

extension FaultyFileSystem {
  /// Nobody cuts the power here, so nothing need be synced.
  func withoutWaiting<Result>(_ body: () throws -> Result) rethrows -> Result {
    install { $0.withoutWaiting }
    defer { uninstall() }
    return try body()
  }
}

extension FileCall {
  /// Lets a call pass, and tells that it was synced.
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
