import SchemaCommandLine
import SchemaHistory
import SchemaManifest
import SchemaPlatform
import SchemaYAML

extension Failure {
  /// The failure for an error that ended a command.
  init(of error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as FileError: self.init(error)
    case let input as InvalidInput: self.init(input)
    case let error as HistoryReadError: self.init(of: error.problem)
    case let error as UsageError:
      self.init(
        .usage, error.message,
        remedy: [error.hint, error.advice].compactMap { $0 }.joined(separator: " "))
    default: self.init(.bug, "\(error)")
    }
  }

  /// Whether it is a result of the command, as opposed to a reason why the command could not work.
  var isResult: Bool { status.rawValue < ExitStatus.usage.rawValue }
}
