import SchemaYAML

/// A value that can be a JSON member.
package protocol JSONConvertible {
  var json: JSON { get }
}

extension JSON: JSONConvertible, ExpressibleByDictionaryLiteral {
  package var json: JSON { self }

  package init(dictionaryLiteral elements: (String, any JSONConvertible)...) {
    self = .object(elements.map { ($0.0, $0.1.json) })
  }

  /// Joins the members of two objects.
  static func + (first: JSON, second: JSON) -> JSON {
    guard case .object(let these) = first, case .object(let those) = second else { return first }
    return .object(these + those)
  }
}

extension Bool: JSONConvertible { package var json: JSON { .bool(self) } }
extension Int: JSONConvertible { package var json: JSON { .integer(Int64(self)) } }
extension Int64: JSONConvertible { package var json: JSON { .integer(self) } }
extension String: JSONConvertible { package var json: JSON { .string(self) } }
extension Optional: JSONConvertible where Wrapped: JSONConvertible {
  package var json: JSON { self?.json ?? .null }
}
extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSON { .array(map(\.json)) }
}
