import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

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
