/// The names that an expression or a statement mentions, for finding dependent objects.
extension TokenizedSQL {
  /// Every token inside a byte range that can be a name: quoted, or bare and not reserved. Excludes
  /// strings. Includes functions, types, aliases and keywords that may be names.
  package func identifiers(in range: Range<Int>) -> [Name] {
    significant(in: range).compactMap(name)
  }

  /// Whether one of these names, inside a byte range or anywhere, is this one.
  package func names(_ name: String, in range: Range<Int>? = nil) -> Bool {
    identifiers(in: range ?? 0..<bytes.count).contains { $0.isSame(as: name) }
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

  private func name(_ token: Token) -> Name? {
    guard token.kind == .quotedIdentifier || token.kind == .word,
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
