import SchemaSQLText

/// The parts of `sqlite_schema` that statements may have changed, judged by their keywords.
package struct SchemaInvalidation: Sendable {
  /// The number of statements. Each increases the schema version, unless it changes nothing.
  private(set) var count: Int64 = 0
  /// The tables whose text may have changed.
  private(set) var tables: [String] = []
  /// The removed indexes, views and triggers.
  private(set) var removed: [SchemaDelta.Key] = []
  /// Whether there may be rows after the last one.
  private(set) var addsRows = false
  /// Whether any row may have changed.
  private(set) var isAnywhere = false

  package init() {}

  package mutating func spread() { isAnywhere = true }

  /// Records a statement. CREATE appends rows, ADD COLUMN changes one text (ALTER TABLE, section 4),
  /// and DROP removes a row, unless it drops a table with all that belongs to it. All other
  /// statements, and modules of virtual tables, may change any row.
  package mutating func note(_ statement: TokenizedSQL) {
    count += 1
    let words = statement.significant.prefix(7).map { statement.text($0) }
    let keywords = words.map(\.identifier) + ["", "", "", "", ""]
    func name(at index: Int) -> String {
      let place = keywords[index + 1] == "." ? index + 2 : index
      return place < words.count ? Quoting.unquoted(words[place]) : ""
    }
    switch keywords[0] {
    case "CREATE" where keywords[1] != "VIRTUAL": addsRows = true
    case "ALTER" where keywords[3] == "ADD" || keywords[3] == "." && keywords[5] == "ADD":
      tables.append(name(at: 2))
    case "DROP":
      guard let kind = SchemaObject.Kind(rawValue: keywords[1].text.lowercased()), kind != .table
      else {
        return spread()
      }
      removed.append(.init(kind, name(at: keywords[2] == "IF" ? 4 : 2).identifier))
    default: spread()
    }
  }
}
