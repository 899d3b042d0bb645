import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaSQLText

/// Annotations of a pull request: workflow commands of GitHub Actions, one line each
/// (docs.github.com, Workflow commands for GitHub Actions).
struct GitHubLines {
  private let paths = RepositoryPaths()

  func line(_ annotation: Annotation) -> String {
    var properties: [String] = []
    if let place = annotation.place {
      properties.append(
        "file=" + property(paths.relative(place.file) ?? paths.absolute(place.file)))
      properties.append("line=\(place.position?.line ?? 1)")
      if let column = place.position?.column { properties.append("col=\(column)") }
    }
    properties.append("title=" + property(annotation.rule))
    let level = annotation.level == .note ? "notice" : annotation.level.rawValue
    return "::\(level) \(properties.joined(separator: ","))::"
      + data(annotation.lines)
  }

  private func data(_ lines: [String]) -> String {
    lines.map { $0.visible.escaping("%", as: "%25") }.joined(separator: "%0A")
  }

  private func property(_ text: String) -> String {
    data([text]).escaping(":", as: "%3A").escaping(",", as: "%2C")
  }
}

extension String {
  fileprivate func escaping(_ character: Character, as text: String) -> String {
    map { $0 == character ? text : String($0) }.joined()
  }
}
