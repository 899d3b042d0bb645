/// Token lists in which two texts can be compared. Bytes, since `String` equality would take two
/// spellings of one character for equal, and SQLite does not.
extension TokenizedSQL {
  /// The tokens of a manifest's digest and a schema's fingerprint, version 1: the significant tokens as they are written, but
  /// for the words of `Keywords.reservedVersion1`, which are in upper case.
  package var canonicalTokens: [[UInt8]] {
    significant.map { token in
      let text = bytes[token.range]
      let isFolded =
        token.kind == .word && Keywords.contains(Keywords.reservedVersion1, text)
      return isFolded ? text.map(\.uppercased) : Array(text)
    }
  }

  /// What the comparison of two schemas covers; see `normalTokens(in:)`.
  package var normalTokens: [[UInt8]] {
    normalTokens(in: 0..<bytes.count)
  }

  /// The tokens inside a byte range, so that a difference of quoting, case, white space or comment
  /// makes none here: words and quoted names in lower case, bare where that says the same;
  /// operators in one of their spellings; no `;` at the end.
  ///
  /// A name stays in double quotes where the bare word is no name or may be something else
  /// (`"order"`, `"left"`, `"true"`, `"a b"`). String literals stay as they are.
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

/// Tokens one after the other, each as its length in decimal, `:`, its bytes: no two lists of
/// tokens encode alike.
package func encodedTokens(_ tokens: [[UInt8]]) -> [UInt8] {
  tokens.flatMap { Array("\($0.count):".utf8) + $0 }
}
