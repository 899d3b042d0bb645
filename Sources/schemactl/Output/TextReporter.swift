import SchemaFleet
import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// Reports in words, for people who need not know SQL.
final class TextReporter: Reporter {
  private let output: Output
  private let errors: Output
  let volume: Volume
  var progress: ProgressLine
  private var excerpts = SourceExcerpts()
  /// The id of the running migration.
  private var current = ""
  /// The migrations that rewrote rows one by one.
  private(set) var rewriting: Set<ExactText> = []

  init(output: Output, errors: Output, _ volume: Volume) {
    self.output = output
    self.errors = errors
    self.volume = volume
    progress = ProgressLine(errors, isOn: volume != .quiet)
  }

  func report(
    _ json: () -> JSON?, _ annotations: () -> Annotations?, _ text: (TextReporter) -> Void
  ) {
    progress.clear()
    text(self)
    errors.flush()
  }

  func note(_ text: String) {
    guard volume != .quiet else { return }
    remark("note: \(text.visible)")
  }

  func warn(_ text: String) {
    remark("\(paint("warning:", "1;33", on: errors)) \(text.visible)")
  }

  private func remark(_ line: String) {
    progress.clear()
    output.flush()
    errors.write(line + "\n")
    errors.flush()
  }

  func follow(_ event: MigrateEvent) {
    switch event {
    case .started(let id, _, _): current = id
    case .ran(let statement) where statement.utf8.starts(with: "UPDATE".utf8):
      rewriting.insert(current)
    case .note(let text): note(text)
    default: break
    }
    progress.show(event)
  }

  func follow(_ event: FleetEvent) {
    switch event {
    case .started(let header): progress.show(FleetSummary(expected: header.count))
    case .result(let result, let summary):
      name(result)
      progress.show(summary)
    case .ended(let header, let summary, _):
      progress.clear()
      show(header, summary, listsFailures: volume != .verbose)
    }
  }

  // MARK: Lines

  /// Writes a line of a result, and its details indented on a further line. The caller must escape
  /// control characters in text from outside, except in the details.
  func say(_ line: String, detail: String = "") {
    output.write(line + "\n")
    if !detail.isEmpty { output.write("  \(detail.visible)\n") }
  }

  /// Writes a line of additional information, which `--quiet` omits.
  func mention(_ line: String) {
    if volume != .quiet { say(line) }
  }

  /// Writes a text of several lines. If a program reads the output, the SQL stays unchanged.
  func sayScript(_ script: String) {
    output.write(output.isTerminal ? script.visibleScript : script)
  }

  /// Prints at most twenty items of a list; `--verbose` prints all.
  func list<Item>(_ items: [Item], _ noun: String, _ line: (Item) -> Void) {
    let limit = volume == .verbose || items.count <= 20 ? items.count : 20
    items.prefix(limit).forEach(line)
    if items.count > limit {
      say("  … and \(counted(items.count - limit, noun)) more; `--verbose` shows all")
    }
  }

  // MARK: Problems

  /// Prints the problems that a check found, and notes.
  ///
  /// - Parameter listsSuppressed: whether to list the findings that the project suppresses, besides
  ///   accepted edits.
  func show(_ annotations: Annotations, listsSuppressed: Bool = false) {
    let (first, others) = abridged(annotations.shown)
    list(first, "finding", show)
    others.forEach { say($0) }
    let suppressed = annotations.found.filter { annotation in
      guard let suppression = annotation.suppression else { return false }
      return suppression.kind == "external"
        || listsSuppressed && (volume == .verbose || !suppression.isInBaseline)
    }
    if volume != .quiet {
      list(suppressed, "suppressed finding") { annotation in
        let reason = annotation.suppression?.reason.visible ?? ""
        say("\(annotation.place?.inWords ?? ""): suppressed: \(annotation.rule): \(reason)")
      }
    }
    if let hidden = annotations.hidden { mention(hidden) }
    annotations.notes.forEach(note)
  }

  /// Prints a problem that is a result of the command.
  func show(_ annotation: Annotation) {
    let rule = annotation.rule == Annotation.ofCommand ? nil : annotation.rule
    write(annotation, to: output, rule: rule)
  }

  /// Writes the failure that ended the command to standard error.
  func complain(_ failure: Failure) {
    output.flush()
    let all = failure.annotations()
    let (first, others) = abridged(all)
    for annotation in first { write(annotation, to: errors) }
    for line in others { errors.write(line + "\n") }
    if all.count > 1 { errors.write("Found \(counted(all.count, "error"))\n") }
  }

  /// Limits groups of more than twenty problems with the same message to ten each, and returns lines that
  /// count the others.
  private func abridged(_ all: [Annotation]) -> (first: [Annotation], others: [String]) {
    guard volume != .verbose else { return (all, []) }
    let many = Dictionary(grouping: all) { $0.lines[0].exact }
      .filter { $0.value.count > 20 }.mapValues { $0.dropFirst(10) }
    var counts: [ExactText: Int] = [:]
    let first = all.filter { annotation in
      counts[annotation.lines[0], default: 0] += 1
      return many[annotation.lines[0]] == nil || counts[annotation.lines[0]] ?? 0 <= 10
    }
    let others = many.sorted { $0.key < $1.key }.map { problem, others in
      let files = Set(others.compactMap { $0.place?.file.exact }).count
      return "… and \(grouped(others.count)) more in \(counted(files, "file")) "
        + "(`--verbose` prints them all): \(problem.text.shortened(to: 120))"
    }
    return (first, others)
  }

  /// Writes a line of advice below the last problem on standard error.
  func help(_ text: String) {
    output.flush()
    errors.write("help: \(text.visible)\n")
  }

  /// Writes `file:line:column: error: message [rule]`, the source line with a caret, and further lines.
  private func write(_ annotation: Annotation, to stream: Output, rule: String? = nil) {
    let (label, colour): (String, String?) =
      switch annotation.level {
      case .error: ("error:", "1;31")
      case .warning: ("warning:", "1;33")
      case .note, .off: ("note:", nil)
      }
    let place = annotation.place?.inWords ?? "schemactl"
    let message = annotation.lines[0].visible
    stream.write(
      "\(place): \(colour.map { paint(label, $0, on: stream) } ?? label) \(message)"
        + "\(rule.map { " [\($0)]" } ?? "")\n")
    if let place = annotation.place, let position = place.position {
      for line in excerpts.lines(place.file, line: position.line, column: position.column) {
        stream.write(line + "\n")
      }
    }
    for line in annotation.lines.dropFirst() { stream.write("  \(line.visible)\n") }
    if let help = annotation.help.first { stream.write("help: \(help.visible)\n") }
    for line in annotation.help.dropFirst() where !line.isEmpty {
      stream.write("    \(line.visible)\n")
    }
  }

  /// - Parameter colour: an SGR parameter of ECMA-48.
  func paint(_ text: String, _ colour: String) -> String { paint(text, colour, on: output) }

  private func paint(_ text: String, _ colour: String, on output: Output) -> String {
    output.isColored ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
  }
}

/// Source lines for diagnostics, each with a caret below it.
private struct SourceExcerpts {
  /// The size above which a file is not shown.
  private static let sizeLimit = 8 * 1_048_576
  /// The number of characters above which a line is truncated around the caret.
  private static let width = 120

  private var files: [ExactText: [Substring]] = [:]

  /// Returns the source line and the caret line; empty if the file cannot be read.
  mutating func lines(_ file: String, line: Int, column: Int) -> [String] {
    if files[file] == nil {
      let bytes = (try? readFile(file, limit: Self.sizeLimit)) ?? []
      files[file] = String(decoding: withoutMark(bytes), as: UTF8.self)
        .split(omittingEmptySubsequences: false) { ["\n", "\r", "\r\n"].contains($0) }
    }
    guard let source = files[file], source.indices.contains(line - 1) else { return [] }
    // Columns count Unicode scalars. A tab counts as one column.
    let scalars = source[line - 1].unicodeScalars.map { $0 == "\t" ? " " : $0 }
    let start = column > Self.width ? column - Self.width / 2 : 0
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars.dropFirst(start).prefix(Self.width))
    guard text.contains(where: { $0 != " " }) else { return [] }
    let number = "\(line)"
    let margin = String(repeating: " ", count: number.count)
    let caret = String(repeating: " ", count: max(0, column - 1 - start)) + "^"
    return ["  \(number) | \(String(text).visible)", "  \(margin) | \(caret)"]
  }
}
