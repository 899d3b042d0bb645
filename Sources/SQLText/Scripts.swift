/// Adds a semicolon after the last statement if it has none, outside of any comment at the end of the text.
package func terminated(_ sql: String) -> String {
  let tokens = TokenizedSQL(sql)
  // SQLite accepts an open comment at the end of a text, but in a script the comment would continue.
  let sql = tokens.hasOpenComment ? sql + " */" : sql
  guard let end = tokens.significant.last, tokens.text(end) != ";" else { return sql }
  return tokens.tokens.last?.kind == .comment ? sql + "\n;" : sql + ";"
}

extension TokenizedSQL {
  /// Whether the text ends inside a comment of the form `/* … */`.
  package var hasOpenComment: Bool {
    guard let last = tokens.last, last.kind == .comment else { return false }
    let comment = text(last)
    return comment.hasPrefix("/*") && (comment.utf8.count < 4 || !comment.hasSuffix("*/"))
  }
}

/// SQL for the `sqlite3` shell, in which `/` or `go` alone on a line would end a statement.
///
/// A comment before such a word prevents that without changing a token. The word is not special within
/// strings, quoted names and comments, and a line that begins with a dot is not special within a statement
/// (shell.c, `line_is_command_terminator`).
package func shellScript(_ sql: String) -> String {
  let tokens = TokenizedSQL(sql)
  var bytes: [UInt8] = []
  var isAtStart = true
  for (index, token) in tokens.tokens.enumerated() {
    let text = tokens.text(token)
    if isAtStart, ["/", "go", "Go", "gO", "GO"].contains(text), tokens.endsLine(after: index) {
      bytes += "/**/ ".utf8
    }
    bytes += tokens.bytes[token.range]
    isAtStart = token.kind == .whitespace ? isAtStart || text.utf8.contains(10) : false
  }
  return String(decoding: bytes, as: UTF8.self)
}

extension TokenizedSQL {
  /// Whether only white space and comments follow a token on its line.
  fileprivate func endsLine(after index: Int) -> Bool {
    for token in tokens[(index + 1)...] {
      if token.isSignificant { return false }
      if bytes[token.range].contains(10) || text(token).hasPrefix("--") { return true }
    }
    return true
  }
}

extension TokenizedSQL {
  /// Removes the first statement and returns its tokens, including the semicolon at its end, if any. As for
  /// `sqlite3_complete()`, a trigger ends with `; END;`.
  package func popStatement(_ tokens: inout ArraySlice<Token>) -> [Token] {
    var statement: [Token] = []
    while let token = tokens.popFirst() {
      statement.append(token)
      guard bytes[token.range.lowerBound] == UInt8(ascii: ";") else { continue }
      let ending = statement.suffix(3).map { text($0).identifier }
      if !isTrigger(statement) || ending == [";", "END", ";"] { break }
    }
    return statement
  }

  private func isTrigger(_ statement: [Token]) -> Bool {
    var names = statement.lazy.prefix(4).map { text($0).identifier }[...]
    if names.first == "EXPLAIN" { names = names.dropFirst() }
    guard names.popFirst() == "CREATE" else { return false }
    if ["TEMP", "TEMPORARY"].contains(names.first) { names = names.dropFirst() }
    return names.first == "TRIGGER"
  }
}
