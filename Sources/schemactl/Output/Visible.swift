extension String {
  /// For a line of text output: what would drive a terminal, break the line or turn the direction
  /// of writing is escaped as `\u{…}`. The one place through which names and values pass.
  var visible: String { visible { _ in false } }

  /// As `visible`, for a message of several lines: line ends stay, and what follows one is indented
  /// so that no name can look like a line of our own.
  var visibleLines: String {
    visible { $0 == "\n" }.split(separator: "\n", omittingEmptySubsequences: true)
      .joined(separator: "\n  ")
  }

  /// As `visible`, for SQL: its line ends and tabs stay.
  var visibleScript: String { visible { $0 == "\n" || $0 == "\t" } }

  /// With words that no line has room for cut short: a name may have thousands of characters.
  var withShortWords: String {
    guard utf8.count > 300 else { return self }
    return split(separator: " ", omittingEmptySubsequences: false).map { word in
      word.utf8.count > 300 && word.count > 300
        ? "\(word.prefix(100))…\(word.suffix(20)) (\(word.count) characters)" : String(word)
    }.joined(separator: " ")
  }

  /// At most `limit` characters, on one line.
  func shortened(to limit: Int) -> String {
    let line = split(whereSeparator: \.isWhitespace).joined(separator: " ").visible
    return line.count > limit ? line.prefix(limit - 1) + "…" : line
  }

  private func visible(except isKept: (Unicode.Scalar) -> Bool) -> String {
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    return unicodeScalars.reduce(into: "") { result, scalar in
      if scalar.isHarmless || isKept(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
  }
}

extension Unicode.Scalar {
  /// Neither drives a terminal, nor breaks the line, nor turns the direction of writing.
  var isHarmless: Bool {
    if (0x20..<0x7F).contains(value) { return true }
    return switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: !properties.isBidiControl
    }
  }
}
