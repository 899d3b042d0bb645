import SchemaManifest
import SchemaSQLText
import SchemaTimeline

/// A statement of an operation's SQL, as it is written there.
struct PlacedStatement {
  let source: SQLSource
  /// Which of the operation's texts that is, from 0.
  let number: Int
  private let sql: TokenizedSQL
  /// Without its semicolon.
  private let tokens: [Token]
  /// From its first word through its semicolon, in bytes of the source's text.
  let whole: Range<Int>
  /// Whether the text holds no other one.
  let isAlone: Bool

  /// - Parameters:
  ///   - number: which of the operation's texts `source` is.
  ///   - isStart: whether the statement that begins at a byte of the text is the right one.
  init?(in source: SQLSource, number: Int, where isStart: (Int) -> Bool) {
    let sql = TokenizedSQL(source.text)
    let all = sql.significant
    guard let first = all.firstIndex(where: { isStart($0.range.lowerBound) }) else { return nil }
    let tokens = all[first...].prefix { sql.text($0) != ";" }
    guard let last = tokens.last else { return nil }
    self.source = source
    self.number = number
    self.sql = sql
    self.tokens = Array(tokens)
    let end = all.indices.contains(tokens.endIndex) ? all[tokens.endIndex] : last
    let whole = all[first].range.lowerBound..<end.range.upperBound
    self.whole = whole
    isAlone = all.allSatisfy { whole.contains($0.range.lowerBound) || sql.text($0) == ";" }
  }

  /// The first place where these keywords follow each other.
  func words(_ words: [String]) -> Range<Int>? { place(of: words, in: tokens[...]) }

  /// The place of NOT NULL in the definition of a column, if a DEFAULT follows it and no conflict clause.
  func notNull(of column: String) -> Range<Int>? {
    guard let definition = definition(of: column),
      let words = place(of: ["NOT", "NULL"], in: definition)
    else { return nil }
    let rest = definition.drop { $0.range.lowerBound < words.upperBound }
    guard !sql.isWord(rest.first, "ON"), place(of: ["DEFAULT"], in: rest) != nil else { return nil }
    return words
  }

  /// The tokens of a column's definition, its name first.
  private func definition(of column: String) -> ArraySlice<Token>? {
    func isName(_ token: Token) -> Bool {
      [.word, .quotedIdentifier, .string].contains(token.kind)
        && Quoting.unquoted(sql.text(token)).identifier == column.identifier
    }
    if sql.isWord(tokens.first, "ALTER") {
      guard let add = tokens.firstIndex(where: { sql.isWord($0, "ADD") }) else { return nil }
      let rest = tokens[(add + 1)...]
      let name = sql.isWord(rest.first, "COLUMN") ? rest.dropFirst() : rest
      return name.first.map(isName) ?? false ? name : nil
    }
    guard let body = tokens.firstIndex(where: { sql.text($0) == "(" }) else { return nil }
    var depth = 1
    var start = body + 1
    for index in tokens.indices.dropFirst(start) {
      switch sql.text(tokens[index]) {
      case "(": depth += 1
      case ")": depth -= 1
      default: break
      }
      let ends = depth == 0 || depth == 1 && sql.text(tokens[index]) == ","
      guard ends else { continue }
      if start < index, isName(tokens[start]) { return tokens[start..<index] }
      if depth == 0 { return nil }
      start = index + 1
    }
    return nil
  }

  /// Of those outside any parentheses that the tokens open.
  private func place(of words: [String], in tokens: ArraySlice<Token>) -> Range<Int>? {
    var depth = 0
    for index in tokens.indices {
      if sql.text(tokens[index]) == "(" { depth += 1 }
      if sql.text(tokens[index]) == ")" { depth -= 1 }
      let found = tokens[index...].prefix(words.count)
      if depth == 0, found.count == words.count,
        zip(found, words).allSatisfy({ sql.isWord($0, $1) }),
        let last = found.last
      {
        return tokens[index].range.lowerBound..<last.range.upperBound
      }
    }
    return nil
  }
}

extension Manifest {
  /// The statement of an operation that begins at a place of the file.
  func statement(in operation: Int, at position: Position) -> PlacedStatement? {
    guard operations.indices.contains(operation) else { return nil }
    let sources: [SQLSource] =
      switch operations[operation].kind {
      case .sql(let sources): sources
      case .createView(_, let source), .createTrigger(_, let source): [source]
      default: []
      }
    return sources.enumerated().lazy.compactMap { number, source in
      PlacedStatement(in: source, number: number) { source.position(ofByte: $0) == position }
    }.first
  }
}
