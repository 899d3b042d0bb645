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
