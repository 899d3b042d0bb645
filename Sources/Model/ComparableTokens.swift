import SchemaSQLText

/// The names to which a double-quoted word in some SQL can refer. SQLite reads other double-quoted
/// words as strings (Quirks, Caveats, and Gotchas In SQLite, section 8), whose case is significant.
struct KnownNames {
  private var names: Set<Identifier> = []

  /// The names of the columns of a table, for expressions in its own definition.
  init(of tables: [CreateTable]) {
    for name in tables.flatMap(\.columns).map(\.name) + tables.map(\.name) { add(name.text) }
    for name in ["rowid", "oid", "_rowid_"] { add(name) }
  }

  /// All names of tables, views and columns, and every bare word in `texts`.
  init(_ schemas: [Schema], and texts: [TokenizedSQL]) {
    let objects = schemas.flatMap(\.objects)
    let tables = objects.filter { $0.kind == .table }.compactMap { object -> CreateTable? in
      guard case .createTable(let table)? = try? parseCreate(TokenizedSQL(object.sql ?? "")) else {
        return nil
      }
      return table
    }
    self.init(of: tables)
    for object in objects where object.kind == .table || object.kind == .view { add(object.name) }
    for text in texts {
      for token in text.tokens where token.kind == .word { add(text.text(token)) }
    }
  }

  private mutating func add(_ name: String) { names.insert(name) }

  func contains(_ name: String) -> Bool { names.contains(name) }
}

extension TokenizedSQL {
  /// The normal tokens of a range. Double-quoted words that are strings become string tokens.
  func comparableTokens(in range: Range<Int>, _ names: KnownNames) -> [[UInt8]] {
    let tokens = significant(in: range)
    return tokens.indices.flatMap { index -> [[UInt8]] in
      let token = tokens[index]
      let text = text(token)
      guard token.kind == .quotedIdentifier, text.utf8.first == UInt8(ascii: "\"") else {
        return text == ";" ? [[UInt8(ascii: ";")]] : normalTokens(in: token.range)
      }
      let name = Quoting.unquoted(text)
      let before: Identifier = index > 0 ? self.text(tokens[index - 1]).identifier : ""
      let after = index + 1 < tokens.count ? self.text(tokens[index + 1]) : ""
      let isName =
        names.contains(name) || [".", "collate", "as"].contains(before)
        || [".", "("].contains(after)
      return isName ? normalTokens(in: token.range) : [Array(Quoting.stringLiteral(name).utf8)]
    }
  }

  /// A range on one line, for messages.
  package func oneLine(in range: Range<Int>) -> String {
    var line = ""
    var end = range.lowerBound
    for token in significant(in: range) {
      if token.range.lowerBound > end { line += " " }
      line += text(token)
      end = token.range.upperBound
    }
    return line
  }
}
