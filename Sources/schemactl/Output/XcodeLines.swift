import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaSQLText

/// Lines that Xcode shows in its editor when a build phase prints them: `file:line:column: error:
/// message`, the file from the root of the file system (Xcode Help, Run custom scripts).
struct XcodeLines {
  private let paths = RepositoryPaths()

  func line(_ annotation: Annotation) -> String {
    let rule = annotation.rule == Annotation.ofCommand ? "" : " [\(annotation.rule)]"
    return place(annotation) + "\(annotation.level.rawValue): \(joined(annotation.lines))\(rule)"
  }

  /// Xcode recognises a message only if it has a line number.
  private func place(_ annotation: Annotation) -> String {
    guard let place = annotation.place else { return "" }
    let position = place.position.map { "\($0.line):\($0.column)" } ?? "1:1"
    return "\(paths.absolute(place.file).visible):\(position): "
  }

  private func joined(_ lines: [String]) -> String {
    lines.map { String($0.drop { $0 == " " }).visible }.joined(separator: " ")
  }
}
