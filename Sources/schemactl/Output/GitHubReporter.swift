import ManifestFormat
import Migrating

/// Annotations of a pull request: workflow commands of GitHub Actions, one line each
/// (docs.github.com, Workflow commands for GitHub Actions).
struct GitHubReporter: Reporter {
  private let output: Output
  private let asides: Asides
  private let paths = RepositoryPaths()

  init(output: Output, errors: Output, isQuiet: Bool) {
    self.output = output
    asides = Asides(errors, isQuiet: isQuiet)
  }

  func report(_ event: Event) {
    if case .note(let text) = event { asides.note(text) }
    guard let annotations = Annotations(event) else { return }
    for annotation in annotations.found where annotation.suppression == nil {
      write(command(annotation))
    }
    for problem in annotations.problems {
      write("::error title=schemactl::" + data(problem.message))
    }
    output.flush()
    for note in annotations.notes { asides.note(note) }
  }

  private func write(_ line: String) { output.write(line + "\n") }

  private func command(_ annotation: Annotation) -> String {
    var properties: [String] = []
    if let place = annotation.place {
      properties.append(
        "file=" + property(paths.relative(place.file) ?? paths.absolute(place.file)))
      properties.append("line=\(place.position?.line ?? 1)")
      if let column = place.position?.column { properties.append("col=\(column)") }
    }
    properties.append("title=" + property(annotation.rule))
    return "::\(level(annotation.level)) \(properties.joined(separator: ","))::"
      + data(annotation.message)
  }

  private func level(_ level: Annotation.Level) -> String {
    switch level {
    case .error: "error"
    case .warning: "warning"
    case .note: "notice"
    }
  }

  private func data(_ text: String) -> String {
    text.visibleScript.replacing("%", with: "%25").replacing("\n", with: "%0A")
  }

  private func property(_ text: String) -> String {
    data(text.visible).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }
}

/// What a person may want to know beside annotations: on standard error, which no one parses.
struct Asides {
  private let errors: Output
  private let isQuiet: Bool

  init(_ errors: Output, isQuiet: Bool) {
    self.errors = errors
    self.isQuiet = isQuiet
  }

  func note(_ text: String) {
    guard !isQuiet else { return }
    errors.write("note: \(text.visibleLines)\n")
    errors.flush()
  }
}
