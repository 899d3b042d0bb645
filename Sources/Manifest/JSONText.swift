/// A JSON document that people read: keys in the order given, on one line what fits there.
indirect enum JSONText {
  case bool(Bool)
  /// A number as it is written.
  case number(String)
  case string(String)
  case array([JSONText])
  case object([(key: String, value: JSONText)])

  static func strings(_ texts: [String]) -> JSONText { .array(texts.map(JSONText.string)) }

  /// With its last line end.
  var document: String { rendered(indentation: 0, behind: 0) + "\n" }

  private static let width = 100

  /// - Parameter behind: the columns that stand before it on its line, and a comma after it.
  private func rendered(indentation: Int, behind: Int) -> String {
    let line = line
    if behind + line.utf8.count <= Self.width { return line }
    let inner = String(repeating: " ", count: indentation + 2)
    let end = "\n" + String(repeating: " ", count: indentation)
    switch self {
    case .array(let elements) where !elements.isEmpty:
      let lines = elements.map {
        inner + $0.rendered(indentation: indentation + 2, behind: indentation + 3)
      }
      return "[\n" + lines.joined(separator: ",\n") + end + "]"
    case .object(let members) where !members.isEmpty:
      let lines = members.map { key, value in
        let start = inner + Self.quoted(key) + ": "
        return start
          + value.rendered(indentation: indentation + 2, behind: start.utf8.count + 1)
      }
      return "{\n" + lines.joined(separator: ",\n") + end + "}"
    default: return line
    }
  }

  private var line: String {
    switch self {
    case .bool(let value): value ? "true" : "false"
    case .number(let number): number
    case .string(let text): Self.quoted(text)
    case .array(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
    case .object(let members) where members.isEmpty: "{}"
    case .object(let members):
      "{ " + members.map { Self.quoted($0) + ": " + $1.line }.joined(separator: ", ") + " }"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        result += "\\"
        result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
