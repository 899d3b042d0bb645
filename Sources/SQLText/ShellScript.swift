/// A statement, or several, with a semicolon at the end, outside of any comment that the text ends with.
package func terminated(_ sql: String) -> String {
  let tokens = TokenizedSQL(sql)
  guard let last = tokens.tokens.last else { return sql }
  // SQLite takes the end of the text for the end of a comment; in a script more follows.
  let comment = last.kind == .comment ? tokens.text(last) : ""
  let isOpen = comment.hasPrefix("/*") && (comment.utf8.count < 4 || !comment.hasSuffix("*/"))
  let sql = isOpen ? sql + " */" : sql
  guard let end = tokens.significant.last, tokens.text(end) != ";" else { return sql }
  return comment.isEmpty ? sql + ";" : sql + "\n;"
}

/// SQL as the `sqlite3` shell reads it: for the shell, `/` or `go` alone on a line ends a statement.
///
/// With a comment before it the line is not alone, and every token stays what it is. Within strings,
/// quoted names and comments the shell looks for neither, nor for lines that begin with a dot
/// anywhere within a statement (shell.c, `line_is_command_terminator`).
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
  /// Whether nothing but white space and comments follows a token on its line.
  fileprivate func endsLine(after index: Int) -> Bool {
    for token in tokens[(index + 1)...] {
      if token.isSignificant { return false }
      if bytes[token.range].contains(10) || text(token).hasPrefix("--") { return true }
    }
    return true
  }
}
