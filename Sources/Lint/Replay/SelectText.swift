import SchemaSQLText

/// How a SELECT picks rows, as far as its clauses tell.
struct SelectText {
  /// The first clause by which a row of the source may be missing from the result, in words; nil
  /// when every row comes through.
  private(set) var filter: String?
  /// The terms of the result, as significant tokens; empty for VALUES and for a compound.
  private(set) var results: [ArraySlice<Token>] = []
  /// The names that WHERE and its like mention, folded.
  private(set) var filterNames: Set<Identifier> = []

  private let sql: TokenizedSQL

  /// - Parameter tokens: significant ones, from SELECT, WITH or VALUES on.
  init(_ sql: TokenizedSQL, _ tokens: ArraySlice<Token>) {
    self.sql = sql
    var rest = tokens
    if sql.isWord(rest.first, "WITH") { readCommonTables(&rest) }
    guard sql.isWord(rest.first, "SELECT") else { return }
    let cores = sql.split(rest, atWords: ["UNION", "INTERSECT", "EXCEPT"])
    for (word, core) in cores {
      if let word {
        let isAll = sql.isWord(core.first, "ALL")
        if !isAll { note("\(word) without ALL", core) }
        read(isAll ? core.dropFirst() : core)
        results = []
      } else {
        read(core)
      }
    }
  }

  private mutating func note(_ clause: String, _ tokens: ArraySlice<Token>) {
    filter = filter ?? clause
    for token in tokens where token.kind == .word || token.kind == .quotedIdentifier {
      filterNames.insert(sql.name(token))
    }
  }

  private mutating func include(_ other: SelectText) {
    filter = filter ?? other.filter
    filterNames.formUnion(other.filterNames)
  }

  /// `a AS (SELECT …), b AS (…)`: up to what follows the last of them.
  private mutating func readCommonTables(_ rest: inout ArraySlice<Token>) {
    rest = rest.dropFirst()
    var depth = 0
    while let token = rest.first {
      if depth == 0,
        ["SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"].contains(sql.word(token))
      {
        return
      }
      let text = sql.text(token)
      if text == "(", depth == 0 {
        let inner = sql.inside(rest)
        if sql.isWord(inner.first, "SELECT") { include(SelectText(sql, inner)) }
      }
      depth += text == "(" ? 1 : text == ")" ? -1 : 0
      rest = rest.dropFirst()
    }
  }

  /// One SELECT without its compounds.
  private mutating func read(_ core: ArraySlice<Token>) {
    guard sql.isWord(core.first, "SELECT") else { return }
    let clauses = sql.split(
      core.dropFirst(), atWords: ["FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT"])
    for (word, tokens) in clauses {
      switch word {
      case nil:
        var list = tokens
        if sql.isWord(list.first, "DISTINCT") {
          note("DISTINCT", [])
          list = list.dropFirst()
        } else if sql.isWord(list.first, "ALL") {
          list = list.dropFirst()
        }
        results = sql.split(list, atCommas: ())
      case "FROM": readSources(tokens)
      case "WHERE":
        // `WHERE true` parts a SELECT from the ON CONFLICT that follows it.
        let isAlways =
          tokens.count == 1 && ["TRUE", "1"].contains(sql.word(tokens[tokens.startIndex]))
        if !isAlways { note("WHERE", tokens) }
      case "GROUP": note("GROUP BY", tokens)
      case "LIMIT": note("LIMIT", tokens)
      default: break
      }
    }
  }

  private mutating func readSources(_ tokens: ArraySlice<Token>) {
    let sources = sql.split(tokens, atCommas: ())
    if sources.count > 1 { note("a join", tokens) }
    for source in sources {
      var depth = 0
      var isOuter = false
      for index in source.indices {
        let text = sql.text(source[index])
        if text == "(", depth == 0 {
          let inner = sql.inside(source[index...])
          if ["SELECT", "WITH"].contains(where: { sql.isWord(inner.first, $0) }) {
            include(SelectText(sql, inner))
          }
        }
        depth += text == "(" ? 1 : text == ")" ? -1 : 0
        guard depth == 0 else { continue }
        switch sql.word(source[index]) {
        case "LEFT", "FULL": isOuter = true
        case "JOIN":
          // Of an outer join every row of the left table comes through.
          if !isOuter { note("JOIN", tokens) }
          isOuter = false
        default: break
        }
      }
    }
  }
}

/// A statement that puts what it reads into a table: INSERT … SELECT, or CREATE TABLE … AS SELECT.
struct CopyText {
  /// The columns that INSERT lists, folded; nil when it lists none.
  let columns: [Identifier]?
  let select: SelectText
  /// `IGNORE` or `REPLACE` of INSERT OR ….
  let onConflict: String?

  /// Nil when the statement is none.
  init?(_ sql: TokenizedSQL) {
    var tokens = sql.significant[...]
    if let last = tokens.last, sql.text(last) == ";" { tokens = tokens.dropLast() }
    if sql.isWord(tokens.first, "CREATE") {
      guard case .createTable(let table)? = try? parseCreate(sql), let range = table.selectRange
      else { return nil }
      columns = nil
      onConflict = nil
      select = SelectText(sql, sql.significant(in: range)[...])
      return
    }
    // Common tables may stand before INSERT; they belong to its SELECT.
    var common: ArraySlice<Token> = []
    if sql.isWord(tokens.first, "WITH") {
      guard let start = sql.firstWord(of: ["INSERT", "REPLACE"], in: tokens) else { return nil }
      common = tokens[..<start]
      tokens = tokens[start...]
    }
    guard let body = sql.firstWord(of: ["SELECT", "WITH", "VALUES"], in: tokens),
      sql.isWord(tokens.first, "INSERT") || sql.isWord(tokens.first, "REPLACE")
    else { return nil }
    let head = tokens[..<body]
    if let or = sql.firstWord(of: ["OR"], in: head), head.indices.contains(or + 1) {
      onConflict = sql.word(head[or + 1])
    } else {
      onConflict = sql.isWord(head.first, "REPLACE") ? "REPLACE" : nil
    }
    if let open = head.firstIndex(where: { sql.text($0) == "(" }) {
      columns = sql.split(sql.inside(head[open...]), atCommas: ()).compactMap {
        $0.first.map(sql.name)
      }
    } else {
      columns = nil
    }
    var rest = tokens[body...]
    // ON CONFLICT and RETURNING belong to the INSERT.
    if let upsert = sql.firstWord(of: ["CONFLICT"], in: rest) { rest = rest[..<(upsert - 1)] }
    if let returning = sql.firstWord(of: ["RETURNING"], in: rest) { rest = rest[..<returning] }
    // Common tables before INSERT read like those before SELECT.
    select = SelectText(sql, (Array(common) + Array(rest))[...])
  }
}

extension TokenizedSQL {
  /// A word in upper case; another token as it is written.
  func word(_ token: Token) -> String {
    token.kind == .word ? text(token).uppercased() : text(token)
  }

  func isWord(_ token: Token?, _ word: String) -> Bool {
    token.map { $0.kind == .word && self.word($0) == word } ?? false
  }

  /// The name that a token means.
  func name(_ token: Token) -> Identifier {
    Quoting.unquoted(text(token)).identifier
  }

  /// What stands between the parenthesis that `tokens` begin with and the one that closes it.
  func inside(_ tokens: ArraySlice<Token>) -> ArraySlice<Token> {
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

  /// The first of these words that stands in no parentheses.
  func firstWord(of words: Set<Identifier>, in tokens: ArraySlice<Token>) -> Int? {
    var depth = 0
    for index in tokens.indices {
      let token = tokens[index]
      if depth == 0, token.kind == .word, words.contains(word(token)) { return index }
      let text = text(token)
      depth += text == "(" ? 1 : text == ")" ? -1 : 0
    }
    return nil
  }

  /// The pieces between such words outside of parentheses, each behind its word.
  func split(
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

  func split(_ tokens: ArraySlice<Token>, atCommas: ()) -> [ArraySlice<Token>] {
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
