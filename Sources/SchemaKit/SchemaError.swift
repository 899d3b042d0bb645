import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// Why a database could not be migrated, or a history could not be read.
public struct SchemaError: Error, Sendable, CustomStringConvertible {
  /// What kind of problem it is. The raw values are the exit codes of the command `schemactl`.
  public enum Code: Int, Sendable, CaseIterable {
    /// The database differs from its history, or is not one that schemactl has made.
    case drift = 1
    /// A migration that has shipped is not what shipped any more.
    case brokenHistory = 2
    /// A migration failed; the database is as it was before that migration.
    case migrationFailed = 3
    /// A newer version of the app has migrated the database.
    case databaseAhead = 4
    /// A parameter makes no sense: the id of a migration that there is not.
    case usage = 64
    /// A manifest is wrong, or needs what this program does not have.
    case invalidInput = 65
    /// A file or folder that was named is not there.
    case notFound = 66
    /// A bug in schemactl.
    case bug = 70
    /// Reading or writing failed: a full disk, a damaged or encrypted file.
    case inputOutput = 74
    /// Another connection holds a lock; try again.
    case busy = 75
    /// The file may not be read or written.
    case permission = 77
    /// Whoever called asked it to stop.
    case interrupted = 130
  }

  /// What kind of problem it is.
  public let code: Code
  /// What is wrong and what to do, for a log or a developer.
  public var message: String { lines.joined(separator: "\n") }
  private let lines: [String]
  /// The manifest that the problem stands in, where there is one.
  public let file: String?
  /// The line in `file`, counted from 1.
  public let line: Int?
  /// The column in the line, in Unicode code points, counted from 1.
  public let column: Int?
  /// The migration that failed, where one did.
  public let migration: String?

  /// `file:line:column: message`.
  ///
  /// What would drive a terminal or forge a line of a log, in names and values, is escaped; `message`
  /// holds it as it is.
  public var description: String {
    let place = [file?.visible, line.map(String.init), column.map(String.init)].compactMap(\.self)
    let message = lines.map(\.visible).joined(separator: "\n")
    return place.isEmpty ? message : place.joined(separator: ":") + ": " + message
  }

  init(_ failure: Failure) {
    // Success is never thrown.
    code = Code(rawValue: Int(failure.status.rawValue)) ?? .bug
    lines = failure.lines
    file = failure.place?.file
    line = failure.place?.position?.line
    column = failure.place?.position?.column
    migration = failure.migration?.id
  }

  private init(_ input: InvalidInput) {
    let first = input.diagnostics.first
    code = .invalidInput
    let others = input.diagnostics.dropFirst().map(\.description)
    lines = [first?.message ?? ""] + others
    file = first?.file
    line = first?.position?.line
    column = first?.position?.column
    migration = nil
  }

  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self.init(failure)
    case let input as InvalidInput: self.init(input)
    default: self.init(Failure(.bug, "\(error)"))
    }
  }
}
