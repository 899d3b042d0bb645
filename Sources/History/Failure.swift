import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// Why a command stopped, said to the person who has to do something about it.
package struct Failure: Error, Sendable {
  package private(set) var status: ExitStatus
  fileprivate var problem: String
  private var details: [String]
  /// The details without what to do; nil where that is in none of them.
  private let plainDetails: [String]?
  /// The sentence that says what to do.
  package private(set) var remedy: String?
  package private(set) var place: Place?
  /// The migration that failed, where one did.
  package let migration: FailedMigration?
  /// The problems of all manifests, where it is about manifests.
  package private(set) var diagnostics: [Diagnostic] = []
  /// What SQLite said, when a database or the memory failed under a migration.
  package var fault: DatabaseError?
  /// What SQLite reported, where it did.
  package var cause: DatabaseError?
  /// Finds the rows that stopped a migration.
  package var rows: RowQuery?
  /// The limit that stopped a replay.
  package var exceeded: WorkLimit.Exceeded?

  package struct Place: Sendable, Equatable {
    package let file: String
    package let position: Position?

    package init(file: String, position: Position? = nil) {
      self.file = file
      self.position = position
    }

    /// `file:line:column`.
    package var inWords: String {
      file.visible + (position.map { ":\($0.line):\($0.column)" } ?? "")
    }
  }

  package struct FailedMigration: Sendable, Equatable {
    package let id: String
    /// The operation's number in the manifest, from 1, and its name: `2 move_column`.
    package let operation: String?
    package let statement: String?

    package init(id: String, operation: String? = nil, statement: String? = nil) {
      self.id = id
      self.operation = operation
      self.statement = statement
    }

    /// `in operation 2 move_column of migration 0007_status`
    package var inWords: String {
      "in \(operation.map { "operation \($0) of " } ?? "")migration `\(id)`"
    }
  }

  /// The problem with its remedy in one line, then a line for each subject of it.
  package var lines: [String] { [problem + (remedy.map { ". \($0)" } ?? "")] + details }

  /// The lines without what to do, which names commands: for users of an app.
  package var linesWithoutRemedy: [String] { [problem] + (plainDetails ?? details) }

  /// The problem without its remedy, then a line for each subject of it.
  package var statement: [String] { [problem] + details }

  package var message: String { lines.joined(separator: "\n") }

  /// - Parameters:
  ///   - details: further lines, where the message is a list. A line end in `message` or in one of them comes
  ///     from a name or a value, and ends no line of the output.
  ///   - plainDetails: the details without what to do, where they say that.
  ///   - remedy: the sentence that says what to do, without its full stop.
  package init(
    _ status: ExitStatus, _ message: String, details: [String] = [],
    plainDetails: [String]? = nil, remedy: String? = nil, place: Place? = nil,
    migration: FailedMigration? = nil
  ) {
    self.status = status
    problem = message
    self.details = details
    self.plainDetails = plainDetails
    self.remedy =
      status == .bug
      ? "This is a bug in schemactl. Please report it with this message and the output of "
        + "`schemactl --version`" : remedy
    self.place = place
    self.migration = migration
  }

  /// Problems of files that a person wrote, at the place of the first one.
  package init(_ input: InvalidInput) {
    let first = input.diagnostics.first
    self.init(
      .invalidInput, first?.message ?? "",
      place: first.map { Place(file: $0.file, position: $0.position) })
    diagnostics = input.diagnostics
  }

  /// Somebody has removed the file, or put another one in its place, while schemactl had it open.
  ///
  /// - Parameter last: the last migration that was committed before it was noticed.
  package init(moved database: String, afterApplying last: String? = nil) {
    let state =
      last.map {
        "SQLite rolled back the unfinished migration. The migrations up to \($0) are in the file "
          + "that schemactl opened, not in the current file"
      } ?? "SQLite rolled back every change: both files are unchanged"
    self.init(
      .inputOutput,
      "another process removed or replaced \(database) while schemactl worked on it. \(state)",
      remedy: "Restore the right file, and run the command again")
  }

  /// A file that could not be read or written.
  package init(_ error: FileError) {
    let status: ExitStatus =
      switch error.kind {
      case .missing: .notFound
      case .notAFile: .inputOutput
      case .permission, .other: ExitStatus(systemError: error.systemError)
      }
    self.init(status, error.description, remedy: error.remedy)
  }

  /// A lock that cannot be read: the frozen history is broken, or a newer schemactl wrote it.
  package init(_ error: LockError, file: String) {
    self.init(
      error.kind == .newerVersion ? .invalidInput : .brokenHistory, error.message,
      details: error.details, place: Failure.Place(file: file, position: error.position))
  }

  /// Something SQLite said about a database as a whole.
  package init(_ error: DatabaseError, database: String) {
    let isKeptOut =
      [.readOnly, .cannotOpen].contains(error.code) && !error.saysMoved
      && DatabaseFile.obstacle(database) != nil
    self.init(
      isKeptOut ? .permission : error.status, error.inWords(database),
      remedy: error.remedy(database))
    cause = error
  }

  /// Whether the machine is at fault (memory, disk, a lock, a signal): it says nothing about what was
  /// asked.
  package var isOfEnvironment: Bool {
    [.bug, .inputOutput, .permission, .busy, .interrupted].contains(status)
  }

  /// Whatever stopped a piece of work on `database`.
  package init(of error: any Error, database: String) {
    switch error {
    case let failure as Failure: self = failure
    case let input as InvalidInput: self.init(input)
    case let error as FileError: self.init(error)
    case let error as DatabaseError: self.init(error, database: database)
    case let error as NotALedger: self.init(.brokenHistory, "\(database): \(error)")
    default: self.init(.bug, "\(error)")
    }
  }

  /// What to do about a database that is damaged.
  package static func restoring(_ database: String) -> String {
    "Restore it from a backup: \(restoreCommand(database))`"
  }

  /// For a backup, which cannot be restored from a backup.
  package var withoutRemedy: Failure {
    var failure = self
    failure.remedy = nil
    return failure
  }

  /// - Parameter detail: a further line of the message.
  package func adding(_ detail: String?) -> Failure {
    var failure = self
    failure.details += detail.map { [$0] } ?? []
    return failure
  }

  /// The failure with another sentence, and what to do about that.
  package func saying(_ sentence: String, remedy: String? = nil) -> Failure {
    var failure = self
    failure.problem += ". " + sentence
    failure.remedy = [self.remedy, remedy].compactMap(\.self).reduce(nil) { all, next in
      all.map { "\($0). \(next)" } ?? next
    }
    return failure
  }

  /// For an operation that is right for the history, and not for a database that differs from it.
  package var ofDrift: Failure {
    var failure = self
    if status == .invalidInput { failure.status = .finding }
    return failure
  }

  /// The failure at another place.
  package func placed(at place: Place) -> Failure {
    var failure = self
    failure.place = place
    return failure
  }

  /// A fault of the database tells which one it is.
  package func naming(_ database: String) -> Failure {
    guard let fault else { return self }
    var failure = Failure(
      status, fault.inWords(database), remedy: fault.remedy(database), place: place,
      migration: migration)
    failure.cause = fault
    return failure
  }
}

extension DatabaseError {
  /// Also where SQLite tells of a file beside the database, the index of a log for one, only that it
  /// could not be written.
  package var isFullDisk: Bool {
    code == .full || (code == .ioError && [ENOSPC, EDQUOT].contains(systemError))
  }

  fileprivate func remedy(_ database: String) -> String? {
    switch code {
    case .notADatabase:
      "Check the path; if the file was a database, restore it from a backup: "
        + "\(restoreCommand(database))`"
    case .corrupt: Failure.restoring(database)
    case .readOnly where saysMoved: Failure(moved: database).remedy
    case .busy, .locked, .lockingProtocol:
      "Close it there and try again, or wait longer with `--timeout`"
    default: nil
    }
  }

  /// What has happened to a database.
  fileprivate func inWords(_ database: String) -> String {
    switch code {
    case .busy, .locked, .lockingProtocol: inUse(database)
    case .notADatabase:
      "\(database) is not an SQLite database, or it is encrypted"
    case .corrupt: "\(database) is damaged (\(message))"
    case .readOnly where saysMoved: Failure(moved: database).problem
    case .readOnly:
      "cannot write \(database): "
        + (DatabaseFile.obstacle(database)
          ?? "\(message). Check the permissions of the file and its folder, and the free space")
    case .cannotOpen: cannotBeOpened(database)
    case _ where isFullDisk:
      "the disk is full: \(database) needs more space. Free some space, and try again"
    case .outOfMemory:
      "SQLite ran out of memory with \(database). Free some memory, or raise the limit of this "
        + "process, and try again"
    case .ioError:
      "reading or writing \(database) failed (\(message), SQLite error \(extendedCode)). Check "
        + "the disk and its file system before you try again"
    case .interrupted: "interrupted"
    default: "\(database): \(message) (SQLite error \(extendedCode))"
    }
  }

  private func cannotBeOpened(_ database: String) -> String {
    if let refusal = DatabaseFile.unreadability(database) {
      return
        "cannot read \(database): \(refusal). Check the permissions of the file and its folder"
    }
    if let obstacle = DatabaseFile.obstacle(database) {
      return "cannot open \(database): \(obstacle). In WAL mode a reader also writes files beside "
        + "the database: copy it with its `-wal` file to a writable folder"
    }
    let reason =
      status == .permission
      ? String(cString: strerror(systemError)) : "\(message) (SQLite error \(extendedCode))"
    return "cannot open \(database): \(reason)"
  }

  private func inUse(_ database: String) -> String {
    "\(database) is in use by another process (\(message))"
  }
}

extension Failure {
  /// What was written may be there or not.
  package init(uncertain ids: [String], after failure: Failure) {
    let ends = [ids.first, ids.last].compactMap { $0 }
    let what = ids.count == 1 ? ids[0] : ends.joined(separator: " to ")
    self = failure.saying(
      "It is unknown whether \(what) was applied",
      remedy: "`schemactl status` shows the result, and `schemactl migrate` continues")
  }
}

/// The beginning of a command to type, without the backtick at its end.
package func restoreCommand(_ database: String) -> String {
  "`schemactl restore --database \(shellQuoted(database))"
}

/// The result of a command; the raw value is the exit code of the process.
package enum ExitStatus: Int32, Sendable, CaseIterable {
  case success = 0
  /// The check found something: a lint error, drift, pending migrations under `--check`.
  case finding = 1
  case brokenHistory = 2
  case migrationFailed = 3
  /// The database has run migrations that the history does not know.
  case databaseAhead = 4
  case usage = 64
  /// A manifest, the configuration or a requirement is wrong.
  case invalidInput = 65
  case notFound = 66
  case bug = 70
  case inputOutput = 74
  case busy = 75
  case permission = 77
  case interrupted = 130

  /// When several apply, the first of these is the one.
  private static let precedence: [ExitStatus] = [
    .interrupted, .bug, .inputOutput, .permission, .busy, .notFound, .invalidInput, .usage,
    .databaseAhead, .brokenHistory, .migrationFailed, .finding, .success,
  ]

  /// Whether it is a result of a command, as opposed to a reason why the command could not work.
  package var isResult: Bool { rawValue < ExitStatus.usage.rawValue }

  package static func worst(_ statuses: some Sequence<ExitStatus>) -> ExitStatus {
    let all = Set(statuses)
    return precedence.first { all.contains($0) } ?? .success
  }
}

extension DatabaseError {
  /// What the error means where no migration is to blame for it.
  package var status: ExitStatus {
    if exceeded != nil { return .migrationFailed }
    return switch code {
    case .busy, .locked, .lockingProtocol: .busy
    case .readOnly where saysMoved: .inputOutput
    case .permission, .readOnly: .permission
    case .interrupted: .interrupted
    case .cannotOpen: ExitStatus(systemError: systemError)
    case .ioError, .full, .corrupt, .notADatabase, .outOfMemory: .inputOutput
    default: .bug
    }
  }
}
