import SQLText

/// A canonical form read back: what two versions of a manifest are compared by.
enum CanonicalValue: Hashable {
  /// In the order of the form.
  case mapping([(key: CanonicalValue, value: CanonicalValue)])
  case list([CanonicalValue])
  case text(String)
  /// The tokens.
  case sql([String])
  /// As the form writes it: an integer, a boolean, null.
  case plain(String)
  case real(UInt64)

  static func == (a: CanonicalValue, b: CanonicalValue) -> Bool {
    switch (a, b) {
    case (.mapping(let a), .mapping(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    case (.list(let a), .list(let b)): a == b
    // Swift compares texts by their characters, the digest by their bytes.
    case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
    case (.sql(let a), .sql(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    case (.plain(let a), .plain(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    default: false
    }
  }

  func hash(into hasher: inout Hasher) { hasher.combine(rendered) }

  /// The value of a mapping's key.
  subscript(_ key: String) -> CanonicalValue? {
    guard case .mapping(let entries) = self else { return nil }
    return entries.first { $0.key == .text(key) }?.value
  }

  var elements: [CanonicalValue] {
    if case .list(let elements) = self { elements } else { [] }
  }

  // MARK: For people

  /// On one line, much as YAML's flow style writes it.
  var rendered: String {
    switch self {
    case .mapping(let entries):
      "{" + entries.map { "\($0.key.rendered): \($0.value.rendered)" }.joined(separator: ", ") + "}"
    case .list(let elements): "[" + elements.map(\.rendered).joined(separator: ", ") + "]"
    case .text(let text): Self.isUnmistakable(text) ? text : "\"\(text)\""
    case .sql(let tokens): joinedSQL(tokens)
    case .plain(let text): text
    case .real(let bits): "\(Double(bitPattern: bits))"
    }
  }

  /// Whether a text without quotes is read as one.
  private static func isUnmistakable(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, !["null", "true", "false"].contains(text) else {
      return false
    }
    return (first.properties.isAlphabetic || first == "_")
      && text.unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic || $0.properties.numericType != nil
          || "_ ()-./".unicodeScalars.contains($0)
      }
  }
}

/// Tokens as somebody might write them.
func joinedSQL(_ tokens: [String]) -> String {
  var text = ""
  var glues = true
  for token in tokens {
    if !glues, ![",", ")", ";", "."].contains(token) { text += " " }
    text += token
    glues = ["(", "."].contains(token)
  }
  return text
}

extension CanonicalValue {
  /// Nil for bytes that are no canonical form.
  init?(form: [UInt8]) {
    var reader = Reader(rest: form[...])
    guard let value = reader.value(), reader.rest.isEmpty else { return nil }
    self = value
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func value() -> CanonicalValue? {
      guard let kind = rest.popFirst() else { return nil }
      switch kind {
      case UInt8(ascii: "{"):
        var entries: [(key: CanonicalValue, value: CanonicalValue)] = []
        while rest.first != UInt8(ascii: "}") {
          guard let key = value(), let value = value() else { return nil }
          entries.append((key, value))
        }
        rest = rest.dropFirst()
        return .mapping(entries)
      case UInt8(ascii: "["):
        var elements: [CanonicalValue] = []
        while rest.first != UInt8(ascii: "]") {
          guard let element = value() else { return nil }
          elements.append(element)
        }
        rest = rest.dropFirst()
        return .list(elements)
      case UInt8(ascii: "t"): return text().map { .text($0) }
      case UInt8(ascii: "s"):
        var tokens: [String] = []
        while rest.first != UInt8(ascii: ";") {
          guard let token = text() else { return nil }
          tokens.append(token)
        }
        rest = rest.dropFirst()
        return .sql(tokens)
      case UInt8(ascii: "i"): return word().map { .plain($0) }
      case UInt8(ascii: "b"): return word().map { .plain($0 == "1" ? "true" : "false") }
      case UInt8(ascii: "n"): return word().map { _ in .plain("null") }
      case UInt8(ascii: "r"): return word().flatMap { UInt64($0, radix: 16) }.map { .real($0) }
      default: return nil
      }
    }

    /// Up to the next `;`.
    private mutating func word() -> String? {
      let word = rest.prefix { $0 != UInt8(ascii: ";") }
      guard word.endIndex < rest.endIndex else { return nil }
      rest = rest[word.endIndex...].dropFirst()
      return String(decoding: word, as: UTF8.self)
    }

    /// A length, `:` and as many bytes.
    private mutating func text() -> String? {
      let digits = rest.prefix { $0 != UInt8(ascii: ":") }
      guard let length = Int(String(decoding: digits, as: UTF8.self)), length >= 0,
        digits.endIndex + 1 + length <= rest.endIndex
      else { return nil }
      let text = rest[(digits.endIndex + 1)..<(digits.endIndex + 1 + length)]
      rest = rest[text.endIndex...]
      return String(decoding: text, as: UTF8.self)
    }
  }
}
