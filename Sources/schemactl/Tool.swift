import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// One run of the program, from its arguments to its exit status.
struct Tool {
  private let arguments: [String]
  private let printing = Locked(())
  private let writing = Locked(())

  init(arguments: [String]) {
    self.arguments = arguments
  }

  func run() -> ExitStatus {
    openStandardStreams()
    ignoreSignalsOfWriting()
    let output = Output(1, lock: printing)
    let errors = Output(2, lock: printing)
    var reporter = format.reporter(output: output, errors: errors, .normal)
    var status: ExitStatus
    do {
      switch try CommandLineProgram.schemactl.parse(arguments, environment: { Environment[$0] }) {
      case .help(let text), .version(let text):
        output.write(text)
        status = .success
      case .run(let invocation):
        let name = invocation.commandPath[0]
        guard let command = CommandLineProgram.command(name) else {
          throw Failure(.bug, "the command `\(name)` is declared but missing")
        }
        reporter = format.reporter(
          output: output, errors: errors,
          invocation.isGiven("quiet") ? .quiet : invocation.isGiven("verbose") ? .verbose : .normal)
        stopMemoryStatistics()
        let interruption = Interruption()
        Signals(
          interruption: interruption, isGraceful: command.heedsInterruptions(invocation),
          writing: writing, output: printing, format: format
        ).take()
        let session = Session(
          invocation: invocation, output: output, reporter: reporter, interruption: interruption,
          writing: writing)
        status = try command.run(
          command.readsConfiguration(invocation) ? session.configured() : session)
      }
    } catch {
      let failure = (error as? UsageError).map(Failure.init) ?? Failure(of: error)
      reporter.stop(failure)
      status = failure.status
    }
    return finish(status, output, errors)
  }

  private var format: OutputFormat { OutputFormat(askedForIn: arguments) }

  private func finish(_ status: ExitStatus, _ output: Output, _ errors: Output) -> ExitStatus {
    output.flush()
    guard let problem = output.problem else { return status }
    errors.write(
      "schemactl: error: cannot write standard output: \(problem). schemactl does not undo "
        + "completed work\nhelp: `schemactl status` shows the state of a database\n")
    errors.flush()
    return ExitStatus.worst([status, .inputOutput])
  }
}

extension Failure {
  fileprivate init(_ error: UsageError) {
    self.init(
      .usage, error.message,
      remedy: [error.hint, error.advice].compactMap { $0 }.joined(separator: " "))
  }
}
