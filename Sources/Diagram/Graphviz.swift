import SchemaPlatform
import SchemaSQLText

/// The program `dot` of Graphviz, which computes the layout of diagrams.
package enum Graphviz {
  /// Converts a diagram in Graphviz's language to SVG: one `svg` element, without a document type.
  ///
  /// - Throws: `notInstalled` if `dot` is not on the path.
  package static func svg(of dot: String) throws(Subprocess.Problem) -> String {
    let result = try Subprocess.run(
      ["dot", "-Tsvg"], environment: ["LC_ALL=C.UTF-8", "PATH=\(path)"], input: Array(dot.utf8))
    let text = String(decoding: result.output, as: UTF8.self)
    guard result.status == 0, let start = text.firstRange(of: "<svg") else {
      let line = String(decoding: result.errors, as: UTF8.self).split(separator: "\n").first
      throw .failed(line.map(String.init) ?? "dot ended with \(result.status)")
    }
    return withoutIDs(text[start.lowerBound...])
  }

  private static var path: String { Environment["PATH"] ?? "/usr/bin:/bin" }

  /// Removes the ids of nodes, which Graphviz repeats in comments and tooltips.
  private static func withoutIDs(_ svg: Substring) -> String {
    without("<title>", "</title>", without("<!--", "-->", String(svg)))
  }

  private static func without(_ start: String, _ end: String, _ svg: String) -> String {
    var rest = svg[...]
    var result = ""
    while let first = rest.firstRange(of: start),
      let last = rest[first.upperBound...].firstRange(of: end)
    {
      result += rest[..<first.lowerBound]
      rest = rest[last.upperBound...].drop { $0.isNewline }
    }
    return result + rest
  }
}
