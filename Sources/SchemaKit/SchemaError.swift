import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaSQLite

/// The error of a migration that could not run, or of a history that could not be read.
public struct SchemaError: Error, Sendable, CustomStringConvertible {
  /// The kind of problem.
  public enum Code: Int, Sendable, CaseIterable {
    /// The database differs from its history, or has no ledger.
    case drift = 1
    /// A released migration was changed or removed.
    case brokenHistory = 2
    /// A migration failed; the database is in the state before that migration.
    case migrationFailed = 3
    /// A newer version of the app has migrated the database.
    case databaseAhead = 4
    /// A parameter is invalid, such as the id of a missing migration.
    case usage = 64
    /// A manifest or a bundle is invalid, or needs a function that this program does not have.
    case invalidInput = 65
    /// A named file or folder does not exist.
    case notFound = 66
    /// A bug in schemactl.
    case bug = 70
    /// Reading or writing failed: a full disk, a damaged or encrypted file.
    case inputOutput = 74
    /// Another connection holds a lock; try again.
    case busy = 75
    /// The file may not be read or written.
    case permission = 77
    /// The caller stopped it.
    case interrupted = 130
  }

  /// The kind of problem.
  public let code: Code
  /// The problem, for a log or a developer.
  public var message: String { lines.joined(separator: "\n") }
  private let lines: [String]
  /// The manifest with the problem, if a manifest caused it.
  public let file: String?
  /// The line in `file`, counted from 1.
  public let line: Int?
  /// The column in the line, in Unicode code points, counted from 1.
  public let column: Int?
  /// The migration that failed, if one did.
  public let migration: String?
  /// SQLite's extended result code, if SQLite reported the problem (`SQLITE_CONSTRAINT_TRIGGER`).
  public let sqliteCode: Int32?
  /// SQLite's message. For `RAISE(ABORT, '…')` in a trigger, this is the text in the quotes.
  public let sqliteMessage: String?
  /// The migrations that were applied before the problem. They remain applied.
  public let report: MigrationReport?

  /// `file:line:column: message`.
  ///
  /// Control characters in names and values are escaped here, because they could forge a line of a log.
  /// `message` contains them unescaped.
  public var description: String {
    let place = [file?.visible, line.map(String.init), column.map(String.init)].compactMap(\.self)
    let message = lines.map(\.visible).joined(separator: "\n")
    return place.isEmpty ? message : place.joined(separator: ":") + ": " + message
  }

  init(_ failure: Failure, after report: MigrationReport? = nil) {
    // A failure never has the status success.
    code = Code(rawValue: Int(failure.status.rawValue)) ?? .bug
    lines = failure.linesWithoutRemedy + failure.diagnostics.dropFirst().map(\.description)
    file = failure.place?.file
    line = failure.place?.position?.line
    column = failure.place?.position?.column
    migration = failure.migration?.id
    sqliteCode = failure.cause?.extendedCode
    sqliteMessage = failure.cause?.message
    self.report = report
  }

  package init(_ error: any Error) {
    switch error {
    case let error as SchemaError: self = error
    case let refusal as BorrowRefusal: self.init(refusal.failure, after: nil)
    default: self.init(Failure(of: error, database: nil), after: nil)
    }
  }
}

/// Runs `body` and converts its errors to ``SchemaError``.
func reporting<Result>(_ body: () throws -> Result) throws(SchemaError) -> Result {
  do {
    return try body()
  } catch {
    throw SchemaError(error)
  }
}

extension BorrowRefusal {
  fileprivate var failure: Failure {
    switch self {
    case .openTransaction:
      Failure(.usage, "the connection has an open transaction: migrate before it begins one")
    case .runningStatement(let sql):
      Failure(.usage, "a statement of the connection is still running: \(sql)")
    case .readOnly: Failure(.permission, "the connection is read-only")
    case .queryOnly: Failure(.permission, "`PRAGMA query_only` is on: the connection is read-only")
    }
  }
}
