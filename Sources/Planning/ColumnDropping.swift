import SchemaSQLText

extension ParsedTable {
  /// The constraints for which SQLite drops no such column (ALTER TABLE, section 5), each as it is
  /// written. It names none of them itself.
  func constraints(keeping column: String) -> [String] {
    let own = parsed.columns.first { $0.name.isSame(as: column) }?.constraints ?? []
    let inline = own.filter { constraint in
      switch constraint.kind {
      case .primaryKey, .unique: true
      default: false
      }
    }.map(\.range)
    let others = parsed.columns.filter { !$0.name.isSame(as: column) }.flatMap(\.constraints)
      .filter { constraint in
        switch constraint.kind {
        case .check(let expression): mentions(column, in: expression.range)
        case .generated(let generated): mentions(column, in: generated.expression.range)
        default: false
        }
      }.map(\.range)
    let table = parsed.constraints.filter { constraint in
      switch constraint.kind {
      case .primaryKey(let terms, _, _), .unique(let terms, _):
        terms.contains { $0.column?.isSame(as: column) ?? false }
      case .foreignKey(let columns, _): columns.contains { $0.isSame(as: column) }
      case .check(let expression, _): mentions(column, in: expression.range)
      case .nameOnly: false
      }
    }.map(\.range)
    return (inline + others + table).map(tokens.text)
  }

  /// Whether a bare word is the column; one in double quotes might be a text.
  private func mentions(_ column: String, in range: Range<Int>) -> Bool {
    tokens.columnIdentifiers(in: range).contains { name in
      name.isSame(as: column) && tokens.bytes[name.range.lowerBound] != UInt8(ascii: "\"")
    }
  }
}
