extension TokenizedSQL {
  /// Takes the tokens of the first statement, with the semicolon at its end, which the last statement may lack. As
  /// for `sqlite3_complete()`, a trigger ends with `; END;`.
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
