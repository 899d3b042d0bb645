import SchemaSQLText

extension TokenizedSQL {
  /// A word in upper case; other tokens unchanged.
  package func word(_ token: Token) -> String {
    token.kind == .word ? text(token).uppercased() : text(token)
  }

  package func isWord(_ token: Token?, _ word: String) -> Bool {
    token.map { $0.kind == .word && self.word($0) == word } ?? false
  }

  /// The name that a token means.
  package func name(_ token: Token) -> Identifier {
    Quoting.unquoted(text(token)).identifier
  }

  /// The tokens between the parenthesis at the start of `tokens` and its closing parenthesis.
  package func inside(_ tokens: ArraySlice<Token>) -> ArraySlice<Token> {
    var depth = 0
    for index in tokens.indices {
      let text = text(tokens[index])
      depth += text == "(" ? 1 : text == ")" ? -1 : 0
      if depth == 0 {
        return tokens[tokens.index(after: tokens.startIndex)..<max(index, tokens.startIndex + 1)]
      }
    }
    return tokens.dropFirst()
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

  /// Splits at these words outside of parentheses; each piece follows its word.
  package func split(
    _ tokens: ArraySlice<Token>, atWords words: Set<Identifier>
  ) -> [(word: String?, tokens: ArraySlice<Token>)] {
    var pieces: [(word: String?, tokens: ArraySlice<Token>)] = []
    var word: String?
    var rest = tokens
    while let next = firstWord(of: words, in: rest) {
      pieces.append((word, rest[..<next]))
      word = self.word(rest[next])
      rest = rest[(next + 1)...]
    }
    return pieces + [(word, rest)]
  }

  package func split(_ tokens: ArraySlice<Token>, atCommas: ()) -> [ArraySlice<Token>] {
    var pieces: [ArraySlice<Token>] = []
    var depth = 0
    var start = tokens.startIndex
    for index in tokens.indices {
      let text = text(tokens[index])
      if text == ",", depth == 0 {
        pieces.append(tokens[start..<index])
        start = index + 1
      }
      depth += text == "(" ? 1 : text == ")" ? -1 : 0
    }
    return pieces + [tokens[start...]]
  }
}
