import SchemaHistory
import SchemaLint
import SchemaSQLText

/// Prints annotations that are not suppressed on standard output, one line each.
struct AnnotationReporter: Reporter {
  let output: Output
  let errors: Output
  let volume: Volume
  /// Formats an annotation as one line.
  let line: (Annotation) -> String

  func report(_ event: Event) {
    if case .note(let text) = event { note(text) }
    if case .warning(let text) = event { write(Annotation(.warning, [text])) }
    guard let annotations = Annotations(event) else { return }
    for annotation in annotations.found
    where annotation.suppression == nil && (annotations.hidden == nil || !annotation.isFrozen) {
      write(annotation)
    }
    for problem in annotations.problems { write(Annotation(.error, problem.lines)) }
    output.flush()
    if let hidden = annotations.hidden { note(hidden) }
    annotations.notes.forEach(note)
  }

  private func write(_ annotation: Annotation) { output.write(line(annotation) + "\n") }

  /// Writes additional information to standard error, which tools do not parse.
  private func note(_ text: String) {
    guard volume != .quiet else { return }
    errors.write("note: \(text.visible)\n")
    errors.flush()
  }
}
