import SchemaSQLText

/// The value of a scalar: YAML 1.2's core schema, without what readers of YAML disagree on.
///
/// Texts are equal when their bytes are: `String` takes two spellings of one character for equal,
/// and SQLite does not.
package enum ScalarValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  /// Something that YAML 1.1, YAML 1.2 or SQLite read differently.
  case ambiguous(String, Ambiguity)

  package enum Ambiguity: Equatable, Sendable {
    case boolean(Bool)
    case leadingZeros
    case radix
    case underscores
    case infinityOrNaN
    case integerBeyond64Bits
    case realOutOfRange
  }

  package init(plain text: String) {
    guard let first = text.utf8.first, Self.mayBegin(first) else {
      self = text.isEmpty ? .null : .text(text)
      return
    }
    switch text {
    case "~", "null", "Null", "NULL": self = .null
    case "true", "True", "TRUE": self = .boolean(true)
    case "false", "False", "FALSE": self = .boolean(false)
    default: self = Self.number(text) ?? Self.oldBoolean(text) ?? .text(text)
    }
  }

  /// Whether a byte may begin anything but text: most scalars are names.
  private static func mayBegin(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "~"): true
    default: byte.isDigit || "nytfo".utf8.contains(byte.lowercased)
    }
  }

  package static func == (a: ScalarValue, b: ScalarValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)), (.ambiguous(let a, _), .ambiguous(let b, _)):
      a.utf8.elementsEqual(b.utf8)
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: break
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(let text), .ambiguous(let text, _):
      for byte in text.utf8 { hasher.combine(byte) }
    }
  }

  private static func oldBoolean(_ text: String) -> ScalarValue? {
    guard text.utf8.count <= 3 else { return nil }
    return switch text.lowercased() {
    case "yes", "on": .ambiguous(text, .boolean(true))
    case "no", "off": .ambiguous(text, .boolean(false))
    default: nil
    }
  }

  private static func number(_ text: String) -> ScalarValue? {
    var digits = text.utf8[...]
    if let first = digits.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      digits = digits.dropFirst()
    }
    guard let first = digits.first, first.isDigit || first == UInt8(ascii: ".") else { return nil }
    switch digits.map(\.lowercased) {
    case Array(".inf".utf8), Array(".nan".utf8): return .ambiguous(text, .infinityOrNaN)
    default: break
    }
    if isRadix(digits) { return .ambiguous(text, .radix) }
    let plain = digits.filter { $0 != UInt8(ascii: "_") }
    guard let isReal = isDecimal(plain[...]) else { return nil }
    if plain.count < digits.count { return first.isDigit ? .ambiguous(text, .underscores) : nil }
    if first == UInt8(ascii: "0"), digits.dropFirst().first?.isDigit == true {
      return .ambiguous(text, .leadingZeros)
    }
    guard isReal else {
      return Int64(text).map { .integer($0) } ?? .ambiguous(text, .integerBeyond64Bits)
    }
    guard let real = Double(text), real.isFinite else { return .ambiguous(text, .realOutOfRange) }
    return .real(real)
  }

  /// `0x1f`, `0o17` and `0b11`.
  private static func isRadix(_ digits: Substring.UTF8View) -> Bool {
    let prefix = digits.prefix(2).map(\.lowercased)
    guard [Array("0x".utf8), Array("0o".utf8), Array("0b".utf8)].contains(prefix) else {
      return false
    }
    let rest = digits.dropFirst(2)
    return !rest.isEmpty && rest.allSatisfy { $0.isHexDigit || $0 == UInt8(ascii: "_") }
  }

  /// Whether digits are those of a real (true) or of an integer (false); nil for neither:
  /// `\. [0-9]+ | [0-9]+ (\. [0-9]*)?`, then `([eE] [-+]? [0-9]+)?`.
  private static func isDecimal(_ digits: ArraySlice<UInt8>) -> Bool? {
    var rest = digits.drop(while: \.isDigit)
    let whole = digits.count - rest.count
    if rest.isEmpty { return whole > 0 ? false : nil }
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst()
      rest = fraction.drop(while: \.isDigit)
      guard whole > 0 || rest.count < fraction.count else { return nil }
    }
    guard let exponent = rest.first else { return true }
    guard whole > 0 || rest.count < digits.count, exponent.lowercased == UInt8(ascii: "e") else {
      return nil
    }
    rest = rest.dropFirst()
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
      rest = rest.dropFirst()
    }
    return !rest.isEmpty && rest.allSatisfy(\.isDigit) ? true : nil
  }
}

extension ScalarValue {
  /// What an ambiguous value is and how to say what is meant; nil for every other value.
  package var ambiguity: String? {
    guard case .ambiguous(let text, let kind) = self else { return nil }
    let shown = quoted(text)
    let quotes = "quote it ('\(abbreviated(text))' is text)"
    return switch kind {
    case .boolean(let value):
      "\(shown) is a boolean to some readers of YAML and text to others: \(quotes), "
        + "or write `\(value)`, the boolean"
    case .leadingZeros:
      "\(shown) has leading zeros: \(quotes), or write the number without them"
    case .radix:
      "\(shown) is not a decimal number: \(quotes), or write the number in decimal"
    case .underscores:
      "\(shown) has `_` between digits: \(quotes), or write the number without it"
    case .infinityOrNaN:
      "\(shown) is not a valid value in a manifest: \(quotes)"
    case .integerBeyond64Bits:
      "\(shown) does not fit 64 bits: \(quotes)"
    case .realOutOfRange:
      "\(shown) is beyond the range of a real: \(quotes)"
    }
  }

  /// The kind of a value in the place of a text: "a number". Nil for text.
  package var kindOtherThanText: String? {
    switch self {
    case .text: nil
    case .null: "null"
    case .boolean: "a boolean"
    case .integer, .real: "a number"
    case .ambiguous(_, .boolean): "a boolean to some readers of YAML"
    case .ambiguous: "a number to some readers of YAML"
    }
  }
}

/// A text for a message: on one line, at most forty characters of the text.
package func abbreviated(_ text: String) -> String {
  let whole = text.unicodeScalars
  let start = whole.prefix(40)
  let text = start.map { $0 == "\n" ? "\\n" : $0 == "\t" ? "\\t" : String($0) }.joined()
  return text.visible + (start.endIndex < whole.endIndex ? "…" : "")
}

package func quoted(_ text: String) -> String { "`\(abbreviated(text))`" }
