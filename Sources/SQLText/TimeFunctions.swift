/// SQLite's functions of date and time (Date And Time Functions).
package enum TimeFunctions {
  package static let names: Set<Identifier> = [
    "date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff",
  ]

  /// The texts that mean the present as a time.
  private static let present: Set<Identifier> = ["now", "subsec", "subsecond"]

  package static func isPresent(_ text: String) -> Bool { present.contains(text.identifier) }

  /// Which arguments are times. The others are the format and the modifiers.
  package static func times(of function: Identifier) -> Range<Int> {
    switch function {
    case "strftime": 1..<2
    case "timediff": 0..<2
    default: 0..<1
    }
  }
}

extension TokenizedSQL {
  /// Whether the tokens begin with a call of a time function that gives the present time: without a time, or with
  /// `'now'` or `'subsec'` in it.
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
  func inside(_ tokens: ArraySlice<Token>) -> ArraySlice<Token> {
    tokens[..<closing(tokens)].dropFirst()
  }

  /// The index of the `)` that closes the `(` at the start of `tokens`; their end if none does.
  func closing(_ tokens: ArraySlice<Token>) -> Int {
    var depth = 0
    for index in tokens.indices {
      let text = text(tokens[index])
      depth += text == "(" ? 1 : text == ")" ? -1 : 0
      if depth == 0 { return index }
    }
    return tokens.endIndex
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
