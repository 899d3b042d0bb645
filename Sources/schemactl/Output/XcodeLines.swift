import ManifestFormat
import Migrating

/// Lines that Xcode shows in its editor when a build phase prints them: `file:line:column: error:
/// message`, the file from the root of the file system (Xcode Help, Run custom scripts).
struct XcodeLines: AnnotationLines {
  private let paths = RepositoryPaths()

  func line(_ problem: Problem) -> String { "error: \(joined(problem.message))" }

  func line(_ annotation: Annotation) -> String {
    "\(place(annotation))\(annotation.level.rawValue): \(joined(annotation.message)) "
      + "[\(annotation.rule)]"
  }

  /// Without a line Xcode would not take the rest for a message.
  private func place(_ annotation: Annotation) -> String {
    guard let place = annotation.place else { return "" }
    let position = place.position.map { "\($0.line):\($0.column)" } ?? "1:1"
    return "\(paths.absolute(place.file).visible):\(position): "
  }

  private func joined(_ message: String) -> String {
    message.split(separator: "\n").map { $0.trimmed }.joined(separator: " ").visible
  }
}

extension Substring {
  fileprivate var trimmed: Substring { drop { $0 == " " } }
}
