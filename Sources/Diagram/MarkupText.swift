import SchemaSQLText

extension String {
  /// The text escaped for elements and quoted attributes of HTML and SVG and for labels of
  /// Graphviz. Characters that are invisible or change the direction of writing are shown as their
  /// numbers.
  package var markupText: String { markup { _ in false } }

  /// Like `markupText`, for text of several lines.
  package var markupLines: String { markup { $0 == "\n" || $0 == "\t" } }

  private func markup(except isKept: (Unicode.Scalar) -> Bool) -> String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where scalar.isHarmless || isKept(scalar): result.unicodeScalars.append(scalar)
      default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return result
  }
}
