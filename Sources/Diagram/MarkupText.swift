import SchemaSQLText

extension String {
  /// The text, escaped for elements and quoted attributes of HTML and SVG and for labels of Graphviz. Shows
  /// characters that are invisible or change the direction of writing as their numbers.
  package var markupText: String { markup { _ in false } }

  /// Like `markupText`, but keeps line feeds, tabs and quotes, for text of several lines inside an element.
  package var markupLines: String { markup { "\n\t\"'".unicodeScalars.contains($0) } }

  private func markup(except isKept: (Unicode.Scalar) -> Bool) -> String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case _ where isKept(scalar): result.unicodeScalars.append(scalar)
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where scalar.isHarmless: result.unicodeScalars.append(scalar)
      default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return result
  }
}
