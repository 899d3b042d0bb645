import CommandLineParsing
import ManifestFormat
import Migrating

/// What ended a command, in the one form that reporters know.
struct Problem {
  let status: ExitStatus
  let message: String
  let place: Failure.Place?
  let migration: Failure.FailedMigration?
  /// Every problem of every manifest, where manifests are the problem.
  let diagnostics: [Diagnostic]

  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self.init(failure)
    case let input as InvalidInput: self.init(input)
    case let error as UsageError:
      self.init(Failure(.usage, String(error.description.dropFirst("\(error.program): ".count))))
    default: self.init(Failure(.bug, "\(error)"))
    }
  }

  init(_ failure: Failure) { self.init(failure, message: failure.message) }

  /// - Parameter text: what to say instead of the failure's own message.
  init(_ failure: Failure, message text: String) {
    status = failure.status
    message =
      failure.status == .bug
      ? text
        + "\nThis is a bug in schemactl: please report it, with this message and the output of "
        + "`schemactl --version`"
      : text
    place = failure.place
    migration = failure.migration
    diagnostics = []
  }

  private init(_ input: InvalidInput) {
    status = .invalidInput
    message = input.diagnostics.first?.message ?? ""
    place = input.diagnostics.first.map { Failure.Place(file: $0.file, position: $0.position) }
    migration = nil
    diagnostics = input.diagnostics
  }
}
