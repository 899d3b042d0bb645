import SchemaHistory
import SchemaManifest
import SchemaReplay
import SchemaSQLText

/// Says everything in words, for a person who need not know SQL.
final class TextReporter: Reporter {
  private let output: Output
  private let errors: Output
  let isQuiet: Bool
  private var progress: ProgressLine
  /// The migration that runs.
  private var current = ""
  /// Migrations that have rewritten rows one by one.
  private(set) var rewriting: Set<ExactText> = []

  init(output: Output, errors: Output, isQuiet: Bool) {
    self.output = output
    self.errors = errors
    self.isQuiet = isQuiet
    progress = ProgressLine(errors, isOn: !isQuiet)
  }

  func report(_ event: Event) {
    if case .progress(let event) = event { return follow(event) }
    if case .fleet(.result(_, let summary)) = event { return progress.show(summary) }
    progress.clear()
    switch event {
    case .progress: break
    case .note(let text): note(text)
    case .warning(let text): warn(text)
    case .stopped(let problem): complain(problem)
    case .migrated(let report, let options): show(report, options)
    case .rehearsed(let report, let options): show(report, options)
    case .tried(let report, let options): show(report, options)
    case .restored(let report, let state, let database): show(report, state, database)
    case .backups(let backups, let database): show(backups, database)
    case .planned(let report): show(report)
    case .stands(let report, let database): show(report, database)
    case .verified(let report, _, let database): show(report, database)
    case .checked(let report): show(report)
    case .compared(let report, let database): show(report, database)
    case .differs(let changes, let from, let to): show(changes, from, to)
    case .inspected(let schema, _, let form): show(schema, form)
    case .adopted(let report, let database): show(report, database)
    case .imported(let report): show(report)
    case .squashed(let squashing, let folder): show(squashing, folder)
    case .linted(let report): show(report)
    case .created(_, let file): say(file.visible)
    case .explained(_, let text): sayScript(text)
    case .wroteBaseline(let file, let findings):
      say("Wrote \(counted(findings, "finding")) to \(file.visible).")
    case .refused(let report): refuse(report)
    case .frozen(let report, let release, let file): show(report, release, file)
    case .accepted(let id, let reason, let file): showAccepted(id, reason, file)
    case .generated(let text, let file, let isStale): show(text, file, isStale: isStale)
    case .bundled(let report, let file): show(report, file)
    case .rebased(let renamings, let isRehearsal): show(renamings, isRehearsal)
    case .ledger(let entries, let rows, let repairs): show(entries, rows, repairs)
    case .repair(let plan, let isDone): show(plan, isDone)
    case .fleet(let event): show(event)
    case .failed(let result, let failure):
      complain(Problem(failure))
      if case .migrate(let database) = result, failure.status == .migrationFailed {
        errors.write("  \(database.visible) was not changed\n")
      }
    }
    errors.flush()
  }

  private func follow(_ event: MigrateEvent) {
    switch event {
    case .started(let id, _, _): current = id
    case .ran(let statement) where statement.utf8.starts(with: "UPDATE".utf8):
      rewriting.insert(current)
    case .note(let text):
      progress.clear()
      note(text)
      errors.flush()
    default: break
    }
    progress.show(event)
  }

  // MARK: Lines

  /// A line of a result. What comes from elsewhere must have been made visible.
  func say(_ line: String) { output.write(line + "\n") }

  /// A line that nobody has asked for.
  func mention(_ line: String) {
    if !isQuiet { say(line) }
  }

  /// A text of several lines; SQL among them has to stay as it is when a program reads it.
  func sayScript(_ script: String) {
    output.write(output.isTerminal ? script.visibleScript : script)
  }

  func note(_ text: String) {
    guard !isQuiet else { return }
    output.flush()
    errors.write("note: \(text.visible)\n")
  }

  private func warn(_ text: String) {
    output.flush()
    errors.write("\(paint("warning:", "1;33", on: errors)) \(text.visible)\n")
  }

  /// A line under a problem: what was kept, what to do next.
  func advise(_ line: String) { errors.write("  \(line)\n") }

  /// What ended the command.
  func complain(_ problem: Problem) {
    output.flush()
    write(problem, to: errors)
  }

  /// A problem that is the command's result.
  func state(_ problem: Problem) { write(problem, to: output) }

  private func write(_ problem: Problem, to stream: Output) {
    guard problem.diagnostics.isEmpty else {
      for diagnostic in problem.diagnostics {
        write(
          Failure.Place(file: diagnostic.file, position: diagnostic.position),
          [diagnostic.message], to: stream)
      }
      return
    }
    write(problem.place, problem.lines, to: stream)
    guard let migration = problem.migration else { return }
    stream.write(
      "  in " + (migration.operation.map { "operation \($0.visible) of " } ?? "")
        + "migration \(migration.id.visible)\n")
    if let statement = migration.statement {
      stream.write("  statement: \(statement.shortened(to: 200))\n")
    }
  }

  private func write(_ place: Failure.Place?, _ lines: [String], to stream: Output) {
    let position = place?.position.map { ":\($0.line):\($0.column)" } ?? ""
    let start = place.map { $0.file.visible + position } ?? "schemactl"
    let error = paint("error:", "1;31", on: stream)
    let message = lines.map(\.visible.withShortWords).joined(separator: "\n  ")
    stream.write("\(start): \(error) \(message)\n")
  }

  /// - Parameter colour: as ECMA-48 numbers it (SGR).
  func paint(_ text: String, _ colour: String) -> String { paint(text, colour, on: output) }

  private func paint(_ text: String, _ colour: String, on output: Output) -> String {
    output.isColored ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
  }
}

package func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}
