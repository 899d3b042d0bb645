import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

/// One run of the program, from its arguments to its exit status.
struct Tool {
  private let arguments: [String]
  private let gate = Gate()
  private let writing = Gate()

  init(arguments: [String]) {
    self.arguments = arguments
  }

  func run() -> ExitStatus {
    openStandardStreams()
    ignoreSignalsOfWriting()
    let output = Output(1, gate: gate)
    let errors = Output(2, gate: gate)
    var reporter = format.reporter(output: output, errors: errors, .normal)
    var status: ExitStatus
    var name: String?
    do {
      switch try CommandLineProgram.schemactl.parse(arguments, environment: { Environment[$0] }) {
      case .help(let text), .version(let text):
        output.write(text)
        status = .success
      case .run(let invocation):
        let command = try command(of: invocation)
        name = command.name
        reporter = format.reporter(
          output: output, errors: errors,
          invocation.flag("quiet") ? .quiet : invocation.flag("verbose") ? .verbose : .normal)
        stopMemoryStatistics()
        if command.observesRollbacks {
          observeRollbacks { [reporter] in
            reporter.report(
              .note("SQLite rolled back an unfinished transaction of another process: \($0)"))
          }
        }
        let interruption = Interruption()
        takeSignals(for: interruption, isGraceful: command.heedsInterruptions(invocation))
        let session = Session(
          invocation: invocation, output: output, reporter: reporter, interruption: interruption,
          writing: writing)
        status = try command.run(session)
      }
    } catch {
      let failure = Failure(of: error)
      reporter.report(.stopped(failure, command: name))
      status = failure.status
    }
    return finish(status, output, errors)
  }

  private func command(of invocation: Invocation) throws -> any Command.Type {
    let name = invocation.commandPath.first
    guard let command = CommandLineProgram.allCommands.first(where: { $0.name == name })
    else { throw Failure(.bug, "the command \(name ?? "") is declared but missing") }
    return command
  }

  private var format: OutputFormat { OutputFormat(askedForIn: arguments) }

  private func takeSignals(for interruption: Interruption, isGraceful: Bool) {
    Signals(interruption: interruption, isGraceful: isGraceful, writing: writing) {
      [gate, asksForJSON = format == .json] in
      // Do not interrupt a document that is being written.
      gate.ifOpen {
        let bytes =
          asksForJSON
          ? (["error": Failure(.interrupted, "interrupted").error] as JSON).line
          : Array("\nschemactl: interrupted\n".utf8)
        _ = writeAll(bytes, to: asksForJSON ? 1 : 2)
      }
    }.take()
  }

  private func finish(_ status: ExitStatus, _ output: Output, _ errors: Output) -> ExitStatus {
    output.flush()
    guard let problem = output.problem else { return status }
    errors.write(
      "schemactl: error: cannot write standard output: \(problem). Completed work is not undone\n"
        + "help: `schemactl status` shows the state of a database\n")
    errors.flush()
    return ExitStatus.worst([status, .inputOutput])
  }
}
