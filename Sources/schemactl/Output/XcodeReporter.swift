import ManifestFormat
import Migrating

/// Lines that Xcode shows in its editor when a build phase prints them: `file:line:column: error:
/// message`, the file from the root of the file system (Xcode Help, Run custom scripts).
struct XcodeReporter: Reporter {
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
      write(
        "\(place(annotation))\(annotation.level.rawValue): \(line(annotation.message)) [\(annotation.rule)]"
      )
    }
    for problem in annotations.problems { write("error: \(line(problem.message))") }
    output.flush()
    for note in annotations.notes { asides.note(note) }
  }

  private func write(_ line: String) { output.write(line + "\n") }

  /// Without a line Xcode would not take the rest for a message.
  private func place(_ annotation: Annotation) -> String {
    guard let place = annotation.place else { return "" }
    let position = place.position.map { "\($0.line):\($0.column)" } ?? "1:1"
    return "\(paths.absolute(place.file).visible):\(position): "
  }

  private func line(_ message: String) -> String {
    message.split(separator: "\n").map { $0.trimmed }.joined(separator: " ").visible
  }
}

extension Substring {
  fileprivate var trimmed: Substring { drop { $0 == " " } }
}
