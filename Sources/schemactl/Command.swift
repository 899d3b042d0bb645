import SchemaCommandLine
import SchemaHistory
import SchemaSQLText

/// A command: how it is called, and what it does.
protocol Command: SendableMetatype {
  static var name: String { get }
  static var declaration: CommandDeclaration { get }
  /// Whether it stops by itself when it is asked to; a command that writes nothing which could be
  /// left half done ends at once.
  static func heedsInterruptions(_ invocation: Invocation) -> Bool
  /// Whether SQLite's notes about unfinished transactions are reported.
  static var observesRollbacks: Bool { get }
  static func run(_ session: Session) throws -> ExitStatus
}

extension Command {
  static var observesRollbacks: Bool { true }
  static func heedsInterruptions(_ invocation: Invocation) -> Bool { false }
}

/// What a command has at hand while it runs.
struct Session {
  let invocation: Invocation
  let output: Output
  let reporter: any Reporter
  let interruption: Interruption
  let writing: WriteGate

  func report(_ event: Event) { reporter.report(event) }

  /// A terminal gets SQL with what drives it escaped, and a document has an escape of its own; a
  /// program gets it as it is.
  var printsRawSQL: Bool {
    invocation.text("format") != OutputFormat.json.rawValue && !output.isTerminal
  }

  /// What `--base` says; nil without it.
  var base: String? {
    get throws {
      guard let base = invocation.text("base") else { return nil }
      guard !base.isEmpty, !base.hasPrefix("-") else {
        throw usageError(
          "this cannot be a revision: '\(base.visible)'",
          hint: "Name a branch, a tag or a commit, like 'origin/main'.")
      }
      return base
    }
  }

  func usageError(_ message: String, hint: String?) -> UsageError {
    UsageError(
      program: CommandLineProgram.schemactl.name, message: message,
      commandPath: invocation.commandPath, hint: hint)
  }
}

/// A failure below 64 is a command's result like any other; from 64 up it takes its place.
func attempt<Success>(_ body: () throws -> Success) throws -> Result<Success, Failure> {
  do {
    return .success(try body())
  } catch let failure as Failure where failure.status.rawValue < ExitStatus.usage.rawValue {
    return .failure(failure)
  }
}

extension Result where Failure == SchemaHistory.Failure {
  var success: Success? { try? get() }

  var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
