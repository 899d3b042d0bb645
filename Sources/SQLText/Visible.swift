import SchemaPlatform

extension String {
  /// The text escaped for a line of output that a person, a terminal or a CI system reads. Names,
  /// values and messages of other programs are escaped in every output except JSON and generated
  /// SQL.
  ///
  /// Control characters, line ends, and characters that change the direction of writing or have no
  /// width become `\u{…}`. So does the first character of a workflow command of GitHub Actions or
  /// Azure Pipelines: `::` at the start of a line, `##` anywhere (actions/runner,
  /// `ActionCommand.cs`).
  package var visible: String { visible { _ in false } }

  /// Like `visible`, for SQL: keeps its line ends and tabs.
  package var visibleScript: String { visible { $0 == "\n" || $0 == "\t" } }

  private func visible(except isKept: (Unicode.Scalar) -> Bool) -> String {
    var result = ""
    var previous: Unicode.Scalar = " "
    // Runners skip white space before a command.
    let start = unicodeScalars.firstIndex { !$0.properties.isWhitespace }
    let command = start.flatMap {
      unicodeScalars[$0...].starts(with: "::".unicodeScalars) ? $0 : nil
    }
    for index in unicodeScalars.indices {
      let scalar = unicodeScalars[index]
      let isOfCommand = index == command || scalar == "#" && previous == "#"
      if scalar.isHarmless && !isOfCommand || isKept(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
      previous = scalar
    }
    return result
  }
}

/// A text in double quotes, with the usual escapes of `"` and `\`.
///
/// - Parameter escape: what stands for another character; nil for itself.
package func doubleQuoted(_ text: String, escape: (Unicode.Scalar) -> String?) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    default:
      if let escaped = escape(scalar) {
        result += escaped
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }
  return result + "\""
}

extension Unicode.Scalar {
  /// `\u001b`
  package var shortEscape: String { "\\u" + padded(String(value, radix: 16), 4) }

  /// `\n`, `\r` or `\t`; nil for another character.
  package var lineEscape: String? {
    switch self {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: nil
    }
  }

  /// `U+001B`
  package var codePoint: String { "U+" + padded(String(value, radix: 16, uppercase: true), 4) }

  /// Whether the character is visible, does not control the terminal, does not end the line and
  /// does not change the direction of writing.
  package var isHarmless: Bool {
    if (0x20..<0x7F).contains(value) { return true }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
    }
  }
}
