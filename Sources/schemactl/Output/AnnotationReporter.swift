import SchemaSQLText

/// Formats an annotation as one line.
protocol AnnotationLines {
  func line(_ annotation: Annotation) -> String
  /// A message without a place.
  func line(_ level: Annotation.Level, _ lines: [String]) -> String
}

/// Prints annotations that are not suppressed on standard output, one line each.
struct AnnotationReporter: Reporter {
  private let lines: any AnnotationLines
  private let output: Output
  private let errors: Output
  private let isQuiet: Bool

  init(_ lines: any AnnotationLines, output: Output, errors: Output, isQuiet: Bool) {
    self.lines = lines
    self.output = output
    self.errors = errors
    self.isQuiet = isQuiet
  }

  func report(_ event: Event) {
    if case .note(let text) = event { note(text) }
    if case .warning(let text) = event { output.write(lines.line(.warning, [text]) + "\n") }
    guard let annotations = Annotations(event) else { return }
    for annotation in annotations.found
    where annotation.suppression == nil && (annotations.hidden == nil || !annotation.isFrozen) {
      output.write(lines.line(annotation) + "\n")
    }
    for problem in annotations.problems { output.write(lines.line(.error, problem.lines) + "\n") }
    output.flush()
    if let hidden = annotations.hidden { note(hidden) }
    annotations.notes.forEach(note)
  }

  /// Writes additional information to standard error, which tools do not parse.
  private func note(_ text: String) {
    guard !isQuiet else { return }
    errors.write("note: \(text.visible)\n")
    errors.flush()
  }
}
