import SchemaFleet
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaManifest
import SchemaPreview
import SchemaReplay
import SchemaSQLText

/// Reports in words, for people who need not know SQL.
final class TextReporter: Reporter {
  private let output: Output
  private let errors: Output
  let volume: Volume
  var progress: ProgressLine
  private var excerpts = SourceExcerpts()
  /// The id of the running migration.
  private var current = ""
  /// Migrations that rewrote rows one by one.
  private(set) var rewriting: Set<ExactText> = []

  init(output: Output, errors: Output, _ volume: Volume) {
    self.output = output
    self.errors = errors
    self.volume = volume
    progress = ProgressLine(errors, isOn: volume != .quiet)
  }

  func report(_ event: Event) {
    if case .progress(let event) = event { return follow(event) }
    if case .fleet(.started(let header)) = event {
      return progress.show(FleetSummary(expected: header.count))
    }
    if case .fleet(.result(let result, let summary)) = event {
      name(result)
      return progress.show(summary)
    }
    progress.clear()
    switch event {
    case .progress: break
    case .note(let text): note(text)
    case .warning(let text): warn(text)
    case .stopped(let failure, _): complain(failure)
    case .migrated(let report, let options): show(report, options)
    case .planned(let report, let database, let isSQL): show(report, database, isSQL: isSQL)
    case .refusedScript: sayScript(PlanReport.refusal)
    case .tried(let report, let options): show(report, options)
    case .restored(let report, let state, let database): show(report, state, database)
    case .backups(let backups, let database): show(backups, database)
    case .stands(let report, let database, let next): show(report, database, next)
    case .verified(let report, _, let database): show(report, database)
    case .checked(let report): show(report)
    case .compared(let report, let database): show(report, database)
    case .differs(let changes, let from, let to): show(changes, from, to)
    case .inspected(let schema, _, let isSQL): show(schema, isSQL)
    case .wroteSchema(let file): mention("Wrote \(file.visible).")
    case .initialized(let files, let report, let ledgers, let next):
      show(files, report, ledgers, next)
    case .adopted(let report, let database): show(report, database)
    case .imported(let report): show(report)
    case .squashed(let squashing, let folder): show(squashing, folder)
    case .linted(let report): show(report)
    case .created(_, let file): say(file.visible)
    case .explained(_, let text): sayScript(text)
    case .wroteBaseline(let file, let findings):
      mention("Wrote \(counted(findings, "finding")) to \(file.visible).")
    case .refused(let report): refuse(report)
    case .frozen(let report, let release, let file): show(report, release, file)
    case .accepted(let id, let reason, let file): showAccepted(id, reason, file)
    case .generated(let text, let file, let isStale): show(text, file, isStale: isStale)
    case .bundled(let report, let file): show(report, file)
    case .renumbered(let renamings, let isRehearsal): show(renamings, isRehearsal)
    case .repair(let plan, let isDone): show(plan, isDone)
    case .fleet(let event): show(event)
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

  /// Writes a line of a result. The caller must escape control characters in text from outside.
  func say(_ line: String) { output.write(line + "\n") }

  /// Writes a line of additional information, which `--quiet` omits.
  func mention(_ line: String) {
    if volume != .quiet { say(line) }
  }

  /// Writes a text of several lines. When a program reads it, SQL must remain unchanged.
  func sayScript(_ script: String) {
    output.write(output.isTerminal ? script.visibleScript : script)
  }

  /// Prints at most twenty items of a list; `--verbose` prints all.
  func list<Item>(_ items: [Item], _ noun: String, _ line: (Item) -> Void) {
    let limit = volume == .verbose || items.count <= 20 ? items.count : 20
    items.prefix(limit).forEach(line)
    if items.count > limit {
      say("  … and \(counted(items.count - limit, noun)) more; --verbose shows all")
    }
  }

  func note(_ text: String) {
    guard volume != .quiet else { return }
    output.flush()
    errors.write("note: \(text.visible)\n")
  }

  private func warn(_ text: String) {
    output.flush()
    errors.write("\(paint("warning:", "1;33", on: errors)) \(text.visible)\n")
  }

  // MARK: Diagnostics

  /// Writes the failure that ended the command to standard error.
  func complain(_ failure: Failure) {
    output.flush()
    write(failure, to: errors)
  }

  /// Writes a failure that is the command's result to standard output.
  func state(_ failure: Failure) { write(failure, to: output) }

  /// Writes a line of advice below the last diagnostic on standard error.
  func help(_ text: String) { errors.write("help: \(text.visible)\n") }

  func show(_ finding: Finding) {
    let (label, colour): (String, String?) =
      switch finding.severity {
      case .error: ("error", "1;31")
      case .warning: ("warning", "1;33")
      case .note, .off: ("note", nil)
      }
    write(
      Failure.Place(
        file: finding.file, position: Position(line: finding.line, column: finding.column)),
      label, colour, finding.lines, rule: finding.rule, to: output)
    if let fix = finding.fix {
      say("help: \(finding.fixPlace.instruction)")
      for line in fix.lines where !line.isEmpty { say("    \(line.visible)") }
    } else if let help = finding.help {
      say("help: \(help)")
    }
  }

  private func write(_ failure: Failure, to stream: Output) {
    write(failure.diagnostics, to: stream)
    if failure.diagnostics.isEmpty {
      write(failure.place, "error", "1;31", failure.statement, to: stream)
    }
    if let migration = failure.migration {
      let operation = migration.operation.map { "operation \($0.visible) of " } ?? ""
      stream.write("  in \(operation)migration \(migration.id.visible)\n")
      if let statement = migration.statement {
        stream.write("  statement: \(statement.shortened(to: 200))\n")
      }
    }
    if let help = failure.remedy { stream.write("help: \(help.visible)\n") }
    if failure.diagnostics.count > 1 {
      stream.write("Found \(counted(failure.diagnostics.count, "error"))\n")
    }
  }

  /// Prints the first ten of more than twenty equal mistakes, and counts the others.
  private func write(_ diagnostics: [Diagnostic], to stream: Output) {
    let equal = Dictionary(grouping: diagnostics, by: \.statement.exact)
    let hidden = equal.filter { volume != .verbose && $0.value.count > 20 }
      .mapValues { $0.dropFirst(10) }
    var shown: [ExactText: Int] = [:]
    for diagnostic in diagnostics {
      shown[diagnostic.statement.exact, default: 0] += 1
      if hidden[diagnostic.statement] != nil, shown[diagnostic.statement] ?? 0 > 10 { continue }
      let place = Failure.Place(file: diagnostic.file, position: diagnostic.position)
      write(place, "error", "1;31", [diagnostic.statement], to: stream)
      if let help = diagnostic.help { stream.write("help: \(help.visible)\n") }
    }
    for (mistake, others) in hidden.sorted(by: { $0.key < $1.key }) {
      let files = Set(others.map(\.file.exact)).count
      stream.write(
        "… and \(grouped(others.count)) more in \(counted(files, "file")) "
          + "(--verbose prints them all): \(mistake.text.shortened(to: 120))\n")
    }
  }

  /// `file:line:column: error: message [rule]`, the line of the file with a caret, and further lines.
  private func write(
    _ place: Failure.Place?, _ label: String, _ colour: String?, _ lines: [String],
    rule: String? = nil, to stream: Output
  ) {
    let position = place?.position.map { ":\($0.line):\($0.column)" } ?? ""
    let start = place.map { $0.file.visible + position } ?? "schemactl"
    let painted = colour.map { paint("\(label):", $0, on: stream) } ?? "\(label):"
    let message = lines.first?.visible.withShortWords ?? ""
    stream.write("\(start): \(painted) \(message)\(rule.map { " [\($0)]" } ?? "")\n")
    if let place, let position = place.position {
      for line in excerpts.lines(place.file, line: position.line, column: position.column) {
        stream.write(line + "\n")
      }
    }
    for line in lines.dropFirst() { stream.write("  \(line.visible.withShortWords)\n") }
  }

  /// - Parameter colour: a number of ECMA-48 (SGR).
  func paint(_ text: String, _ colour: String) -> String { paint(text, colour, on: output) }

  private func paint(_ text: String, _ colour: String, on output: Output) -> String {
    output.isColored ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
  }
}

/// `340 ms`, `12.7 s`, `2 min 5 s`.
func duration(_ milliseconds: Int64) -> String {
  switch milliseconds {
  case ..<1000: "\(milliseconds) ms"
  case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
  default: "\(milliseconds / 60_000) min \(milliseconds / 1000 % 60) s"
  }
}
