import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The values that a step's text mentions near columns, and the columns that it joins. They only
/// suggest rows to try; SQLite determines the outcome.
struct StepText {
  /// Values near each column's name.
  private(set) var literals: [Identifier: [Value]] = [:]
  /// The values with which the text compares each column.
  private(set) var compared: [Identifier: [Value]] = [:]
  /// Pairs of columns that the text compares.
  private(set) var joined: [(Identifier, Identifier)] = []
  /// Those of LEFT JOINs: rows remain if they have no partner.
  private(set) var joinedLeft: Set<Identifier> = []

  private let columns: Set<Identifier>

  /// Whether an INSERT may replace rows with the same key.
  private(set) var replacesRows = false
  /// Whether a function reads a date or a time.
  private(set) var readsTimes = false

  /// The maximum distance in tokens between a column and its value.
  private static let reach = 24
  private static let mostLiterals = 10

  /// - Parameters:
  ///   - columns: columns that count even if their names are keywords.
  ///   - joinsRows: whether to collect the pairs of `joined`.
  init(
    _ statements: some Sequence<String>, columns: Set<Identifier> = [], joinsRows: Bool = true
  ) {
    self.columns = columns
    for sql in statements.map({ TokenizedSQL($0) }) {
      note(sql)
      noteComparisons(sql)
      noteConflicts(sql)
    }
    if !joinsRows { joined = [] }
  }

  func literals(of columns: [Identifier]) -> [Value] {
    var known: [Value] = []
    for value in columns.flatMap({ literals[$0] ?? [] }) where !known.contains(value) {
      known.append(value)
    }
    // A condition changes its result near the number that it contains.
    for case .integer(let number) in known {
      for value in [number &- 1, number &+ 1].map(Value.integer) where !known.contains(value) {
        known.append(value)
      }
    }
    return Array(known.prefix(Self.mostLiterals))
  }

  /// Whether the step's text contains the value.
  func names(_ value: Value) -> Bool { literals.values.contains { $0.contains(value) } }

  /// The value of a column in a row that combines values with which the step compares columns. Nil for a mark.
  ///
  /// - Parameters:
  ///   - place: the column's position in the table, from 0.
  ///   - number: the number of the row; see `RowFiller.combinedKinds`.
  ///   - compared: the table's columns that the step compares with values.
  func value(
    of column: DeviceTable.Column, at place: Int, in number: Int, _ compared: [Identifier]
  ) -> Value? {
    let values = (self.compared[column.key] ?? []).filter {
      $0.text == nil || !column.takesNumbers
    }
    let options = values.prefix(2) + (column.isNotNull ? [] : [.null]) + [nil]
    let choice =
      switch compared.firstIndex(of: column.key) {
      case 0: number % 4
      case 1: number / 4
      case nil where compared.count == 1: number / 4 + place % 2
      case nil: place % 2 == 0 ? 1 + number / 4 % 2 : 1 + number / 8
      default: (number + number / 4) % 4
      }
    return options[choice % options.count]
  }

  private mutating func note(_ sql: TokenizedSQL) {
    let tokens = sql.significant
    func name(_ index: Int) -> Identifier? { self.name(tokens, index, sql) }
    var names: [(index: Int, name: Identifier)] = []
    func count(_ word: String) -> Int { tokens.count { sql.isWord($0, word) } }
    let isLeft = count("LEFT") > 0 && count("LEFT") == count("JOIN")
    for index in tokens.indices {
      let text = sql.text(tokens[index])
      if let name = name(index), sql.textOrEmpty(tokens, index + 1) == "(",
        TimeFunctions.names.contains(name)
      {
        readsTimes = true
      }
      if let value = sql.literal(tokens, index) ?? sql.characters(tokens, index) {
        var seen: Set<Identifier> = []
        for near in names.reversed() where index - near.index <= Self.reach {
          if seen.insert(near.name).inserted, seen.count <= 3 { note(value, for: near.name) }
        }
        // The column may follow: `0 = done`, or `WHEN 1 THEN done`.
        if let next = name(index + 2) { note(value, for: next) }
      } else if let name = name(index) {
        if !Keywords.isKeyword(name.text) || columns.contains(name)
          || tokens[index].kind == .quotedIdentifier
        {
          names.append((index, name))
        }
        if name == "using", let column = self.name(tokens, index + 2, sql) {
          join(column, column, isLeft)
        }
      } else if text == "=" || text == "==", let left = name(index - 1), let right = name(index + 1)
      {
        let last = sql.textOrEmpty(tokens, index + 2) == "." ? name(index + 3) ?? right : right
        if left != last || sql.textOrEmpty(tokens, index - 2) == "." { join(left, last, isLeft) }
      }
    }
  }

  private mutating func noteComparisons(_ sql: TokenizedSQL) {
    let tokens = sql.significant
    // A CHECK is not a condition of the step.
    guard tokens.contains(where: { sql.isWord($0, "WHERE") || sql.isWord($0, "CASE") }) else {
      return
    }
    var list: Identifier?
    for index in tokens.indices {
      let text = sql.textOrEmpty(tokens, index - 1)
      if sql.isWord(tokens[index], "IN"), sql.textOrEmpty(tokens, index + 1) == "(" {
        list =
          sql.isWord(tokens[max(0, index - 1)], "NOT")
          ? name(tokens, index - 2, sql) : name(tokens, index - 1, sql)
      } else if sql.text(tokens[index]) == ")" {
        list = nil
      }
      guard let value = sql.literal(tokens, index) else { continue }
      let isNegated = text.isSameName(as: "not")
      let column =
        Self.comparisons.contains(text.identifier)
        ? name(tokens, index - (isNegated ? 3 : 2), sql)
        : Self.comparisons.contains(sql.textOrEmpty(tokens, index + 1).identifier)
          ? name(tokens, index + 2, sql) : list
      if let column, !(compared[column]?.contains(value) ?? false) {
        compared[column, default: []].append(value)
      }
    }
  }

  private static let comparisons: Set<Identifier> = [
    "=", "==", "<>", "!=", "<", ">", "<=", ">=", "is", "not", "like", "glob",
  ]

  private mutating func join(_ one: Identifier, _ other: Identifier, _ isLeft: Bool) {
    joined.append((one, other))
    if isLeft { joinedLeft.formUnion([one, other]) }
  }

  /// The members of JSON objects in a column that the step names by their paths.
  func members(of column: Identifier) -> [String] {
    (literals[column] ?? []).compactMap(\.text).filter { $0.hasPrefix("$.") }
      .compactMap { $0.dropFirst(2).split { ".[\"".contains($0) }.first.map(String.init) }
  }

  /// Adds pairs of columns for an INSERT with a query that replaces rows or leaves rows out. The rows that it
  /// copies may have the keys of other rows.
  private mutating func noteConflicts(_ sql: TokenizedSQL) {
    guard let statement = WritingStatement(sql), let source = statement.source else { return }
    let words = sql.significant(in: 0..<statement.nameRange.lowerBound)
    let replaces = words.contains { sql.isWord($0, "REPLACE") }
    guard
      replaces || words.contains(where: { sql.isWord($0, "IGNORE") })
        || sql.significant.contains(where: { sql.isWord($0, "CONFLICT") })
    else { return }
    replacesRows = replacesRows || replaces
    let copiesAll = sql.significant(in: source).contains { sql.text($0) == "*" }
    if statement.columns.isEmpty, copiesAll {
      joined += columns.map { ($0, $0) }
    }
    for (column, value) in statement.copied(sql) {
      guard value.count == 1 || value.count == 3 && sql.text(value[value.startIndex + 1]) == ".",
        let last = value.last, [.word, .quotedIdentifier].contains(last.kind)
      else { continue }
      joined.append((column ?? sql.name(last), sql.name(last)))
    }
  }

  /// Whether the step names a member of a JSON object in a column.
  var namesMembers: Bool { literals.keys.contains { !members(of: $0).isEmpty } }

  private func name(_ tokens: [Token], _ index: Int, _ sql: TokenizedSQL) -> Identifier? {
    guard tokens.indices.contains(index) else { return nil }
    let isName = tokens[index].kind == .word || tokens[index].kind == .quotedIdentifier
    return isName ? Quoting.unquoted(sql.text(tokens[index])).identifier : nil
  }

  private mutating func note(_ value: Value, for name: Identifier) {
    guard !(literals[name]?.contains(value) ?? false) else { return }
    literals[name, default: []].append(value)
  }
}

extension TokenizedSQL {
  fileprivate func textOrEmpty(_ tokens: [Token], _ index: Int) -> String {
    tokens.indices.contains(index) ? text(tokens[index]) : ""
  }
}

extension TokenizedSQL {
  /// The text of a call such as `char(13, 10)`, at its first token.
  fileprivate func characters(_ tokens: [Token], _ index: Int) -> Value? {
    guard isWord(tokens[index], "CHAR"), textOrEmpty(tokens, index + 1) == "(" else { return nil }
    var scalars = String.UnicodeScalarView()
    for argument in split(inside(tokens[(index + 1)...]), atCommas: ()) {
      guard argument.count == 1, let number = UInt32(text(argument[argument.startIndex])),
        let scalar = Unicode.Scalar(number)
      else { return nil }
      scalars.append(scalar)
    }
    return .text(String(scalars))
  }
}

extension WritingStatement {
  /// The expressions of an `INSERT … SELECT`, with the columns that it lists; empty for other
  /// statements.
  fileprivate func copied(
    _ sql: TokenizedSQL
  ) -> [(column: Identifier?, value: ArraySlice<Token>)] {
    let tokens = (source.map(sql.significant(in:)) ?? [])[...]
    guard sql.isWord(tokens.first, "SELECT"), let from = sql.firstWord(of: ["FROM"], in: tokens)
    else { return [] }
    let values = sql.split(tokens[(tokens.startIndex + 1)..<from], atCommas: ())
    return columns.isEmpty
      ? values.map { (nil, $0) } : zip(columns, values).map { ($0.text.identifier, $1) }
  }
}
