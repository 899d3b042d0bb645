import SchemaSQLText

/// A table of a `VariedSchema`.
package struct VariedTable {
  /// The content of a column. It determines the values in every row, in both versions.
  package enum Content: String {
    case key, text, integer, real, bytes
    /// The value of a generated column, even if the column is an ordinary one in this version.
    case derived
  }

  package struct Column {
    package let name: String
    package let content: Content
    let number: Int
    /// Whether the column is new in an existing table.
    let isNew: Bool
    /// Whether the column contains NULL or a default in rows that are older than the column.
    let mayBeNull: Bool
  }

  package enum KeyKind: String {
    case alias, descending, plain, composite, none
  }

  package let name: String
  let index: Int
  package let columns: [Column]
  package let keyKind: KeyKind
  package let isWithoutRowid: Bool
  package let isStrict: Bool
  package let isAutoincrement: Bool
  private let rows: Int
  private let choices: VersionedChoices
  private let parents: [(name: String, index: Int)]

  var key: String { "table \(index)" }
  var quoted: String { Quoting.quoted(name) }
  package var anchor: String { Quoting.quoted(Self.names(index, choices)[0]) }
  var searchName: String { "search \(index)" }
  /// The columns that a full-text table may index.
  var texts: [Column] {
    columns.filter { $0.content == .text && $0.name != "rowid" }
  }

  private static let contents: [Content] = [
    .key, .key, .key, .text, .text, .integer, .real, .bytes, .derived,
  ]

  private static func names(_ index: Int, _ choices: VersionedChoices) -> [String] {
    choices.shuffled(
      "names \(index)",
      [
        "id", "title", "Where", "a;b", "x y", "größe", "true", "desc", "it's", "c,d", "q\"q",
        "select",
        "n(1)", "tic`k",
        choices.shuffled("rowid name \(index)", ["rowid", "oid", "plain", "_rowid_"])[0],
      ])
  }

  /// - Parameters:
  ///   - earlier: the same table in the earlier version; nil for a new table.
  ///   - parents: the tables that a foreign key may refer to.
  init(
    _ name: String, _ index: Int, rows: Int, after earlier: VariedTable?,
    _ choices: VersionedChoices, parents: [(name: String, index: Int)]
  ) {
    self.name = name
    self.index = index
    self.rows = rows
    self.choices = choices
    self.parents = parents
    let key = "table \(index)"
    let names = Self.names(index, choices)
    let present = Self.contents.indices.filter { number in
      number == 0 || choices.chance("\(key) has \(number)", 75)
    }.map { number in
      let before = earlier?.columns.first { $0.number == number }
      return Column(
        name: names[number], content: Self.contents[number], number: number,
        isNew: earlier != nil && before == nil,
        mayBeNull: earlier != nil && before == nil
          || earlier?.columns.suffix(earlier?.lateCount ?? 0).contains { $0.number == number }
            == true
      )
    }
    let isAppended = choices.chance("\(key) appends", 60)
    let places = present.map { column in
      column.isNew && isAppended
        ? 100 + column.number
        : choices.pick("\(key) place \(column.number)", [0, 0, 0, 0, 0, 0, -1, 1]) * 20
          + column.number
    }
    columns = zip(present, places).sorted { $0.1 < $1.1 }.map(\.0)
    let hasSecond = columns.contains { $0.number == 1 && !$0.isNew }
    keyKind = choices.pick(
      "\(key) key",
      [.alias, .alias, .alias, .descending, .plain, hasSecond ? .composite : .plain, .none])
    isStrict = choices.chance("\(key) strict", 20)
    isWithoutRowid = keyKind != .none && choices.chance("\(key) without rowid", 20)
    isAutoincrement =
      keyKind == .alias && !isWithoutRowid && choices.chance("\(key) autoincrement", 40)
  }

  // MARK: Statements

  /// The number of columns at the end that are added with ALTER TABLE after the rows.
  private var lateCount: Int {
    // SQLite 3.40 reports a violation of NOT NULL if ADD COLUMN adds a CHECK to a WITHOUT ROWID table. It
    // checks all tables if the name of this one begins with a digit.
    guard !choices.isLater, !isWithoutRowid, name.first?.isNumber != true,
      choices.chance("\(key) late", 40)
    else { return 0 }
    let late = columns.reversed().prefix { column in
      column.number > 2 && column.content != .derived && !isUnique(column)
        && !isChecked(column)
    }
    return min(late.count, 3)
  }

  package func creation(isWhole: Bool) -> String {
    let now = isWhole ? columns : columns.dropLast(lateCount)
    let parts = now.map { definition($0) } + constraints
    let options = [isStrict ? "STRICT" : "", isWithoutRowid ? "WITHOUT ROWID" : ""]
      .filter { !$0.isEmpty }
    let gap = choices.pick("\(key) gap", [", ", ",\n  ", " , /* , ) */ ", ", -- it's (one)\n  "])
    return "CREATE TABLE \(quoted) (\(parts.joined(separator: gap)))"
      + (options.isEmpty ? "" : " " + options.joined(separator: ", "))
  }

  var additions: [String] {
    columns.suffix(lateCount).map {
      "ALTER TABLE \(quoted) ADD COLUMN \(definition($0, isLate: true))"
    }
  }

  private func definition(_ column: Column, isLate: Bool = false) -> String {
    let key = "\(self.key) column \(column.number)"
    let name = Quoting.identifier(column.name)
    let type = type(of: column)
    if isGenerated(column) {
      let kind = choices.pick(key + " kind", ["VIRTUAL", "STORED", ""])
      let always = choices.pick(key + " always", ["GENERATED ALWAYS ", ""])
      return "\(name) \(type) \(always)AS (\(derivation)) \(kind)"
    }
    var clauses: [String] = []
    var isNotNull = choices.chance(key + " not null", 30)
    var value = choices.chance(key + " default", 50) ? defaultValue(column, key) : nil
    // ADD COLUMN would store numbers, and a rebuild would not convert them to text.
    if value == "TRUE", type == "TEXT" { value = "1" }
    // ADD COLUMN accepts only a constant default if the table has rows.
    if isLate, let text = value, text.hasPrefix("(") || text.hasPrefix("CURRENT") { value = nil }
    // `PRAGMA quick_check` of SQLite 3.40 reports a key with a default as NULL.
    if isWithoutRowid, column.content == .key { value = nil }
    // Existing rows must satisfy the constraints.
    if column.isNew || isLate { isNotNull = isNotNull && value != nil && value != "NULL" }
    if column.mayBeNull, !column.isNew { isNotNull = false }
    if let value { clauses.append("DEFAULT \(value)") }
    if isNotNull {
      let clause = choices.pick(
        key + " null conflict",
        ["", "", " ON CONFLICT REPLACE", " ON CONFLICT IGNORE", " ON CONFLICT FAIL"])
      clauses.append(
        choices.pick(key + " null name", ["", "", "CONSTRAINT nn "]) + "NOT NULL" + clause)
    }
    if choices.chance(key + " collate", 25) {
      clauses.append("COLLATE " + choices.pick(key + " collation", ["NOCASE", "RTRIM", "binary"]))
    }
    if choices.chance(key + " check", 25) {
      clauses.append(
        choices.pick(key + " check name", ["", "", "CONSTRAINT \"a check\" "])
          + "CHECK (\(check(column, key)))")
    }
    if keyKind != .composite, keyKind != .none, column.number == 0, !hasTableKey {
      clauses.append(inlineKey)
    } else if isUnique(column) {
      clauses.append(
        "UNIQUE"
          + choices.pick(
            key + " unique conflict", ["", "", " ON CONFLICT IGNORE", " ON CONFLICT REPLACE"]))
    }
    if !isLate, !column.isNew, column.content == .key, choices.chance(key + " references", 25) {
      clauses.append(reference(key))
    }
    let gap = choices.pick(key + " gap", [" ", " ", "\n    ", " /* DEFAULT 1 */ "])
    return ([name] + (type.isEmpty ? [] : [type])).joined(separator: " ")
      + choices.shuffled(key + " clauses \(clauses.count)", clauses).map { gap + $0 }.joined()
  }

  /// Returns a type name that stores the content unchanged.
  private func type(of column: Column) -> String {
    let key = "\(self.key) column \(column.number) type"
    if column.content == .key {
      if column.number == 0, keyKind == .alias {
        return choices.pick(
          key + " alias", isStrict ? ["INTEGER"] : ["INTEGER", "integer", "\"INTEGER\""])
      }
      if column.number == 0, keyKind == .descending { return "INTEGER" }
      if column.number == 0 { return "INT" }
      return choices.pick(
        key, isStrict ? ["INT", "INT", "INTEGER"] : ["INT", "BIGINT", "UNSIGNED BIG INT", "INT"])
    }
    if isStrict {
      let types: [Content: [String]] = [
        .text: ["TEXT", "ANY"], .integer: ["INTEGER", "INT", "ANY"], .real: ["REAL", "ANY"],
        .bytes: ["BLOB", "ANY"], .derived: ["TEXT", "ANY"],
      ]
      return choices.pick(key + " strict", types[column.content] ?? ["ANY"])
    }
    let types: [Content: [String]] = [
      .text: [
        "TEXT", "VARCHAR(10)", "NVARCHAR ( 10 , 2 )", "", "BLOB", "CLOB", "odd words here",
        "\"quoted type\"", "NUMERIC", "[TEXT]",
      ],
      .integer: [
        "INTEGER", "TINYINT(1)", "", "NUMERIC", "BOOLEAN", "ANY", "TEXT", "REAL", "DECIMAL(10, 5)",
        "FLOATING POINT",
      ],
      .real: ["REAL", "DOUBLE PRECISION", "", "NUMERIC", "FLOAT", "TEXT", "DECIMAL(+10,-5)"],
      .bytes: ["BLOB", "", "TEXT", "INTEGER", "x"],
      .derived: ["TEXT", "", "VARCHAR(5)"],
    ]
    return choices.pick(key, types[column.content] ?? [""])
  }

  private func defaultValue(_ column: Column, _ key: String) -> String {
    let values: [Content: [String]] = [
      .key: ["NULL"],
      .text: [
        "'It''s'", "\"double\"", "word", "CURRENT_TIMESTAMP", "('a' || 'b')", "NULL", "''",
        "(lower(hex(randomblob(4))))",
      ],
      .integer: ["5", "-3", "+7", "0x10", "TRUE", "(1 + 1)", "NULL", "(-4)"],
      .real: ["1.5", "-0.5", "52.5", "(1.0 / 3)", "NULL"],
      .bytes: ["x'00FF'", "X''", "NULL"],
      .derived: ["'x'", "NULL"],
    ]
    return choices.pick(key + " default value", values[column.content] ?? ["NULL"])
  }

  private func check(_ column: Column, _ key: String) -> String {
    let name = Quoting.quoted(column.name)
    return choices.pick(
      key + " check text",
      [
        "\(name) <> 'No'", "length(\(name)) < 100", "\(quoted).\(name) IS NOT 'never;'",
        "\(name) NOT IN ('a)', '--', \(name) || 'x')",
      ])
  }

  private func isUnique(_ column: Column) -> Bool {
    if column.number == 0 { return keyKind == .composite || keyKind == .none }
    return column.content == .key && !column.isNew
      && choices.chance("\(key) column \(column.number) unique", 25)
  }

  // MARK: Table constraints

  private var hasTableKey: Bool {
    keyKind == .composite
      || keyKind != .none && keyKind != .descending && choices.chance("\(key) table key", 30)
  }

  private var conflict: String {
    choices.pick(
      "\(key) key conflict",
      ["", "", " ON CONFLICT IGNORE", " ON CONFLICT REPLACE", " ON CONFLICT ABORT"])
  }

  private var inlineKey: String {
    let order =
      keyKind == .descending ? " DESC" : choices.pick("\(key) key order", ["", "", " ASC"])
    return choices.pick("\(key) key name", ["", "", "CONSTRAINT pk "])
      + "PRIMARY KEY\(order)\(conflict)"
      + (isAutoincrement ? " AUTOINCREMENT" : "")
  }

  private var constraints: [String] {
    var constraints: [String] = []
    if hasTableKey {
      var terms = [anchor + (isAutoincrement ? " AUTOINCREMENT" : "")]
      if keyKind == .composite, let second = columns.first(where: { $0.number == 1 }) {
        terms.append(
          Quoting.quoted(second.name)
            + choices.pick("\(key) second", ["", " DESC", " COLLATE NOCASE", " ASC"]))
        if choices.chance("\(key) key turned", 40) { terms.reverse() }
      } else if !isAutoincrement {
        terms[0] += choices.pick("\(key) key term", ["", "", " DESC"])
      }
      constraints.append(
        choices.pick("\(key) key name", ["", "CONSTRAINT \"the key\" "])
          + "PRIMARY KEY (\(terms.joined(separator: ", ")))\(conflict)")
    }
    let keys = columns.filter { $0.content == .key && !$0.isNew || $0.number == 0 }.map {
      Quoting.quoted($0.name)
    }
    if keys.count > 1, choices.chance("\(key) unique", 25) {
      let order = choices.chance("\(key) unique order", 50) ? keys : keys.reversed()
      // A UNIQUE constraint on the columns of the key must have the same conflict clause.
      constraints.append(
        "UNIQUE (\(order.joined(separator: ", ")))"
          + (keyKind == .composite
            ? "" : choices.pick("\(key) unique conflict", ["", " ON CONFLICT FAIL"])))
    }
    for (number, column) in columns.enumerated()
    where isChecked(column) {
      let name = choices.pick("\(key) check name \(number)", ["", "CONSTRAINT c\(number) "])
      constraints.append(
        "\(name)CHECK (\(check(column, "\(key) table check \(column.number)")) AND \(anchor) > 0)")
    }
    if let child = keys.last, choices.chance("\(key) foreign key", 30) {
      constraints.append("FOREIGN KEY (\(child)) \(reference("\(key) foreign key"))")
    }
    return constraints
  }

  private func isChecked(_ column: Column) -> Bool {
    !isGenerated(column) && choices.chance("\(key) table check \(column.number)", 12)
  }

  private func reference(_ key: String) -> String {
    let parent = choices.pick(key + " parent", parents)
    let table = Quoting.quoted(parent.name)
    let column = Quoting.quoted(Self.names(parent.index, choices)[0])
    return "REFERENCES \(table) (\(column))"
      + choices.pick(key + " match", ["", "", "", " MATCH FULL"])
      + choices.pick(
        key + " delete", ["", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE RESTRICT"])
      + choices.pick(
        key + " update",
        ["", " ON UPDATE CASCADE", " ON UPDATE SET DEFAULT", " ON UPDATE NO ACTION"])
      + choices.pick(
        key + " defer",
        ["", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED", " NOT DEFERRABLE"])
  }

  // MARK: Rows

  private var derivation: String { "\(anchor) || '!'" }

  package func isGenerated(_ column: Column) -> Bool {
    column.content == .derived && choices.chance("\(key) generated", 60)
  }

  var insertions: [String] {
    let filled = columns.dropLast(lateCount).filter { !isGenerated($0) }
    let names = filled.map { Quoting.quoted($0.name) }
    let free = ["rowid", "_rowid_", "oid"].first { name in !columns.contains { $0.name == name } }
    let rowid = isWithoutRowid || isAlias ? nil : free
    return (0..<rows).map { row in
      let values = filled.map { value($0, row) }
      return
        "INSERT INTO \(quoted) (\((names + [rowid].compactMap { $0 }).joined(separator: ", "))) VALUES (\((values + (rowid == nil ? [] : ["\(row * 10 + 2)"])).joined(separator: ", ")))"
    }
      + (isAutoincrement
        ? ["UPDATE sqlite_sequence SET seq = 777 WHERE name = \(Quoting.stringLiteral(name))"] : [])
  }

  /// Whether the anchor column is an alias of the rowid.
  package var isAlias: Bool { keyKind == .alias && !isWithoutRowid }

  private func value(_ column: Column, _ row: Int) -> String {
    switch column.content {
    case .key: "\(3 * ((row * 7 + column.number) % rows) + 1)"
    case .text: "'w\(row) ''é;'"
    case .integer: "\(row - 2)"
    case .real: "\(Double(row) + 0.25)"
    case .bytes: "x'00\(row)\(row)'"
    case .derived: "'\(3 * ((row * 7) % rows) + 1)!'"
    }
  }
}
