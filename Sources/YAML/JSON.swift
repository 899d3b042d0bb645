import SchemaPlatform
import SchemaSQLText

/// A JSON document, and its encoding as UTF-8.
package indirect enum JSON {
  /// A number, `true`, `false` or `null`, in the given spelling.
  case literal(String)
  case string(String)
  case array([JSON])
  /// The keys keep their order.
  case object([(key: String, value: JSON)])

  package static let null = JSON.literal("null")

  /// One line, with its line feed.
  package var line: [UInt8] { bytes + [UInt8(ascii: "\n")] }

  /// The document for people, with a line feed at the end. A value that fits on one line is not split.
  package var document: String {
    String(decoding: rendered(indentation: 0, behind: 0), as: UTF8.self) + "\n"
  }

  private static let width = 100

  /// - Parameter behind: the number of columns that the line needs for the text before the value and a comma
  ///   after it.
  private func rendered(indentation: Int, behind: Int) -> [UInt8] {
    let line = bytes
    if behind + line.count <= Self.width { return line }
    let inner = indentation + 2
    switch self {
    case .array(let elements) where !elements.isEmpty:
      return Self.block("[", "]", indentation) {
        elements.map { $0.rendered(indentation: inner, behind: inner + 1) }
      }
    case .object(let members) where !members.isEmpty:
      return Self.block("{", "}", indentation) {
        members.map { key, value in
          let start = Self.quoted(key) + Array(": ".utf8)
          return start + value.rendered(indentation: inner, behind: inner + start.count + 1)
        }
      }
    default: return line
    }
  }

  private static func block(
    _ start: String, _ end: String, _ indentation: Int, _ lines: () -> [[UInt8]]
  ) -> [UInt8] {
    let margin = "\n" + String(repeating: " ", count: indentation)
    var bytes = Array(start.utf8)
    for (index, line) in lines().enumerated() {
      bytes += ((index > 0 ? "," : "") + margin + "  ").utf8
      bytes += line
    }
    return bytes + Array((margin + end).utf8)
  }

  private var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .literal(let text): bytes += text.utf8
    case .string(let text): bytes += Self.quoted(text)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes += ", ".utf8 }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes += ", ".utf8 }
        bytes += Self.quoted(member.key)
        bytes += ": ".utf8
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Escapes more characters than JSON requires, because a terminal may show the line.
  private static func quoted(_ text: String) -> [UInt8] {
    let quoted = doubleQuoted(text) { scalar in
      if scalar.isHarmless { return nil }
      return scalar.lineEscape
        ?? String(scalar).utf16.map { "\\u" + padded(String($0, radix: 16), 4) }.joined()
    }
    return Array(quoted.utf8)
  }
}

/// A value that can be a JSON member.
package protocol JSONConvertible {
  var json: JSON { get }
}

extension JSON: JSONConvertible, ExpressibleByDictionaryLiteral {
  package var json: JSON { self }

  package init(dictionaryLiteral elements: (String, any JSONConvertible)...) {
    self = .object(elements.map { ($0.0, $0.1.json) })
  }

  /// The members of an object; empty for another value.
  package var members: [(key: String, value: JSON)] {
    if case .object(let members) = self { members } else { [] }
  }

  /// Joins the members of two objects.
  package static func + (first: JSON, second: JSON) -> JSON {
    .object(first.members + second.members)
  }
}

extension Bool: JSONConvertible { package var json: JSON { .literal("\(self)") } }
extension Int: JSONConvertible { package var json: JSON { .literal("\(self)") } }
extension Int64: JSONConvertible { package var json: JSON { .literal("\(self)") } }
extension String: JSONConvertible { package var json: JSON { .string(self) } }
extension Optional: JSONConvertible where Wrapped: JSONConvertible {
  package var json: JSON { self?.json ?? .null }
}
extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSON { .array(map(\.json)) }
}
