import SchemaSQLText

/// Tokens cover the text, and all parsed ranges lie inside it.
enum SQLTarget: FuzzTarget {
  static let name = "sql"

  static func take(_ bytes: [UInt8]) throws {
    let sql = TokenizedSQL(bytes: bytes)
    var end = 0
    for token in sql.tokens {
      try promise(
        token.range.lowerBound == end && !token.range.isEmpty,
        "a token at \(token.range) after one that ends at \(end)")
      end = token.range.upperBound
    }
    try promise(end == bytes.count, "the tokens end at \(end) of \(bytes.count)")
    let text = String(decoding: bytes, as: UTF8.self)
    try promise(
      Quoting.unquoted(Quoting.quoted(text)).utf8.elementsEqual(text.utf8), "quoting loses text")
    _ = sql.canonicalTokens
    let normal = sql.normalTokens
    // A character that SQLite refuses may be valid elsewhere: a vertical tab is white space after a
    // space.
    if !sql.tokens.contains(where: { $0.kind == .illegal }) {
      let joined = Array(normal.joined(separator: [UInt8(ascii: " ")]))
      try promise(
        TokenizedSQL(bytes: joined).normalTokens == normal, "the normal form has another one")
    }
    guard let statement = try? parseCreate(sql) else { return }
    try requireRanges(of: statement, in: sql)
  }

  private static func requireRanges(of statement: ParsedStatement, in sql: TokenizedSQL) throws {
    func require(_ range: Range<Int>) throws {
      try promise(
        range.lowerBound >= 0 && range.upperBound <= sql.bytes.count, "a part at \(range)")
      _ = sql.normalTokens(in: range)
    }
    try require(statement.name.range)
    switch statement {
    case .createTable(let table):
      for column in table.columns {
        try require(column.range)
        try require(column.name.range)
        for constraint in column.constraints { try require(constraint.range) }
      }
      for constraint in table.constraints { try require(constraint.range) }
    case .createIndex(let index):
      for term in index.terms { try require(term.range) }
      if let condition = index.condition { try require(condition.outerRange) }
    case .createView(let view): try require(view.selectRange)
    case .createTrigger, .createVirtualTable: break
    }
  }
}
