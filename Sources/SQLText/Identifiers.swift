/// The names that an expression or a statement mentions, for finding dependent objects.
extension TokenizedSQL {
  /// Every token inside a byte range that can be a name: quoted, or bare and not reserved. Excludes
  /// strings. Includes functions, types, aliases and keywords that may be names.
  package func identifiers(in range: Range<Int>) -> [Name] {
    significant(in: range).compactMap(name)
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
