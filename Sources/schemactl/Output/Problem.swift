import SchemaCommandLine
import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaSQLText

/// A failure that ended a command, in the form that all reporters use.
struct Problem {
  let status: ExitStatus
  /// The message without the remedy, followed by its detail lines.
  let statement: [String]
  /// The remedy.
  let help: String?
  let place: Failure.Place?
  let migration: Failure.FailedMigration?
  /// All problems of all manifests, if the failure is about manifests.
  let diagnostics: [Diagnostic]

  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self.init(failure)
    case let error as FileError: self.init(Failure(error))
    case let input as InvalidInput: self.init(input)
    case let error as UsageError:
      self.init(
        Failure(
          .usage, error.message,
          remedy: [error.hint, error.advice].compactMap { $0 }.joined(separator: " ")))
    default: self.init(Failure(.bug, "\(error)"))
    }
  }

  /// The message with its remedy on one line, then one line for each subject.
  var lines: [String] {
    guard let help, let first = statement.first else { return statement }
    return ["\(first). \(help)"] + statement.dropFirst()
  }

  var message: String { lines.joined(separator: "\n") }

  init(_ failure: Failure) { self.init(failure, message: nil) }

  /// - Parameter message: replaces the failure's own message.
  init(_ failure: Failure, message: String?) {
    status = failure.status
    statement = message.map { [$0] } ?? failure.statement
    help =
      status == .bug
      ? "This is a bug in schemactl. Please report it with this message and the output of "
        + "`schemactl --version`" : message == nil ? failure.remedy : nil
    place = failure.place
    migration = failure.migration
    diagnostics = []
  }

  private init(_ input: InvalidInput) {
    status = .invalidInput
    statement = [input.diagnostics.first?.message ?? ""]
    help = nil
    place = input.diagnostics.first.map { Failure.Place(file: $0.file, position: $0.position) }
    migration = nil
    diagnostics = input.diagnostics
  }
}
