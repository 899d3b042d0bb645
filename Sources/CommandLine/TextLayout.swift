/// Lays out plain text for a terminal of 80 columns.
enum TextLayout {
  static let width = 80

  /// Fills paragraphs to the width, with blank lines between them.
  static func paragraphs(_ text: String, indent: Int = 0) -> [String] {
    let paragraphs = split(text).map { wrap($0, width: width - indent) }
    return Array(paragraphs.joined(separator: [""])).map { pad($0, by: indent) }
  }

  /// A text's paragraphs, each on one line.
  static func split(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .split(whereSeparator: \.isEmpty).map { $0.joined(separator: " ") }
  }

  /// Aligns the labels in a left column and the texts in a right one.
  static func table(_ rows: [(label: String, text: String)]) -> [String] {
    let indent = 2
    let widest = 26
    let labels = rows.map(\.label.count).filter { $0 <= widest }.max() ?? widest
    let column = indent + labels + 2
    return rows.flatMap { row -> [String] in
      let texts = wrap(row.text, width: width - column).map { pad($0, by: column) }
      let label = pad(row.label, by: indent)
      guard let first = texts.first, row.label.count <= labels else { return [label] + texts }
      return [label + first.dropFirst(label.count)] + texts.dropFirst()
    }
  }

  /// A word longer than the width gets its own line.
  static func wrap(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  static func pad(_ line: String, by indent: Int) -> String {
    line.isEmpty ? "" : String(repeating: " ", count: indent) + line
  }
}
