import SchemaSQLite

/// A token of SQL, as SQLite's tokenizer reads it.
package struct Token: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case whitespace
    case comment
    /// A bare identifier or a keyword.
    case word
    /// `"x"`, `` `x` `` or `[x]`.
    case quotedIdentifier
    /// `'x'`, which SQLite also accepts as a name where only a name is valid.
    case string
    case blob
    case integer
    case real
    /// `?`, `?1`, `:a`, `@a`, `$a`, `#1`.
    case parameter
    /// Operators, `(`, `)`, `,`, `;` and `.`.
    case punctuation
    /// Reported by SQLite as an unrecognized token.
    case illegal
  }

  package let kind: Kind
  /// The byte range in the text.
  package let range: Range<Int>

  package init(kind: Kind, range: Range<Int>) {
    self.kind = kind
    self.range = range
  }
}

/// SQL split into tokens, whose ranges cover the text without gaps or overlaps.
///
/// It accepts any bytes in linear time: bytes that SQLite would refuse become `illegal` tokens.
/// Digit separators (`1_000`) follow the rules of SQLite 3.46 and later.
package struct TokenizedSQL: Sendable {
  package let bytes: [UInt8]
  package let tokens: [Token]
  /// The tokens other than white space and comments.
  package let significant: [Token]

  package init(_ text: String) {
    self.init(bytes: Array(text.utf8))
  }

  package init(bytes: [UInt8]) {
    self.bytes = bytes
    self.tokens = Scanner(bytes: bytes).tokens()
    self.significant = tokens.filter { $0.isSignificant }
  }

  /// The text of the token, including quotes.
  package func text(_ token: Token) -> String {
    text(token.range)
  }

  /// The text of a byte range, which must lie within `bytes`.
  package func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// Whether a token is this word, regardless of ASCII case.
  package func isWord(_ token: Token?, _ word: String) -> Bool {
    token.map { $0.kind == .word && has($0, word) } ?? false
  }

  /// Whether a token has this text, regardless of ASCII case.
  func has(_ token: Token, _ text: String) -> Bool {
    var text = text
    return bytes.withUnsafeBufferPointer { bytes in
      text.withUTF8 { areSameNames(UnsafeBufferPointer(rebasing: bytes[token.range]), $0) }
    }
  }

  /// The significant tokens that lie completely inside a byte range.
  package func significant(in range: Range<Int>) -> [Token] {
    tokens[tokens.partition { $0.range.lowerBound >= range.lowerBound }...]
      .prefix { $0.range.upperBound <= range.upperBound }
      .filter(\.isSignificant)
  }
}

extension Array {
  /// The index of the first element for which a condition is true that is true for all later ones, too.
  package func partition(where isLater: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isLater(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Token {
  package var isSignificant: Bool { kind != .whitespace && kind != .comment }
}

/// Implements the rules of SQLite's `tokenize.c`.
private struct Scanner {
  let bytes: [UInt8]

  func tokens() -> [Token] {
    var tokens: [Token] = []
    tokens.reserveCapacity(bytes.count / 3)
    var start = 0
    while start < bytes.count {
      let (kind, end) = token(at: start)
      tokens.append(Token(kind: kind, range: start..<end))
      start = end
    }
    return tokens
  }

  /// The byte at an index. Past the end, a NUL, which belongs to no class.
  private func byte(_ index: Int) -> UInt8 {
    index < bytes.count ? bytes[index] : 0
  }

  private func end(from start: Int, while matches: (UInt8) -> Bool) -> Int {
    var index = start
    while index < bytes.count, matches(bytes[index]) { index += 1 }
    return index
  }

  private func token(at start: Int) -> (Token.Kind, Int) {
    let next = byte(start + 1)
    switch bytes[start] {
    case " ", "\t", "\n", "\r", 0x0C:
      return (.whitespace, end(from: start + 1, while: { $0.isSpace }))
    case "-" where next == "-":
      return withoutNUL(.comment, start..<end(from: start + 2) { $0 != "\n" })
    case "/" where next == "*" && start + 2 < bytes.count:
      return blockComment(at: start)
    case "'":
      return quoted(.string, at: start)
    case "\"", "`":
      return quoted(.quotedIdentifier, at: start)
    case "[":
      return bracketed(at: start)
    case "x" where next == "'", "X" where next == "'":
      return blob(at: start)
    case ".":
      return next.isDigit ? number(at: start) : (.punctuation, start + 1)
    case let first where first.isDigit:
      return number(at: start)
    case "?":
      return (.parameter, end(from: start + 1, while: { $0.isDigit }))
    case "$", "@", ":", "#":
      return parameter(at: start)
    case 0xEF where next == 0xBB && byte(start + 2) == 0xBF:
      return (.whitespace, start + 3)
    case let first where first.isIdentifierStart:
      return (.word, end(from: start + 1, while: { $0.isIdentifier }))
    default:
      return punctuation(at: start)
    }
  }

  private func blockComment(at start: Int) -> (Token.Kind, Int) {
    var index = start + 3
    while index < bytes.count {
      if bytes[index] == "/", bytes[index - 1] == "*" {
        return withoutNUL(.comment, start..<index + 1)
      }
      index += 1
    }
    return withoutNUL(.comment, start..<bytes.count)
  }

  private func quoted(_ kind: Token.Kind, at start: Int) -> (Token.Kind, Int) {
    let quote = bytes[start]
    var index = start + 1
    while index < bytes.count {
      if bytes[index] == quote {
        if byte(index + 1) != quote { return withoutNUL(kind, start..<index + 1) }
        index += 1
      }
      index += 1
    }
    return (.illegal, bytes.count)
  }

  private func bracketed(at start: Int) -> (Token.Kind, Int) {
    let close = end(from: start + 1) { $0 != "]" }
    guard close < bytes.count else { return (.illegal, bytes.count) }
    return withoutNUL(.quotedIdentifier, start..<close + 1)
  }

  private func blob(at start: Int) -> (Token.Kind, Int) {
    let digits = end(from: start + 2, while: { $0.isHexDigit })
    if byte(digits) == "'", (digits - start).isMultiple(of: 2) { return (.blob, digits + 1) }
    let close = end(from: digits) { $0 != "'" }
    return (.illegal, min(close + 1, bytes.count))
  }

  private func number(at start: Int) -> (Token.Kind, Int) {
    var kind = Token.Kind.integer
    var index: Int
    let isHex = bytes[start] == "0" && byte(start + 1) | 0x20 == "x" && byte(start + 2).isHexDigit
    if isHex {
      index = end(from: start + 2) { $0.isHexDigit || $0 == "_" }
    } else {
      index = end(from: start, while: { $0.isDigitOrSeparator })
      if byte(index) == "." {
        kind = .real
        index = end(from: index + 1, while: { $0.isDigitOrSeparator })
      }
      if byte(index) | 0x20 == "e" {
        let sign = byte(index + 1) == "+" || byte(index + 1) == "-" ? 1 : 0
        if byte(index + 1 + sign).isDigit {
          kind = .real
          index = end(from: index + 1 + sign, while: { $0.isDigitOrSeparator })
        }
      }
    }
    let wordEnd = end(from: index, while: { $0.isIdentifier })
    if wordEnd > index || hasStraySeparator(start..<index, isHex: isHex) { kind = .illegal }
    return (kind, wordEnd)
  }

  /// Whether a `_` is not between two digits.
  private func hasStraySeparator(_ range: Range<Int>, isHex: Bool) -> Bool {
    func isDigit(_ index: Int) -> Bool {
      range.contains(index) && (isHex ? bytes[index].isHexDigit : bytes[index].isDigit)
    }
    return range.contains { bytes[$0] == "_" && !(isDigit($0 - 1) && isDigit($0 + 1)) }
  }

  /// `$a::b(c)` is one parameter, a syntax for Tcl variables.
  private func parameter(at start: Int) -> (Token.Kind, Int) {
    var index = start + 1
    var hasName = false
    while index < bytes.count {
      if bytes[index].isIdentifier {
        hasName = true
      } else if bytes[index] == "(", hasName {
        let close = end(from: index + 1) { $0 != ")" && !$0.isSpace && $0 != 0 }
        return byte(close) == ")" ? (.parameter, close + 1) : (.illegal, close)
      } else if bytes[index] == ":", byte(index + 1) == ":" {
        index += 1
      } else {
        break
      }
      index += 1
    }
    return (hasName ? .parameter : .illegal, index)
  }

  private func punctuation(at start: Int) -> (Token.Kind, Int) {
    switch (bytes[start], byte(start + 1), byte(start + 2)) {
    case ("-", ">", ">"):
      return (.punctuation, start + 3)
    case ("-", ">", _), ("|", "|", _), ("=", "=", _), ("!", "=", _), ("<", "=", _),
      ("<", ">", _), ("<", "<", _), (">", "=", _), (">", ">", _):
      return (.punctuation, start + 2)
    case ("-", _, _), ("|", _, _), ("=", _, _), ("<", _, _), (">", _, _), ("+", _, _),
      ("*", _, _), ("/", _, _), ("%", _, _), ("&", _, _), ("~", _, _), ("(", _, _),
      (")", _, _), (",", _, _), (";", _, _):
      return (.punctuation, start + 1)
    default:
      return (.illegal, start + 1)
    }
  }

  /// SQLite stops at a NUL, so it never reads a token that contains one.
  private func withoutNUL(_ kind: Token.Kind, _ range: Range<Int>) -> (Token.Kind, Int) {
    (bytes[range].contains(0) ? .illegal : kind, range.upperBound)
  }
}

// MARK: Bytes

/// ASCII classes as SQLite uses them: without locale or Unicode.
extension UInt8 {
  package var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
  package var isDigit: Bool { (0x30...0x39).contains(self) }
  var isDigitOrSeparator: Bool { isDigit || self == 0x5F }
  package var isHexDigit: Bool { isDigit || (0x61...0x66).contains(self | 0x20) }
  package var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
  /// SQLite treats every byte of a character beyond ASCII as a letter.
  var isIdentifierStart: Bool { isLetter || self == 0x5F || self >= 0x80 }
  var isIdentifier: Bool { isIdentifierStart || isDigit || self == 0x24 }

  package var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
  package var uppercased: UInt8 { (0x61...0x7A).contains(self) ? self & 0xDF : self }
}

/// Bytes in lower-case hexadecimal digits.
package func hexadecimal(_ bytes: [UInt8]) -> String {
  let digits: StaticString = "0123456789abcdef"
  return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
    for place in bytes.indices {
      text[place * 2] = digits.utf8Start[Int(bytes[place] >> 4)]
      text[place * 2 + 1] = digits.utf8Start[Int(bytes[place] & 15)]
    }
    return bytes.count * 2
  }
}

/// Matches a byte with a character: `byte == "("`.
func ~= (pattern: Unicode.Scalar, byte: UInt8) -> Bool { byte == UInt8(ascii: pattern) }
func == (byte: UInt8, scalar: Unicode.Scalar) -> Bool { byte == UInt8(ascii: scalar) }
func != (byte: UInt8, scalar: Unicode.Scalar) -> Bool { byte != UInt8(ascii: scalar) }
