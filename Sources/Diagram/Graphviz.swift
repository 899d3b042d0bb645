import SchemaPlatform
import SchemaSQLText

/// The program `dot` of Graphviz, which computes the layout of diagrams.
package enum Graphviz {
  /// Converts a diagram in Graphviz's language to SVG: one `svg` element without a document type.
  ///
  /// - Parameters:
  ///   - seconds: the time limit. 120 tables need about five seconds, 400 need minutes.
  ///   - program: the path of `dot`, or its name in a folder of `PATH`.
  /// - Throws: `notInstalled` if `dot` is not in a folder of `PATH`; `failed` if `dot` fails, writes an
  ///   incomplete element, or exceeds the time limit.
  package static func svg(
    of dot: String, seconds: Int = 30, program: String = "dot"
  ) throws(Subprocess.Problem) -> String {
    let path = Environment["PATH"] ?? "/usr/bin:/bin"
    let result = try Subprocess.run(
      [program, "-Tsvg"], environment: ["LC_ALL=C.UTF-8", "PATH=\(path)"],
      input: Array(dot.utf8), seconds: seconds)
    let text = String(decoding: result.output, as: UTF8.self)
    guard result.status == 0, let start = text.firstRange(of: "<svg"),
      text.hasSuffix("</svg>\n")
    else {
      let line = String(decoding: result.errors, as: UTF8.self).split(separator: "\n").first
      throw .failed(line.map(String.init) ?? "dot ended with \(result.status)")
    }
    return shortened(text[start.lowerBound...])
  }

  /// Removes the ids of nodes, which Graphviz repeats in comments and tooltips, and moves the attributes that
  /// all texts share to the `svg` element.
  private static func shortened(_ svg: Substring) -> String {
    var bytes = Array(svg.utf8)
    for (start, end) in [("<title>", "</title>\n"), ("<!--", "-->\n"), (" id=\"", "\"")] {
      bytes = without(Array(start.utf8), Array(end.utf8), bytes)
    }
    for attribute in [" text-anchor=\"start\""] + font {
      bytes = without(Array(attribute.utf8), [], bytes)
    }
    bytes.insert(contentsOf: font.joined().utf8, at: "<svg".utf8.count)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The attributes that Graphviz writes for the font of the nodes.
  private static let font = [" font-family=\"Helvetica,sans-Serif\"", " font-size=\"11.00\""]

  /// Removes each part from `start` through the next `end`.
  private static func without(_ start: [UInt8], _ end: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var place = 0
    func isAt(_ place: Int, _ text: [UInt8]) -> Bool {
      place + text.count <= bytes.count && text.indices.allSatisfy { bytes[place + $0] == text[$0] }
    }
    while place < bytes.count {
      guard isAt(place, start) else {
        result.append(bytes[place])
        place += 1
        continue
      }
      place += start.count
      while place < bytes.count, !isAt(place, end) { place += 1 }
      place += end.count
    }
    return result
  }
}
