import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The reason why a command stopped, written for the person who must act on it.
package struct Failure: Error, Sendable {
  package private(set) var status: ExitStatus
  fileprivate var problem: String
  private var details: [String]
  /// The details without advice; nil if the details contain none.
  private let plainDetails: [String]?
  /// The advice: a sentence without its full stop.
  package private(set) var remedy: String?
  package private(set) var place: Place?
  /// The migration that failed, if the failure is about one.
  package private(set) var migration: FailedMigration?
  /// The problems of all input files, if the failure is about invalid files.
  package private(set) var diagnostics: [Diagnostic] = []
  /// SQLite's error, if the database or the memory failed during a migration.
  package var fault: DatabaseError?
  /// SQLite's error, if SQLite reported one.
  package var cause: DatabaseError?
  /// The query for the rows that stopped a migration.
  package var rows: RowQuery?

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

    /// The place in a sentence.
    package var inWords: String {
      "in \(operation.map { "operation `\($0)` of " } ?? "")migration `\(id)`"
    }
  }

  /// One line with the problem and its remedy, then one line for each detail.
  package var lines: [String] { [problem + (remedy.map { ". \($0)" } ?? "")] + details }

  /// The lines without the remedy, which names commands. For users of an app.
  package var linesWithoutRemedy: [String] { [problem] + (plainDetails ?? details) }

  /// One line with the problem, then one line for each detail.
  package var statement: [String] { [problem] + details }

  package var message: String { lines.joined(separator: "\n") }

  /// - Parameters:
  ///   - details: the further lines, if the message is a list. A line break inside `message` or a detail
  ///     comes from a name or a value. It does not end a line of the output.
  ///   - plainDetails: the details without advice, if `details` contain advice.
  ///   - remedy: the advice, a sentence without its full stop.
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

  /// A failure (65) about invalid files that a person wrote, at the place of the first problem.
  package init(_ input: InvalidInput) {
    let first = input.diagnostics.first
    self.init(
      .invalidInput, first?.message ?? "",
      place: first.map { Place(file: $0.file, position: $0.position) })
    diagnostics = input.diagnostics
  }

  /// A failure because another process removed or replaced the database file while schemactl had it open.
  ///
  /// - Parameter last: the last migration that was committed before schemactl noticed this.
  package init(moved path: String?, afterApplying last: String? = nil) {
    let state =
      last.map {
        "SQLite rolled back the unfinished migration. The migrations up to `\($0)` are in the file "
          + "that schemactl opened, not in the current file"
      } ?? "SQLite rolled back every change: both files are unchanged"
    self.init(
      .inputOutput,
      "another process removed or replaced \(named(path)) while schemactl worked on it. \(state)",
      remedy: "Restore the right file, and run the command again")
  }

  /// A failure to read or write a file.
  package init(_ error: FileError) {
    self.init(
      error.isMissing ? .notFound : ExitStatus(systemError: error.systemError), error.description,
      remedy: error.remedy)
  }

  /// A lock that cannot be read. The frozen history is broken (2), or a newer schemactl wrote the lock (65).
  package init(_ error: LockError, file: String) {
    self.init(
      error.isNewerVersion ? .invalidInput : .brokenHistory, error.message,
      details: error.details, place: Failure.Place(file: file, position: error.position))
  }

  /// An error of SQLite that concerns the whole database.
  ///
  /// - Parameter path: nil if it is unknown.
  package init(_ error: DatabaseError, database path: String?) {
    let isKeptOut =
      [.readOnly, .cannotOpen].contains(error.code) && !error.saysMoved
      && path.flatMap(DatabaseFile.obstacle) != nil
    self.init(
      isKeptOut ? .permission : error.status, error.inWords(path), remedy: error.remedy(path))
    cause = error
  }

  /// An error of a statement in a file of SQL, at the place that SQLite names or at the start of the
  /// statement.
  ///
  /// - Parameter message: replaces SQLite's message.
  package init(
    _ error: DatabaseError, at script: Script, of sql: String, in file: String,
    message: String? = nil
  ) {
    let rest = TokenizedSQL(bytes: Array(sql.utf8.dropFirst(script.range.lowerBound)))
    let start = error.offset ?? rest.significant.first?.range.lowerBound ?? 0
    self.init(
      error.isFault ? error.status : .invalidInput, message ?? error.message,
      place: Place(
        file: file,
        position: SQLSource(file: sql).position(ofByte: script.range.lowerBound + start)))
    cause = error
  }

  /// Whether the environment (memory, disk, a lock, a signal) or a bug of schemactl caused the failure. Such
  /// a failure does not answer the question that the command asked.
  package var isEnvironmental: Bool {
    [.bug, .inputOutput, .permission, .busy, .interrupted].contains(status)
  }

  /// The failure for any error that stopped work on a database.
  ///
  /// - Parameter path: nil if it is unknown.
  package init(of error: any Error, database path: String?) {
    switch error {
    case let failure as Failure: self = failure
    case let input as InvalidInput: self.init(input)
    case let error as FileError: self.init(error)
    case let error as DatabaseError: self.init(error, database: path)
    default: self.init(.bug, "\(error)")
    }
  }

  /// The remedy for a damaged database.
  package static func restoring(_ database: String) -> String {
    "Restore it from a backup: \(restoreCommand(database))`"
  }

  /// The failure without its remedy. For a backup, which cannot be restored from a backup.
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

  /// - Parameter remedy: replaces the failure's own remedy.
  package func advising(_ remedy: String) -> Failure {
    var failure = self
    failure.remedy = remedy
    return failure
  }

  /// The failure with another sentence and the remedy for it.
  package func saying(_ sentence: String, remedy: String? = nil) -> Failure {
    var failure = self
    failure.problem += ". " + sentence
    failure.remedy = [self.remedy, remedy].compactMap(\.self).reduce(nil) { all, next in
      all.map { "\($0). \(next)" } ?? next
    }
    return failure
  }

  /// The failure of an operation that is valid in the history, on a database that differs from the history:
  /// status 65 becomes 1.
  package var asDrift: Failure {
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

  /// The failure with the name of the database, if the database itself failed (``fault``).
  package func naming(_ database: String) -> Failure {
    guard let fault else { return self }
    var failure = Failure(fault, database: database)
    failure.place = place
    failure.migration = migration
    return failure
  }
}

/// Runs work on a database or a file, and turns any error into a failure.
///
/// - Parameter path: nil if it is unknown.
package func failing<Result>(
  on path: String? = nil, _ body: () throws -> Result
) throws(Failure) -> Result {
  do { return try body() } catch { throw Failure(of: error, database: path) }
}

extension DatabaseError {
  /// Whether the disk is full. For a file beside the database, such as the WAL index, SQLite reports only a
  /// failed write, so the system error decides.
  package var isFullDisk: Bool {
    code == .full || (code == .ioError && [ENOSPC, EDQUOT].contains(systemError))
  }

  fileprivate func remedy(_ path: String?) -> String? {
    switch code {
    case .notADatabase:
      path.map {
        "Check the path; if the file was a database, restore it from a backup: "
          + "\(restoreCommand($0))`"
      }
    case .corrupt: path.map(Failure.restoring)
    case .readOnly where saysMoved: Failure(moved: path).remedy
    case .busy, .locked, .lockingProtocol:
      "Close it there and try again, or wait longer with `--timeout`"
    default: nil
    }
  }

  /// The error as a sentence about the database.
  fileprivate func inWords(_ path: String?) -> String {
    let database = named(path)
    return switch code {
    case .busy, .locked, .lockingProtocol:
      "\(database) is in use by another process (\(message))"
    case .notADatabase: "\(database) is not an SQLite database, or it is encrypted"
    case .corrupt: "\(database) is damaged (\(message))"
    case .readOnly where saysMoved: Failure(moved: path).problem
    case .readOnly:
      "cannot write \(database): "
        + (path.flatMap(DatabaseFile.obstacle)
          ?? "\(message). Check the permissions of the file and its folder, and the free space")
    case .cannotOpen: cannotBeOpened(path)
    case _ where isFullDisk:
      "the disk is full: \(database) needs more space. Free some space, and try again"
    case .outOfMemory:
      "SQLite ran out of memory with \(database). Free some memory, or raise the limit of this "
        + "process, and try again"
    case .ioError:
      "reading or writing \(database) failed (\(message), SQLite error \(extendedCode)). Check "
        + "the disk and its file system before you try again"
    case .interrupted: "interrupted"
    default: "\(path ?? "the database"): \(message) (SQLite error \(extendedCode))"
    }
  }

  private func cannotBeOpened(_ path: String?) -> String {
    if let path, let refusal = DatabaseFile.unreadability(path) {
      return
        "cannot read `\(path)`: \(refusal). Check the permissions of the file and its folder"
    }
    if let path, let obstacle = DatabaseFile.obstacle(path) {
      return "cannot open `\(path)`: \(obstacle)"
    }
    let reason =
      status == .permission
      ? String(cString: strerror(systemError)) : "\(message) (SQLite error \(extendedCode))"
    return "cannot open \(named(path)): \(reason)"
  }
}

/// A database in a sentence.
///
/// - Parameter path: nil if it is unknown.
private func named(_ path: String?) -> String { path.map { "`\($0)`" } ?? "the database" }

extension Failure {
  /// A failure after which it is unknown whether the migrations `ids` were committed.
  package init(uncertain ids: [String], after failure: Failure) {
    let ends = (ids.prefix(1) + ids.dropFirst().suffix(1)).map { "`\($0)`" }
    self = failure.saying(
      "It is unknown whether \(ends.joined(separator: " to ")) was applied",
      remedy: "`schemactl status` shows the result, and `schemactl migrate` continues")
  }
}

/// The `restore` command with its opening backtick. The caller can append arguments and adds the closing one.
package func restoreCommand(_ database: String) -> String {
  "`schemactl restore --database \(shellQuoted(database))"
}

/// The result of a command; the raw value is the exit code of the process.
package enum ExitStatus: Int32, Sendable, CaseIterable {
  case success = 0
  /// The check found a problem: a lint error, drift, pending migrations under `--check`.
  case finding = 1
  case brokenHistory = 2
  case migrationFailed = 3
  /// The database has run migrations that the history does not know.
  case databaseAhead = 4
  case usage = 64
  /// A manifest, the configuration or a requirement is invalid.
  case invalidInput = 65
  case notFound = 66
  case bug = 70
  case inputOutput = 74
  case busy = 75
  case permission = 77
  case interrupted = 130

  /// The order of precedence when several statuses apply.
  private static let precedence: [ExitStatus] = [
    .interrupted, .bug, .inputOutput, .permission, .busy, .notFound, .invalidInput, .usage,
    .databaseAhead, .brokenHistory, .migrationFailed, .finding, .success,
  ]

  /// Whether the status is a result of the command. All others are reasons why the command could not work.
  package var isResult: Bool { rawValue < ExitStatus.usage.rawValue }

  package static func worst(_ statuses: some Sequence<ExitStatus>) -> ExitStatus {
    let all = Set(statuses)
    return precedence.first { all.contains($0) } ?? .success
  }
}

extension DatabaseError {
  /// The status for an error that no migration caused.
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
