import SchemaPlatform
import SchemaSQLite

extension String {
  /// The text escaped for a line of output that a person, a terminal or a CI system reads. Names,
  /// values and messages of other programs are escaped in every output except JSON and the statements
  /// of generated SQL.
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

/// The text in double quotes, with the usual escapes of `"` and `\`.
///
/// - Parameter escape: returns the escape of another character; nil to leave it unchanged.
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

/// `1 row`, `12,000,000 rows`.
package func counted(_ count: some BinaryInteger, _ noun: String) -> String {
  "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
}

/// `12,000,000`.
package func grouped(_ count: some BinaryInteger) -> String {
  var text = ""
  let digits = String(count.magnitude)
  for (index, digit) in digits.enumerated() {
    if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
    text.append(digit)
  }
  return (count < 0 ? "-" : "") + text
}

/// `340 ms`, `12.7 s`, `2 min 5 s`.
package func duration(_ milliseconds: Int64) -> String {
  switch milliseconds {
  case ..<1000: "\(milliseconds) ms"
  case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
  default: "\(milliseconds / 60_000) min \(milliseconds / 1000 % 60) s"
  }
}

extension String {
  /// The lines of a text for users to copy, such as a part of a manifest or SQL.
  package var lines: [String] {
    split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The text on one line, escaped like `visible`. A space replaces each line end and each tab.
  package var visibleLine: String {
    String(map { $0.isNewline || $0 == "\t" ? " " : $0 }).visible
  }

  /// The text on one line of at most `limit` characters.
  package func shortened(to limit: Int) -> String {
    let line = split(whereSeparator: \.isWhitespace).joined(separator: " ").visible
    return line.count > limit ? line.prefix(limit - 1) + "…" : line
  }
}

extension [String] {
  /// At most `limit` items for a message, followed by the number of the omitted ones.
  package func abridged(to limit: Int) -> [String] {
    count > limit ? prefix(limit) + ["and \(count - limit) more"] : self
  }
}

/// The words of a text in lines of at most `columns` characters. A longer word gets its own line.
///
/// - Parameter start: the number of columns that are occupied before the first line.
package func wrapped(_ text: String, columns: Int, after start: Int = 0) -> [String] {
  var lines: [String] = []
  var column = start
  for word in text.split(separator: " ") {
    if let last = lines.last, column + 1 + word.count <= columns {
      lines[lines.count - 1] = "\(last) \(word)"
      column += 1 + word.count
    } else {
      column = word.count + (lines.isEmpty ? start : 0)
      lines.append(String(word))
    }
  }
  return lines
}

/// The candidate that a misspelt word most probably means: at most two edits away, or for long words at most
/// a third of their length. Nil if there is none.
package func suggestion(for word: String, among candidates: [String]) -> String? {
  let letters = word.utf8.map(\.lowercased)
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let other = candidate.utf8.map(\.lowercased)
    let limit = max(2, max(letters.count, other.count) / 3)
    // Skips texts whose length differs too much. Below, the distance must be less than the number of letters,
    // because otherwise every short word would match.
    guard other.count > 0, abs(letters.count - other.count) <= limit else { continue }
    let distance = editDistance(letters, other)
    guard distance <= limit, distance < max(letters.count, other.count) else { continue }
    if distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.candidate
}

/// The question for an error message, such as ": did you mean `lists`?"; empty if no candidate is similar
/// enough.
package func didYouMean(_ word: String, among candidates: [String]) -> String {
  suggestion(for: word, among: candidates).map { ": did you mean `\($0)`?" } ?? ""
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one text into the
/// other (the optimal string alignment distance).
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var beforePrevious: [Int] = []
  var previous = Array(0...b.count)
  for i in a.indices {
    var current = [i + 1]
    for j in b.indices {
      let replaced = previous[j] + (a[i] == b[j] ? 0 : 1)
      var distance = min(previous[j + 1] + 1, current[j] + 1, replaced)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
        distance = min(distance, beforePrevious[j - 1] + 1)
      }
      current.append(distance)
    }
    (beforePrevious, previous) = (previous, current)
  }
  return previous[b.count]
}

extension Value {
  /// The value as SQL for a message, with at most forty characters or twenty bytes.
  package var shown: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "'\(text.prefix(40))\(text.count > 40 ? "…" : "")'"
    case .blob(let bytes):
      "x'\(hexadecimal(Array(bytes.prefix(20))))\(bytes.count > 20 ? "…" : "")'"
    }
  }
}
