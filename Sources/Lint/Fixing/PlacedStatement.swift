import SchemaManifest
import SchemaSQLText
import SchemaTimeline

/// A statement of an operation's SQL, with its place in the manifest.
struct PlacedStatement {
  let source: SQLSource
  /// The index of the text among those of the operation.
  let number: Int
  private let sql: TokenizedSQL
  /// The tokens without the semicolon.
  private let tokens: [Token]
  /// The range from the first word through the semicolon, in bytes of the source's text.
  let whole: Range<Int>
  /// Whether it is the only statement of the text.
  let isAlone: Bool

  /// - Parameters:
  ///   - number: the index of `source` among the operation's texts.
  ///   - isStart: whether the requested statement begins at this byte of the text.
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

  var ifNotExists: Range<Int>? {
    guard let start = tokens.firstIndex(where: { sql.isWord($0, "IF") }),
      let end = tokens.dropFirst(start + 2).first, sql.isWord(end, "EXISTS")
    else { return nil }
    return tokens[start].range.lowerBound..<end.range.upperBound
  }

  /// The range of NOT NULL in the definition of a column, if a DEFAULT follows it and there is no
  /// conflict clause.
  func notNull(of column: String) -> Range<Int>? {
    var (start, text) = (whole.lowerBound, sql.text(whole))
    if sql.isWord(tokens.first, "ALTER") {
      guard let add = tokens.firstIndex(where: { sql.isWord($0, "ADD") }),
        let first = tokens[(add + 1)...].first(where: { !sql.isWord($0, "COLUMN") }),
        let last = tokens.last
      else { return nil }
      // The only column of a table has the same grammar.
      let head = "CREATE TABLE t ("
      start = first.range.lowerBound - head.utf8.count
      text = head + sql.text(first.range.lowerBound..<last.range.upperBound) + ")"
    }
    guard case .createTable(let table)? = try? parseCreate(TokenizedSQL(text)),
      let constraints = table.column(named: column)?.constraints,
      let place = constraints.firstIndex(where: { $0.kind == .notNull(onConflict: nil) }),
      constraints[place...].contains(where: { if case .default = $0.kind { true } else { false } })
    else { return nil }
    let range = constraints[place].range
    return start + range.lowerBound..<start + range.upperBound
  }
}

extension Manifest {
  /// The operation's statement at a position of the file.
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
