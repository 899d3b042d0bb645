import SchemaSQLText

/// The parts of `sqlite_schema` that statements may have changed, judged by their keywords.
package struct SchemaInvalidation: Sendable {
  /// The number of statements. Each increases the schema version, unless it changes nothing.
  private(set) var count: Int64 = 0
  /// The tables whose text may have changed.
  private(set) var tables: [String] = []
  /// Whether there may be rows after the last one.
  private(set) var addsRows = false
  /// Whether any row may have changed.
  private(set) var isAnywhere = false

  package init() {}

  package mutating func spread() { isAnywhere = true }

  /// Records a statement. CREATE appends rows, and ADD COLUMN changes one text (ALTER TABLE,
  /// section 4). All other statements, and modules of virtual tables, may change any row.
  package mutating func note(_ statement: TokenizedSQL) {
    count += 1
    let words = statement.significant.prefix(6).map { statement.text($0) }
    let keywords = words.map(\.identifier) + ["", "", "", "", ""]
    switch keywords[0] {
    case "CREATE" where keywords[1] != "VIRTUAL": addsRows = true
    case "ALTER" where keywords[3] == "ADD": tables.append(Quoting.unquoted(words[2]))
    case "ALTER" where keywords[3] == "." && keywords[5] == "ADD":
      tables.append(Quoting.unquoted(words[4]))
    default: spread()
    }
  }
}
