import SchemaSQLText

/// Where statements may have changed `sqlite_schema`, as far as their words tell.
package struct SchemaInvalidation: Sendable {
  /// How many statements there were: each counts up the schema's version, unless it changes nothing.
  private(set) var count: Int64 = 0
  /// The tables whose text may be another one.
  private(set) var tables: [String] = []
  /// Whether there may be rows behind the last one.
  private(set) var addsRows = false
  /// Whether it may be more than that.
  private(set) var isAnywhere = false

  package init() {}

  package mutating func spread() { isAnywhere = true }

  /// CREATE adds rows behind the last one, and ADD COLUMN changes one text (ALTER TABLE, section 4). Of
  /// everything else, and of what a virtual table's module does, nothing is known.
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
