import SchemaCommandLine
import SchemaHistory
import SchemaLint
import SchemaPlatform
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

/// A command: its declaration and its implementation.
protocol Command: SendableMetatype {
  static var declaration: CommandDeclaration { get }
  /// Whether the command stops by itself on an interruption. A command that cannot leave a write
  /// half done is ended at once instead.
  static func heedsInterruptions(_ invocation: Invocation) -> Bool
  /// Whether SQLite's log messages about rolled back transactions are reported.
  static var observesRollbacks: Bool { get }
  static func run(_ session: Session) throws -> ExitStatus
}

extension Command {
  static var name: String { declaration.name }
  static var observesRollbacks: Bool { true }
  static func heedsInterruptions(_ invocation: Invocation) -> Bool { false }
}

/// The environment of a running command.
struct Session {
  let invocation: Invocation
  let output: Output
  let reporter: any Reporter
  let interruption: Interruption
  let writing: Gate

  func report(_ event: Event) { reporter.report(event) }

  /// Whether SQL is printed unchanged. A terminal gets SQL with its control characters escaped, and
  /// structured formats have their own escapes; other programs get the original text.
  var printsRawSQL: Bool {
    format != .json && !output.isTerminal
  }

  var format: OutputFormat {
    invocation.text("format").flatMap(OutputFormat.init) ?? .text
  }

  var profile: Profile? { invocation.text("profile").flatMap(Profile.init) }

  /// A suggested command line, with the options of this call that select the project and the
  /// database.
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

  /// The user's answer at the terminal; nil if input is not a terminal.
  func ask(_ question: String) -> String? {
    guard isatty(0) == 1, isatty(2) == 1 else { return nil }
    output.flush()
    _ = writeAll(Array(question.utf8), to: 2)
    return readLine() ?? ""
  }

  /// What `--reason` says: one line, because output shows it on one.
  ///
  /// - Parameter subject: what needs it.
  func reason(for subject: String, hint: String) throws -> String {
    let reason = invocation.text("reason") ?? ""
    guard !reason.allSatisfy(\.isWhitespace), !reason.contains(where: \.isNewline) else {
      throw usageError("\(subject) needs a --reason of one line", hint: hint)
    }
    return reason
  }

  /// The value of `--release`; nil without it.
  var release: String? {
    get throws {
      guard let release = invocation.text("release"), !isReleaseName(release) else {
        return invocation.text("release")
      }
      throw usageError(
        "'\(release.visible)' is not a valid release name",
        hint: "Use 1 to 64 ASCII letters, digits, '.', '_', '+' or '-'.")
    }
  }

  /// The value of `--base`; nil without it.
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
