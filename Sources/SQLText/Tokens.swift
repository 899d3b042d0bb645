import SchemaSQLite

/// The names that an expression or a statement mentions, for finding dependent objects.
extension TokenizedSQL {
  /// All tokens inside a byte range that can be a name: quoted, or bare and not reserved. Includes functions,
  /// types, aliases and keywords that may be names.
  ///
  /// - Parameter includingStrings: whether to include strings. In an index or a key, SQLite reads `'a'` as the
  ///   column `a`.
  package func identifiers(in range: Range<Int>, includingStrings: Bool = false) -> [Name] {
    significant(in: range).compactMap { name($0, includingStrings: includingStrings) }
  }

  /// Whether the identifiers in a byte range, or in the whole text, include this name.
  package func names(
    _ name: String, in range: Range<Int>? = nil, includingStrings: Bool = false
  ) -> Bool {
    identifiers(in: range ?? 0..<bytes.count, includingStrings: includingStrings)
      .contains { $0.isSame(as: name) }
  }

  /// The identifiers that can be a column in an expression. Excludes names of functions,
  /// qualifiers, and names after COLLATE or AS.
  package func columnIdentifiers(in range: Range<Int>) -> [Name] {
    let tokens = significant(in: range)
    return tokens.indices.compactMap { index in
      let next = index + 1 < tokens.count ? tokens[index + 1] : nil
      if next.map({ isPunctuation($0, "(") || isPunctuation($0, ".") }) == true { return nil }
      if index > 0, isKeyword(tokens[index - 1], ["COLLATE", "AS"]) { return nil }
      return name(tokens[index])
    }
  }

  private func name(_ token: Token, includingStrings: Bool = false) -> Name? {
    guard
      token.kind == .quotedIdentifier || token.kind == .word
        || includingStrings && token.kind == .string,
      !isKeyword(token, Keywords.reservedVersion1)
    else { return nil }
    return Name(text: Quoting.unquoted(text(token)), range: token.range)
  }

  private func isKeyword(_ token: Token, _ words: Set<Identifier>) -> Bool {
    token.kind == .word && Keywords.contains(words, bytes[token.range])
  }

  private func isPunctuation(_ token: Token, _ text: String) -> Bool {
    token.kind == .punctuation && bytes[token.range].elementsEqual(text.utf8)
  }
}

/// Token lists for comparing two texts. They contain bytes, because `String` equality treats two
/// encodings of one character as equal, and SQLite does not.
extension TokenizedSQL {
  /// The tokens of a manifest's digest and a schema's fingerprint, version 1: the significant
  /// tokens unchanged, except that words of `Keywords.reservedVersion1` are in upper case.
  package var canonicalTokens: [[UInt8]] {
    significant.map { token in
      let text = bytes[token.range]
      let isFolded =
        token.kind == .word && Keywords.contains(Keywords.reservedVersion1, text)
      return isFolded ? text.map(\.uppercased) : Array(text)
    }
  }

  /// The tokens by which two schemas are compared; see `normalTokens(in:)`.
  package var normalTokens: [[UInt8]] {
    normalTokens(in: 0..<bytes.count)
  }

  /// The tokens inside a byte range, without differences of quoting, case, white space or comments:
  /// words and quoted names in lower case, without quotes if the meaning is the same; operators in
  /// one of their spellings; no `;` at the end.
  ///
  /// A name stays in double quotes if the bare word is not a name or may have another meaning
  /// (`"order"`, `"left"`, `"true"`, `"a b"`). String literals stay unchanged.
  package func normalTokens(in range: Range<Int>) -> [[UInt8]] {
    var kept = significant(in: range)
    while let last = kept.last, bytes[last.range].elementsEqual(";".utf8) { kept.removeLast() }
    return kept.map(normal)
  }

  private func normal(_ token: Token) -> [UInt8] {
    let text = bytes[token.range]
    switch token.kind {
    case .quotedIdentifier:
      return normalName(Quoting.unquoted(text).map(\.lowercased))
    case .word, .blob, .integer, .real:
      return text.map(\.lowercased)
    case .punctuation where text.elementsEqual("==".utf8):
      return Array("=".utf8)
    case .punctuation where text.elementsEqual("!=".utf8):
      return Array("<>".utf8)
    case .string, .parameter, .punctuation, .illegal, .whitespace, .comment:
      return Array(text)
    }
  }

  private func normalName(_ name: [UInt8]) -> [UInt8] {
    let isWord = name.first?.isIdentifierStart == true && name.allSatisfy(\.isIdentifier)
    let isSpecial = [Keywords.reservedVersion1, Keywords.joins, Keywords.values]
      .contains { Keywords.contains($0, name) }
    return isWord && !isSpecial
      ? name : Quoting.wrapped(name, in: "\"")
  }
}

/// Encodes tokens as their length in decimal, `:` and their bytes, so that different lists have
/// different encodings.
package func encodedTokens(_ tokens: [[UInt8]]) -> [UInt8] {
  tokens.flatMap { Array("\($0.count):".utf8) + $0 }
}

/// The structure of a list of tokens.
extension TokenizedSQL {
  /// The index of the `)` that closes the `(` at the start of `tokens`; their end if none does.
  package func closing(_ tokens: ArraySlice<Token>) -> Int {
    var depth = 0
    for index in tokens.indices {
      let text = text(tokens[index])
      depth += text == "(" ? 1 : text == ")" ? -1 : 0
      if depth == 0 { return index }
    }
    return tokens.endIndex
  }

  /// The index of the `(` that the last of `tokens` closes; nil if it closes none.
  package func opening(_ tokens: ArraySlice<Token>) -> Int? {
    guard let last = tokens.last, text(last) == ")" else { return nil }
    var depth = 0
    return tokens.indices.reversed().first { index in
      let text = text(tokens[index])
      depth += text == ")" ? 1 : text == "(" ? -1 : 0
      return depth == 0
    }
  }

  /// The indices of the tokens outside of parentheses, including the outermost parentheses.
  package func outer(_ tokens: ArraySlice<Token>) -> [Int] {
    var depth = 0
    return tokens.indices.filter { index in
      let text = text(tokens[index])
      if text == ")" { depth -= 1 }
      defer { if text == "(" { depth += 1 } }
      return depth == 0
    }
  }

  package func split(_ tokens: ArraySlice<Token>, atCommas: ()) -> [ArraySlice<Token>] {
    var pieces: [ArraySlice<Token>] = []
    var start = tokens.startIndex
    for index in outer(tokens) where text(tokens[index]) == "," {
      pieces.append(tokens[start..<index])
      start = index + 1
    }
    return pieces + [tokens[start...]]
  }
}

/// SQLite's functions of date and time (Date And Time Functions).
package enum TimeFunctions {
  package static let names: Set<Identifier> = [
    "date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff",
  ]

  /// The texts that mean the current time as an argument that is a time.
  private static let present: Set<Identifier> = ["now", "subsec", "subsecond"]

  package static func isPresent(_ text: String) -> Bool { present.contains(text.identifier) }

  /// The positions of the arguments that are times. The others are the format and the modifiers.
  package static func times(of function: Identifier) -> Range<Int> {
    switch function {
    case "strftime": 1..<2
    case "timediff": 0..<2
    default: 0..<1
    }
  }
}

/// SQLite's random functions and those of the time, and `uuid`.
package let varyingFunctions: Set<Identifier> = TimeFunctions.names.union([
  "random", "randomblob", "uuid", "current_timestamp", "current_date", "current_time",
])

extension TokenizedSQL {
  /// Whether the tokens begin with a call of a time function that returns the current time, because the call
  /// has no time, or because the time is `'now'` or `'subsec'`.
  package func readsClock(_ tokens: ArraySlice<Token>) -> Bool {
    guard tokens.count > 1, text(tokens[tokens.startIndex + 1]) == "(" else { return false }
    let name = Quoting.unquoted(text(tokens[tokens.startIndex])).identifier
    guard TimeFunctions.names.contains(name) else { return false }
    let list = inside(tokens.dropFirst())
    let arguments = list.isEmpty ? [] : split(list, atCommas: ())
    let places = TimeFunctions.times(of: name)
    guard arguments.count > places.lowerBound else { return true }
    return arguments[places.clamped(to: arguments.indices)].joined().contains { token in
      [.string, .quotedIdentifier].contains(token.kind)
        && TimeFunctions.isPresent(Quoting.unquoted(text(token)))
    }
  }

  /// The tokens between the parenthesis at the start of `tokens` and its closing parenthesis.
  package func inside(_ tokens: ArraySlice<Token>) -> ArraySlice<Token> {
    tokens[..<closing(tokens)].dropFirst()
  }
}

extension TokenizedSQL {
  /// The number or string at a token, with its minus sign.
  package func literal(_ tokens: [Token], _ index: Int) -> Value? {
    let text = text(tokens[index])
    let isNegative = index > 0 && self.text(tokens[index - 1]) == "-"
    switch tokens[index].kind {
    case .string: return .text(Quoting.unquoted(text))
    case .integer: return Int64(text).map { .integer(isNegative ? -$0 : $0) }
    case .real: return Double(text).map { .real(isNegative ? -$0 : $0) }
    default: return nil
    }
  }
}
