extension String {
  /// The text as it may stand in a line of output that a person, a terminal or a CI system reads: names,
  /// values and messages of other programs pass through here on the way to every output but JSON and
  /// generated SQL.
  ///
  /// Characters that drive a terminal, end a line, turn the direction of writing or have no width are
  /// written as `\u{…}`, and so is the first character of what GitHub Actions and Azure Pipelines take
  /// for a command: `::` at the start of a line, `##` anywhere (actions/runner, `ActionCommand.cs`).
  package var visible: String { visible { _ in false } }

  /// As `visible`, for SQL: its line ends and tabs stay.
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

extension Unicode.Scalar {
  /// Whether it neither drives a terminal, nor ends the line, nor turns the direction of writing, nor
  /// stands there unseen.
  package var isHarmless: Bool {
    if (0x20..<0x7F).contains(value) { return true }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: !properties.isDefaultIgnorableCodePoint || properties.isVariationSelector
    }
  }
}
