import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// The values that a step's text mentions near columns, and the columns that it joins. They only
/// suggest rows to try; SQLite determines the outcome.
struct StepText {
  /// Values near each column's name.
  private(set) var literals: [Identifier: DistinctValues] = [:]
  /// The values with which the text compares each column.
  private(set) var compared: [Identifier: DistinctValues] = [:]
  /// Pairs of columns that the text compares.
  private(set) var joined: [(Identifier, Identifier)] = []

  /// The columns by which the text groups rows, and columns that become a key.
  private(set) var groups: Set<Identifier>

  private let columns: Set<Identifier>

  /// Whether an INSERT may replace or update rows with the same key.
  private(set) var replacesRows = false
  /// Whether it leaves out rows that a constraint refuses.
  private(set) var ignoresRows = false
  private var hasJoin = false
  /// Whether a statement joins tables, or compares columns as a join does.
  var joinsTables: Bool { hasJoin || !joined.isEmpty }
  /// The columns that functions read as JSON lists.
  private var lists: Set<Identifier> = []
  /// Whether a function reads a date or a time.
  private(set) var readsTimes = false
  /// The columns that occur in such functions.
  private var times: Set<Identifier> = []

  /// Whether the text reads the types of values.
  private(set) var readsTypes = false

  /// The maximum distance in tokens between a column and its value.
  private static let reach = 24
  private static let mostLiterals = 10

  /// - Parameters:
  ///   - columns: columns that count even if their names are keywords.
  ///   - newKeys: columns that become a key.
  ///   - triggers: the texts of triggers that fire. Only their pairs of `joined` count.
  ///   - joinsRows: whether to collect the pairs of `joined`.
  init(
    _ statements: some Sequence<String>, newKeys: Set<Identifier> = [],
    columns: Set<Identifier> = [], triggers: [String] = [],
    joinsRows: Bool = true
  ) {
    groups = newKeys
    self.columns = columns
    for sql in statements.map({ TokenizedSQL($0) }) {
      note(sql)
      noteComparisons(sql)
      noteGroups(sql)
      noteConflicts(sql)
    }
    if !triggers.isEmpty { joined += StepText(triggers, columns: columns).joined }
    if !joinsRows { joined = [] }
  }

  func literals(of columns: [Identifier]) -> [Value] {
    let named = columns.flatMap { literals[$0]?.all ?? [] }
    // A condition changes its result near the number that it contains.
    let near = named.flatMap { value -> [Value] in
      guard case .integer(let number) = value else { return [] }
      return [number &- 1, number &+ 1].map(Value.integer)
    }
    return Array(DistinctValues(named + near).all.prefix(Self.mostLiterals))
  }

  /// Whether the step's text contains the value.
  func names(_ value: Value) -> Bool { literals.values.contains { $0.contains(value) } }

  /// Whether the step compares a column of a Boolean type with 0 or 1.
  func comparesFlag(_ column: DeviceTable.Column) -> Bool {
    guard column.isBoolean, let values = compared[column.key] else { return false }
    return Set(values.all).isSubset(of: [0, 1])
  }

  /// The value of a column in a row that combines values with which the step compares columns. Nil for a mark.
  ///
  /// - Parameters:
  ///   - place: the column's position in the table, from 0.
  ///   - number: the number of the row; see `RowFiller.combinedKinds`.
  ///   - compared: the table's columns that the step compares with values.
  func value(
    of column: DeviceTable.Column, at place: Int, in number: Int, _ compared: [Identifier]
  ) -> Value? {
    let values = (self.compared[column.key]?.all ?? []).filter {
      $0.text == nil || !column.takesNumbers
    }
    // The other columns follow the sparse rows; the last rows have NULL everywhere, and nowhere.
    if compared.count == 1 {
      guard compared != [column.key] else {
        return values.isEmpty ? nil : values[number % min(2, values.count)]
      }
      let isNull =
        number / 2 == RowFiller.sparseRows || RowKind.sparse(number / 2).isNull(at: place)
      return isNull && !column.isNotNull ? .null : nil
    }
    let options = values.prefix(2) + (column.isNotNull ? [] : [.null]) + [nil]
    let choice =
      switch compared.firstIndex(of: column.key) {
      case 0: number % 4
      case 1: number / 4
      case nil: place % 2 == 0 ? 1 + number / 4 % 2 : 1 + number / 8
      default: (number + number / 4) % 4
      }
    return options[choice % options.count]
  }

  private mutating func note(_ sql: TokenizedSQL) {
    let tokens = sql.significant
    func name(_ index: Int) -> Identifier? { self.name(tokens, index, sql) }
    var names: [(index: Int, name: Identifier)] = []
    var calls: [Identifier?] = []
    for index in tokens.indices {
      let text = sql.text(tokens[index])
      if text == "(" { calls.append(name(index - 1)) }
      if text == ")" { _ = calls.popLast() }
      if let name = name(index), sql.textOrEmpty(tokens, index + 1) == "(" {
        readsTimes = readsTimes || TimeFunctions.names.contains(name)
        readsTypes = readsTypes || name == "typeof"
      }
      if let value = sql.member(tokens, index).map({ .text("$.\($0)") }) ?? sql.literal(
        tokens, index)
        ?? sql.characters(tokens, index)
      {
        // Formats and modifiers are not values of a column, and the statement replaces these members itself.
        if let call = calls.last ?? nil,
          TimeFunctions.names.contains(call) || Self.setters.contains(call) && value.isPath
        {
          continue
        }
        if sql.isType(value) { continue }
        var seen: Set<Identifier> = []
        for near in names.suffix(Self.reach).reversed() where index - near.index <= Self.reach {
          if seen.insert(near.name).inserted, seen.count <= 3 {
            literals[near.name, default: []].append(value)
          }
        }
        // The column may follow: `0 = done`, or `WHEN 1 THEN done`.
        if let next = name(index + 2) { literals[next, default: []].append(value) }
      } else if let left = sql.queried(tokens, index).flatMap(name), let right = name(index + 3) {
        // `x IN (SELECT y FROM …)`
        joined.append((left, right))
      } else if let name = name(index) {
        // With the path of a member, the column holds an object.
        let isList =
          sql.textOrEmpty(tokens, index + 1) == ")"
          && (calls.last ?? nil).map(Self.listReaders.contains) ?? false
        if isList || sql.isElement(tokens, index + 2) { lists.insert(name) }
        if calls.contains(where: { $0.map(TimeFunctions.names.contains) ?? false }) {
          times.insert(name)
        }
        if !Keywords.isKeyword(name.text) || columns.contains(name)
          || tokens[index].kind == .quotedIdentifier
        {
          names.append((index, name))
        }
        if name == "join" { hasJoin = true }
        if name == "using", let column = self.name(tokens, index + 2, sql) {
          joined.append((column, column))
        }
      } else if text == "=" || text == "==", let left = name(index - 1), let right = name(index + 1)
      {
        let last = sql.textOrEmpty(tokens, index + 2) == "." ? name(index + 3) ?? right : right
        if left != last || sql.textOrEmpty(tokens, index - 2) == "." { joined.append((left, last)) }
      }
    }
  }

  private mutating func noteComparisons(_ sql: TokenizedSQL) {
    let tokens = sql.significant
    // A CHECK is not a condition of the step.
    guard tokens.contains(where: { sql.isWord($0, "WHERE") || sql.isWord($0, "CASE") }) else {
      return
    }
    var list: Operand?
    for index in tokens.indices {
      let text = sql.textOrEmpty(tokens, index - 1)
      if sql.isWord(tokens[index], "IN"), sql.textOrEmpty(tokens, index + 1) == "(" {
        list = operand(tokens[..<(text.isSameName(as: "not") ? index - 1 : index)], sql)
      } else if sql.text(tokens[index]) == ")" {
        list = nil
      }
      guard let value = sql.literal(tokens, index), !sql.isType(value) else { continue }
      let isNegated = text.isSameName(as: "not")
      let operand =
        Self.comparisons.contains(text.identifier)
        ? operand(tokens[..<(index - (isNegated ? 2 : 1))], sql)
        : Self.comparisons.contains(sql.textOrEmpty(tokens, index + 1).identifier)
          ? name(tokens, index + 2, sql).map { Operand(column: $0) } : list
      guard let operand else { continue }
      let whole = operand.member.map { MarkMaker.object([($0, value)]) } ?? value
      compared[operand.column, default: []].append(whole)
    }
  }

  private mutating func noteGroups(_ sql: TokenizedSQL) {
    let tokens = sql.significant
    for index in tokens.indices
    where ["GROUP", "PARTITION"].contains(where: { sql.isWord(tokens[index], $0) })
      && sql.isWord(tokens[index...].dropFirst().first, "BY")
    {
      var depth = 0
      let terms = tokens[(index + 2)...].prefix { token in
        let text = sql.text(token)
        depth += text.exact == "(" ? 1 : text.exact == ")" ? -1 : 0
        return depth >= 0 && text.exact != ";" && !Self.clauses.contains(text.identifier)
      }
      groups.formUnion(terms.indices.compactMap { name(tokens, $0, sql) })
    }
  }

  /// Words that end a GROUP BY or a PARTITION BY.
  private static let clauses: Set<Identifier> = [
    "having", "order", "limit", "window", "union", "except", "intersect", "rows", "range", "groups",
  ]

  /// A column, or a member of the JSON object in it.
  private struct Operand {
    let column: Identifier
    var member: String?
  }

  /// The operand at the end of these tokens: `meta ->> 'hidden'`, `json_extract(meta, '$.hidden')`, or the
  /// first argument of another call, such as `coalesce(kind, '')`.
  private func operand(_ tokens: ArraySlice<Token>, _ sql: TokenizedSQL) -> Operand? {
    guard let last = tokens.indices.last else { return nil }
    let all = Array(tokens)
    if let column = name(all, last, sql) { return Operand(column: column) }
    if let member = sql.member(all, last) {
      return name(all, last - 2, sql).map { Operand(column: $0, member: member) }
    }
    guard let open = sql.opening(all[...]) else { return nil }
    let arguments = sql.split(all[(open + 1)..<last], atCommas: ())
    guard let first = operand(all[..<arguments[0].endIndex], sql) else { return nil }
    guard arguments.count > 1, let path = sql.literal(all, arguments[1].startIndex), path.isPath
    else { return first }
    return Operand(column: first.column, member: path.text.map { String($0.dropFirst(2)) })
  }

  private static let setters: Set<Identifier> = [
    "json_set", "json_insert", "json_replace", "jsonb_set", "jsonb_insert", "jsonb_replace",
  ]

  private static let comparisons: Set<Identifier> = [
    "=", "==", "<>", "!=", "<", ">", "<=", ">=", "is", "not", "like", "glob",
  ]

  private static let listReaders: Set<Identifier> = [
    "json_each", "json_tree", "json_array_length", "jsonb_each", "jsonb_tree",
  ]

  /// The mark, in a JSON object or in a list if the step reads the column as JSON.
  ///
  /// - Parameter rest: the value of another member, or the number of elements.
  func form(of mark: Value, for column: Identifier, rest: Int64 = 1) -> Value {
    let members = members(of: column)
    guard lists.contains(column) else {
      return members.isEmpty ? mark : MarkMaker.object(mark, members, rest: rest)
    }
    let all = literals.keys.sorted().flatMap(self.members(of:))
    return MarkMaker.list(of: mark, all, count: Int(rest))
  }

  /// Whether a function reads a date or a time from the column.
  func readsTimes(in column: Identifier) -> Bool { times.contains(column) }

  /// Whether the step reads the column as JSON.
  func readsJSON(in column: Identifier) -> Bool {
    lists.contains(column) || !members(of: column).isEmpty
  }

  /// The members of JSON objects in a column that the step names by their paths.
  func members(of column: Identifier) -> [String] {
    (literals[column]?.all ?? []).filter(\.isPath).compactMap(\.text)
      .compactMap { $0.dropFirst(2).split { ".[\"".contains($0) }.first.map(String.init) }
  }

  /// Adds pairs of columns for an INSERT with a query that replaces rows or leaves rows out. The rows that it
  /// copies may have the keys of other rows.
  private mutating func noteConflicts(_ sql: TokenizedSQL) {
    guard let statement = WritingStatement(sql), let source = statement.source else { return }
    let words = sql.significant(in: 0..<statement.nameRange.lowerBound)
    let tokens = sql.significant
    let updates = tokens.indices.contains { index in
      sql.isWord(tokens[index], "DO") && sql.isWord(tokens[index...].dropFirst().first, "UPDATE")
    }
    let replaces = statement.replaces(sql) || updates
    let ignores = words.contains { sql.isWord($0, "IGNORE") }
    ignoresRows = ignoresRows || ignores
    guard replaces || ignores || tokens.contains(where: { sql.isWord($0, "CONFLICT") }) else {
      return
    }
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

  /// Whether the step reads a column as JSON.
  var readsJSON: Bool { !lists.isEmpty || literals.keys.contains(where: readsJSON) }

  private func name(_ tokens: [Token], _ index: Int, _ sql: TokenizedSQL) -> Identifier? {
    guard tokens.indices.contains(index) else { return nil }
    let isName = tokens[index].kind == .word || tokens[index].kind == .quotedIdentifier
    return isName ? Quoting.unquoted(sql.text(tokens[index])).identifier : nil
  }
}

extension TokenizedSQL {
  /// Whether the value is the name of a type in a text that reads types.
  fileprivate func isType(_ value: Value) -> Bool {
    ["integer", "real", "text", "blob", "null"].contains(value) && mentions("typeof")
  }

  fileprivate func textOrEmpty(_ tokens: [Token], _ index: Int) -> String {
    tokens.indices.contains(index) ? text(tokens[index]) : ""
  }
}

extension TokenizedSQL {
  /// The index of the operand if `IN (SELECT …)` or `NOT IN (SELECT …)` begins at a token.
  fileprivate func queried(_ tokens: [Token], _ index: Int) -> Int? {
    guard isWord(tokens[index], "IN"), textOrEmpty(tokens, index + 1) == "(",
      textOrEmpty(tokens, index + 2).isSameName(as: "select")
    else { return nil }
    return textOrEmpty(tokens, index - 1).isSameName(as: "not") ? index - 2 : index - 1
  }

  /// The member that `->` or `->>` reads, at the token that names it.
  fileprivate func member(_ tokens: [Token], _ index: Int) -> String? {
    guard ["->", "->>"].contains(textOrEmpty(tokens, index - 1)),
      case .text(let label)? = literal(tokens, index), !label.hasPrefix("$[")
    else { return nil }
    return label.hasPrefix("$.") ? String(label.dropFirst(2)) : label
  }

  /// Whether the token names an element of a list: `tags ->> 0`, or the path `'$[0]'`.
  fileprivate func isElement(_ tokens: [Token], _ index: Int) -> Bool {
    guard tokens.indices.contains(index), let value = literal(tokens, index) else { return false }
    let isOfArrow = ["->", "->>"].contains(textOrEmpty(tokens, index - 1))
    return isOfArrow && value.integer != nil || value.text?.hasPrefix("$[") ?? false
  }

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

extension Value {
  /// Whether it is the path of a member of a JSON object.
  fileprivate var isPath: Bool { text?.hasPrefix("$.") ?? false }
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
