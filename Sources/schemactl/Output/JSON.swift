import SchemaSQLText

/// A JSON document, and its encoding as UTF-8.
enum JSON {
  case null
  case bool(Bool)
  case integer(Int64)
  case string(String)
  case array([JSON])
  /// The keys keep their order.
  case object([(String, JSON)])

  static func text(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

  static func number(_ number: Int?) -> JSON { number.map { .integer(Int64($0)) } ?? .null }

  static func list(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }

  /// Joins the members of two objects.
  static func + (first: JSON, second: JSON) -> JSON {
    guard case .object(let these) = first, case .object(let those) = second else { return first }
    return .object(these + those)
  }

  /// One line in UTF-8, with its line feed.
  var line: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let integer): bytes += String(integer).utf8
    case .string(let text): Self.write(text, to: &bytes)
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
        Self.write(member.0, to: &bytes)
        bytes += ": ".utf8
        member.1.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Escapes more than JSON requires, because the line may be printed on a terminal.
  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": bytes += "\\\"".utf8
      case "\\": bytes += "\\\\".utf8
      case "\n": bytes += "\\n".utf8
      case "\r": bytes += "\\r".utf8
      case "\t": bytes += "\\t".utf8
      case _ where !scalar.isHarmless:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
        }
      default: bytes += UTF8.encode(scalar).map(Array.init) ?? []
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

/// A value that can be a JSON member.
protocol JSONConvertible {
  var json: JSON { get }
}

extension JSON: JSONConvertible, ExpressibleByDictionaryLiteral {
  var json: JSON { self }

  init(dictionaryLiteral elements: (String, any JSONConvertible)...) {
    self = .object(elements.map { ($0.0, $0.1.json) })
  }
}

extension Bool: JSONConvertible { var json: JSON { .bool(self) } }
extension Int: JSONConvertible { var json: JSON { .integer(Int64(self)) } }
extension Int64: JSONConvertible { var json: JSON { .integer(self) } }
extension String: JSONConvertible { var json: JSON { .string(self) } }
extension Optional: JSONConvertible where Wrapped: JSONConvertible {
  var json: JSON { self?.json ?? .null }
}
extension Array: JSONConvertible where Element: JSONConvertible {
  var json: JSON { .array(map(\.json)) }
}
