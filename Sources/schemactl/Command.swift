import SchemaCommandLine
import SchemaHistory
import SchemaLint
import SchemaPlatform
import SchemaSQLText
import SchemaTimeline

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
    format != .json && !output.isTerminal
  }

  var format: OutputFormat {
    invocation.text("format").flatMap(OutputFormat.init) ?? .text
  }

  var profile: Profile? { invocation.text("profile").flatMap(Profile.init) }

  /// A command to type next, with the options of this call that say which project and database it is
  /// about.
  func command(_ name: String, _ words: [String], database: Bool = true) -> String {
    var all = ["schemactl", name] + words
    for option in ["migrations", "config"] + (database ? ["database"] : [])
    where invocation.isOnCommandLine(option) {
      all += invocation.texts(option).flatMap { ["--\(option)", $0] }
    }
    return all.map(shellQuoted).joined(separator: " ")
  }

  func command(_ name: String, _ words: String..., database: Bool = true) -> String {
    command(name, words, database: database)
  }

  /// The answer of somebody at a terminal; nil where nobody can be asked.
  func ask(_ question: String) -> String? {
    guard isatty(0) == 1, isatty(2) == 1 else { return nil }
    output.flush()
    _ = writeAll(Array(question.utf8), to: 2)
    return readLine() ?? ""
  }

  /// What `--base` says; nil without it.
  var base: String? {
    get throws {
      guard let base = invocation.text("base") else { return nil }
      guard !base.isEmpty, !base.hasPrefix("-") else {
        throw usageError(
          "'\(base.visible)' is not a valid revision",
          hint: "Name a branch, a tag or a commit, for example 'origin/main'.")
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

extension Result where Failure == SchemaHistory.Failure {
  var success: Success? { try? get() }
}
