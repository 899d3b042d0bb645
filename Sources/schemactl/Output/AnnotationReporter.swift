import Migrating

/// How an annotation reads as one line.
protocol AnnotationLines {
  func line(_ annotation: Annotation) -> String
  func line(_ problem: Problem) -> String
}

/// Annotations, one line each and nothing else, on standard output. What is waived is none.
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
    guard let annotations = Annotations(event) else { return }
    for annotation in annotations.found where annotation.suppression == nil {
      output.write(lines.line(annotation) + "\n")
    }
    for problem in annotations.problems { output.write(lines.line(problem) + "\n") }
    output.flush()
    annotations.notes.forEach(note)
  }

  /// What a person may want to know beside annotations: on standard error, which no one parses.
  private func note(_ text: String) {
    guard !isQuiet else { return }
    errors.write("note: \(text.visibleLines)\n")
    errors.flush()
  }
}
