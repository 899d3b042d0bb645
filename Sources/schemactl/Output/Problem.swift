import SchemaCommandLine
import SchemaHistory
import SchemaManifest
import SchemaSQLText

/// What ended a command, in the one form that reporters know.
struct Problem {
  let status: ExitStatus
  /// The message, and further lines of it.
  let lines: [String]
  let place: Failure.Place?
  let migration: Failure.FailedMigration?
  /// Every problem of every manifest, where manifests are the problem.
  let diagnostics: [Diagnostic]

  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self.init(failure)
    case let input as InvalidInput: self.init(input)
    case let error as UsageError:
      self.init(Failure(.usage, error.sentence, details: [error.advice]))
    default: self.init(Failure(.bug, "\(error)"))
    }
  }

  var message: String { lines.joined(separator: "\n") }

  init(_ failure: Failure) { self.init(failure, lines: failure.lines) }

  /// - Parameter message: what to say instead of the failure's own message.
  init(_ failure: Failure, message: String) { self.init(failure, lines: [message]) }

  private init(_ failure: Failure, lines: [String]) {
    let advice =
      "This is a bug in schemactl: please report it, with this message and the output of "
      + "`schemactl --version`"
    status = failure.status
    self.lines = lines + (failure.status == .bug ? [advice] : [])
    place = failure.place
    migration = failure.migration
    diagnostics = []
  }

  private init(_ input: InvalidInput) {
    status = .invalidInput
    lines = [input.diagnostics.first?.message ?? ""]
    place = input.diagnostics.first.map { Failure.Place(file: $0.file, position: $0.position) }
    migration = nil
    diagnostics = input.diagnostics
  }
}
