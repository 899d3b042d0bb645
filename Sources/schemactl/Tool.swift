import SchemaCommandLine
import SchemaHistory
import SchemaSQLText
import SchemaSQLite

/// One run of the program: from the words of its command line to its exit status.
struct Tool {
  private let arguments: [String]
  private let gate = OutputGate()
  private let writing = WriteGate()

  init(arguments: [String]) {
    self.arguments = arguments
  }

  func run() -> ExitStatus {
    openStandardStreams()
    ignoreSignalsOfWriting()
    let output = Output(1, gate: gate)
    let errors = Output(2, gate: gate)
    var reporter = format.reporter(output: output, errors: errors, isQuiet: false)
    var status: ExitStatus
    do {
      switch try CommandLineProgram.schemactl.parse(arguments, environment: { Environment[$0] }) {
      case .help(let text), .version(let text):
        output.write(text)
        status = .success
      case .run(let invocation):
        let command = try command(of: invocation)
        reporter = format.reporter(
          output: output, errors: errors, isQuiet: invocation.flag("quiet"))
        stopMemoryStatistics()
        if command.observesRollbacks {
          observeRollbacks { [reporter] in
            reporter.report(
              .note(
                "a transaction that another process had not finished was rolled back: SQLite \($0)")
            )
          }
        }
        let interruption = Interruption()
        takeSignals(for: interruption, isGraceful: command.heedsInterruptions(invocation))
        let session = Session(
          invocation: invocation, output: output, reporter: reporter, interruption: interruption,
          writing: writing)
        status = try ClusterCommand.run(command, session) ?? command.run(session)
      }
    } catch {
      let problem = Problem(error)
      reporter.report(.stopped(problem))
      status = problem.status
    }
    return finish(status, output, errors)
  }

  private func command(of invocation: Invocation) throws -> any Command.Type {
    let name = invocation.commandPath.first
    guard let command = CommandLineProgram.commands.first(where: { $0.name == name })
    else { throw Failure(.bug, "the command \(name ?? "") is declared and not there") }
    return command
  }

  private var format: OutputFormat { OutputFormat(askedForIn: arguments) }

  private func takeSignals(for interruption: Interruption, isGraceful: Bool) {
    Signals.take(for: interruption, isGraceful: isGraceful, writing: writing) {
      [gate, asksForJSON = format == .json] in
      // Who is in the middle of a document is not interrupted by another one.
      gate.writeIfFree {
        let problem = Problem(Failure(.interrupted, "interrupted"))
        let bytes =
          asksForJSON
          ? JSON.object([("error", problem.json)]).line : Array("\nschemactl: interrupted\n".utf8)
        _ = writeAll(bytes, to: asksForJSON ? 1 : 2)
      }
    }
  }

  private func finish(_ status: ExitStatus, _ output: Output, _ errors: Output) -> ExitStatus {
    output.flush()
    guard let problem = output.problem else { return status }
    errors.write(
      "schemactl: error: standard output cannot be written: \(problem). What the command did stays "
        + "done: `schemactl status` tells where a database stands\n")
    errors.flush()
    return ExitStatus.worst([status, .inputOutput])
  }
}
