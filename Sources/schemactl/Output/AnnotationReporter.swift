import SchemaGit
import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaSQLText
import SchemaYAML

/// Prints the annotations that are not suppressed, one line each, on standard output.
struct AnnotationReporter: Reporter {
  let output: Output
  let errors: Output
  let volume: Volume
  /// Formats an annotation as one line.
  let line: (Annotation) -> (RepositoryPaths) -> String
  private let paths = RepositoryPaths()

  /// Writes additional information to standard error, which tools do not parse.
  func note(_ text: String) {
    guard volume != .quiet else { return }
    errors.write("note: \(text.visible)\n")
    errors.flush()
  }

  func warn(_ text: String) { write(Annotation(level: .warning, lines: [text])) }

  func report(
    _ json: () -> JSON?, _ annotations: () -> Annotations?, _ text: (TextReporter) -> Void
  ) {
    if let annotations = annotations() { write(annotations) }
  }

  private func write(_ annotations: Annotations) {
    annotations.shown.forEach(write)
    output.flush()
    if let hidden = annotations.hidden {
      // The output of a failed job must show the reason of the failure.
      let fails = annotations.status != .success
      if fails, !annotations.shown.contains(where: { $0.level == .error }) {
        write(Annotation(lines: [hidden]))
      } else {
        note(hidden)
      }
    }
    (annotations.fixes + annotations.notes).forEach(note)
  }

  private func write(_ annotation: Annotation) { output.write(line(annotation)(paths) + "\n") }
}

extension Annotation {
  /// Formats the annotation for a pull request, as a workflow command of GitHub Actions (docs.github.com,
  /// Workflow commands for GitHub Actions).
  func gitHubLine(_ paths: RepositoryPaths) -> String {
    func data(_ lines: [String]) -> String {
      lines.map { $0.visible.escaping("%", as: "%25") }.joined(separator: "%0A")
    }
    func property(_ text: String) -> String {
      data([text]).escaping(":", as: "%3A").escaping(",", as: "%2C")
    }
    var properties: [String] = []
    if let place {
      properties = [
        "file=" + property(paths.relative(place.file) ?? paths.absolute(place.file)),
        "line=\(place.position?.line ?? 1)",
      ]
      if let column = place.position?.column { properties.append("col=\(column)") }
    }
    properties.append("title=" + property(rule))
    let level = level == .note ? "notice" : level.rawValue
    return "::\(level) \(properties.joined(separator: ","))::\(data(allLines))"
  }

  /// Formats the annotation as a line that Xcode shows in its editor when a build phase prints it:
  /// `file:line:column: error: message`, with an absolute path (Xcode Help, Run custom scripts).
  func xcodeLine(_ paths: RepositoryPaths) -> String {
    // Xcode recognises a message only if it has a line number.
    let start = place.map { place in
      let position = place.position ?? Position(line: 1, column: 1)
      return "\(paths.absolute(place.file).visible):\(position.line):\(position.column): "
    }
    let text = allLines.map { String($0.drop { $0 == " " }).visible }.joined(separator: " ")
    return (start ?? "") + "\(level.rawValue): \(text)"
      + (rule == Annotation.ofCommand ? "" : " [\(rule)]")
  }
}

extension String {
  fileprivate func escaping(_ character: Character, as text: String) -> String {
    map { $0 == character ? text : String($0) }.joined()
  }
}
