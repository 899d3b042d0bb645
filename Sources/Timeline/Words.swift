import SchemaSQLText

extension String {
  /// A literal for a sentence, cut after 36 characters if it is long.
  package var shortened: String { count > 40 ? "\(prefix(36))…" : self }

  package var words: Set<Identifier> {
    Set(
      split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { Identifier($0) })
  }
}

extension TokenizedSQL {
  /// A word in upper case; other tokens unchanged.
  package func word(_ token: Token) -> String {
    token.kind == .word ? text(token).uppercased() : text(token)
  }

  /// The name that a token denotes.
  package func name(_ token: Token) -> Identifier {
    Quoting.unquoted(text(token)).identifier
  }

  /// Every word and string that can be a name. SQLite accepts `'x'` as a name in some places.
  package var possibleNames: Set<Identifier> {
    Set(
      tokens.filter { [.word, .quotedIdentifier, .string].contains($0.kind) }
        .map { Quoting.unquoted(text($0)).identifier })
  }

  /// The index of the first of these words outside parentheses.
  package func firstWord(of words: Set<Identifier>, in tokens: ArraySlice<Token>) -> Int? {
    outer(tokens).first { tokens[$0].kind == .word && words.contains(word(tokens[$0])) }
  }
}
