import SchemaSQLText

extension TokenizedSQL {
  /// A word in upper case; other tokens unchanged.
  package func word(_ token: Token) -> String {
    token.kind == .word ? text(token).uppercased() : text(token)
  }

  /// The name that a token means.
  package func name(_ token: Token) -> Identifier {
    Quoting.unquoted(text(token)).identifier
  }

  /// The first of these words outside parentheses.
  package func firstWord(of words: Set<Identifier>, in tokens: ArraySlice<Token>) -> Int? {
    var depth = 0
    for index in tokens.indices {
      let token = tokens[index]
      if depth == 0, token.kind == .word, words.contains(word(token)) { return index }
      let text = text(token)
      depth += text == "(" ? 1 : text == ")" ? -1 : 0
    }
    return nil
  }
}
