import SchemaModel
import SchemaSQLText

/// The expressions that calculate with columns of ids. They lose their meaning when an id becomes another
/// value.
///
/// An id keeps its meaning if it is compared for equality with another id, tested for NULL, counted, grouped
/// by or returned unchanged. It loses its meaning in arithmetic, ordering, function calls and comparisons
/// with any other value.
struct KeyUses {
  /// The uses, as named in messages.
  private(set) var found: [String] = []

  /// Finds the uses in all objects of a schema.
  ///
  /// RENAME COLUMN on a scratch database gives each column a unique name, so that SQLite itself shows where
  /// it is mentioned. In objects that SQLite cannot rewrite, the columns are recognised by their names.
  init(
    of columns: [(table: ParsedTable, columns: [String])], in schema: Schema,
    _ application: Application
  ) throws {
    var ids: Set<Identifier> = []
    var unwritable: [SchemaObject] = []
    let scratch = try schema.scratch(application)
    for (table, names) in columns {
      for name in names {
        let marker = "schemactl_id\(ids.count)"
        let result = try scratch.alter(
          "ALTER TABLE \(Quoting.quoted(table.name)) RENAME COLUMN \(Quoting.quoted(name)) TO \(marker)"
        )
        ids.insert(marker)
        unwritable += result.broken.filter(\.isBrokenByChange).map(\.object)
      }
    }
    let marked = try Schema(of: scratch)
    for table in marked.tables { noteConstraints(of: table, ids, as: schema.table(table.name)) }
    noteOthers(marked.objects, ids)
    let names = ids.union(columns.flatMap(\.columns).map(\.identifier))
    noteOthers(unwritable, names)
  }

  private mutating func noteConstraints(
    of object: SchemaObject, _ ids: Set<Identifier>, as original: SchemaObject?
  ) {
    guard let table = try? ParsedTable(object),
      let original = original.flatMap({ try? ParsedTable($0) })
    else { return }
    func calculates(_ expression: Expression) -> Bool {
      IdExpressions(table.tokens, in: expression.range, ids).calculates
    }
    for (column, old) in zip(table.parsed.columns, original.parsed.columns) {
      for (constraint, written) in zip(column.constraints, old.constraints) {
        switch constraint.kind {
        case .check(let check) where calculates(check):
          let text = original.tokens.text(written.range)
          found.append("`\(text)` of `\(table.name).\(old.name.text)`")
        case .generated(let generated) where calculates(generated.expression):
          found.append("the generated column `\(table.name).\(old.name.text)`")
        case .default where ids.contains(column.name.text):
          // After the conversion, this default identifies no row.
          let text = original.tokens.text(written.range)
          guard text.identifier != "DEFAULT NULL" else { continue }
          found.append("`\(text)` of `\(table.name).\(old.name.text)`")
        default: break
        }
      }
    }
    for (constraint, written) in zip(table.parsed.constraints, original.parsed.constraints) {
      if case .check(let check, _) = constraint.kind, calculates(check) {
        found.append("`\(original.tokens.text(written.range))` of `\(table.name)`")
      }
    }
  }

  private mutating func noteOthers(_ objects: [SchemaObject], _ ids: Set<Identifier>) {
    // A view may return an id under another name. That name is then an id in objects that read the view.
    var outputs: [Identifier: Set<Identifier>] = [:]
    var known = -1
    while outputs.values.reduce(0, { $0 + $1.count }) > known {
      known = outputs.values.reduce(0) { $0 + $1.count }
      for object in objects where object.kind == .view {
        guard case .createView(let view)? = try? parseCreate(TokenizedSQL(object.sql ?? ""))
        else { continue }
        let tokens = TokenizedSQL(object.sql ?? "")
        let select = IdExpressions(
          tokens, in: view.selectRange, ids.union(read(by: tokens, outputs, but: object.name)))
        let names = select.outputs.compactMap { output in
          view.columns.isEmpty
            ? output.alias
            : view.columns.indices.contains(output.place) ? view.columns[output.place].text : nil
        }
        outputs[object.name.identifier, default: []]
          .formUnion(names.map(\.identifier))
      }
    }
    for object in objects {
      let tokens = TokenizedSQL(object.sql ?? "")
      let ids = ids.union(read(by: tokens, outputs, but: object.name))
      let ranges: [Range<Int>] =
        switch try? parseCreate(tokens) {
        case .createIndex(let index)?:
          index.terms.filter { $0.column == nil }.map(\.expression.range)
            + [index.condition?.range].compactMap { $0 }
        case .createView(let view)?: [view.selectRange]
        case .createTrigger(let trigger)?:
          [trigger.condition?.range].compactMap { $0 } + trigger.statements
        default: []
        }
      if ranges.contains(where: { IdExpressions(tokens, in: $0, ids).calculates }) {
        found.append("\(object.kind.rawValue) `\(object.name)`")
      }
    }
  }

  /// The ids that the views mentioned by an object return.
  private func read(
    by tokens: TokenizedSQL, _ outputs: [Identifier: Set<Identifier>], but own: String
  ) -> Set<Identifier> {
    guard !outputs.isEmpty else { return [] }
    return tokens.identifiers(in: 0..<tokens.bytes.count).reduce(into: []) { names, name in
      if !name.isSame(as: own) { names.formUnion(outputs[name.text.identifier] ?? []) }
    }
  }
}

/// The uses of ids in a piece of SQL.
private struct IdExpressions {
  /// An id that a SELECT returns unchanged: the position of its result column, from 0, and its alias.
  typealias Output = (place: Int, alias: String?)

  private let words: [Identifier]
  private let texts: [String]
  private let isName: [Bool]
  private var isId: [Bool] = []
  /// The positions of matching parentheses, each with its partner.
  private var partners: [Int: Int] = [:]
  private(set) var calculates = false
  private(set) var outputs: [Output] = []

  init(_ tokens: TokenizedSQL, in range: Range<Int>, _ ids: Set<Identifier>) {
    let significant = tokens.significant(in: range)
    let names = Set(tokens.identifiers(in: range).map(\.range.lowerBound))
    texts = significant.map { Quoting.unquoted(tokens.text($0)) }
    words = significant.map { tokens.text($0).identifier }
    isName = significant.map { names.contains($0.range.lowerBound) }
    isId = texts.indices.map { isName[$0] && ids.contains(texts[$0].identifier) }
    var open: [Int] = []
    for index in words.indices {
      if words[index] == "(" { open.append(index) }
      guard words[index] == ")", let start = open.popLast() else { continue }
      (partners[start], partners[index]) = (index, start)
    }
    for index in words.indices
    where isId[index] && word(index + 1) != "." && word(index - 1) != "AS" {
      if !isHarmless(index) { calculates = true }
    }
  }

  private func word(_ index: Int) -> Identifier {
    words.indices.contains(index) ? words[index] : ""
  }

  private static let equality: Set<Identifier> = ["=", "==", "<>", "!=", "IS"]
  private static let calculating: Set<Identifier> = [
    "+", "-", "*", "/", "%", "||", "<<", ">>", "&", "|", "~", "->", "->>", "<", ">", "<=", ">=",
    "COLLATE", "LIKE", "GLOB", "MATCH", "REGEXP", "BETWEEN", "ESCAPE",
  ]
  private static let afterOutput: Set<Identifier> = [
    "", ",", ")", ";", "AS", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION",
    "EXCEPT",
    "INTERSECT",
  ]
  private static let clauses: Set<Identifier> = [
    "SELECT", "FROM", "WHERE", "BY", "HAVING", "LIMIT", "OFFSET", "ON", "SET", "VALUES", "WHEN",
    "THEN",
    "ELSE", "CASE", "RETURNING",
  ]

  private mutating func isHarmless(_ index: Int) -> Bool {
    var (first, last) = (index, index)
    while word(first - 1) == ".", first >= 2 { first -= 2 }
    while word(first - 1) == "(", word(last + 1) == ")", !isCall(first - 1),
      word(first - 2) != "IN",
      word(first - 2) != "VALUES", word(first - 2) != "USING"
    {
      (first, last) = (first - 1, last + 1)
    }
    let (before, after) = (word(first - 1), word(last + 1))
    if Self.calculating.contains(before) || Self.calculating.contains(after) { return false }
    if ["ISNULL", "NOTNULL"].contains(after) || after == "NOT" && word(last + 2) == "NULL" {
      return true
    }
    if Self.equality.contains(after) { return isIdOrNull(from: last + 2) }
    if Self.equality.contains(before) || before == "NOT" && word(first - 2) == "IS" {
      return isIdOrNull(to: first - (before == "NOT" ? 3 : 2))
    }
    if after == "IN" { return isIdList(from: last + 2) }
    if after == "NOT", word(last + 2) == "IN" { return isIdList(from: last + 3) }
    guard let opening = clause(before: first) else { return false }
    switch word(opening) {
    case "SELECT":
      let isAlone =
        ["SELECT", "DISTINCT", "ALL", ","].contains(before)
        && (Self.afterOutput.contains(after) || isName[last + 1])
      guard isAlone else { return false }
      let named = after == "AS" ? last + 2 : last + 1
      let alias = words.indices.contains(named) && isName[named] ? texts[named] : nil
      if opening > 0, word(opening - 1) == "(" { return isCompared(select: opening) }
      outputs.append((commas(from: opening, to: first), alias))
      return true
    // The alias of a table.
    case "FROM": return true
    case "BY":
      // The order of rows alone changes no value, unless it selects some of the rows.
      return ["GROUP", "PARTITION"].contains(word(opening - 1))
        || word(opening - 1) == "ORDER"
          && !words.contains { ["LIMIT", "OVER", "WINDOW"].contains($0) }
    case "(": return isHarmless(inList: opening)
    default: return false
    }
  }

  /// Whether a use in parentheses is harmless: in VALUES, in USING, in `count()`, among the columns of an
  /// INSERT, or in an IN list whose left operand is an id.
  private func isHarmless(inList opening: Int) -> Bool {
    switch word(opening - 1) {
    case "VALUES", "USING": return true
    case ",":
      // A further row of VALUES.
      return clause(before: opening - 1).map { word($0) == "VALUES" } ?? false
    case "COUNT": return true
    case "DISTINCT": return false
    case "IN": return isIdOrNull(to: opening - (word(opening - 2) == "NOT" ? 3 : 2))
    default:
      var name = opening - 1
      while word(name - 1) == ".", name >= 2 { name -= 2 }
      // The columns of an INSERT.
      return word(name - 1) == "INTO"
    }
  }

  /// Whether the result of a subquery in parentheses is only compared with ids. A subquery in FROM or among
  /// values does not count, because an expression may calculate with its result under another name.
  private func isCompared(select: Int) -> Bool {
    let opening = select - 1
    let before = word(opening - 1)
    if before == "IN" {
      return isIdOrNull(to: opening - (word(opening - 2) == "NOT" ? 3 : 2))
    }
    if Self.equality.contains(before) { return isIdOrNull(to: opening - 2) }
    if before == "EXISTS" { return true }
    guard let end = partners[opening], Self.equality.contains(word(end + 1)) else {
      return false
    }
    return isIdOrNull(from: end + 2)
  }

  private func isCall(_ opening: Int) -> Bool {
    opening > 0 && (isName[opening - 1] || word(opening - 1) == "COUNT")
  }

  /// The position of the keyword whose clause contains a token, or of the parenthesis that opens its list.
  private func clause(before index: Int) -> Int? {
    var place = index - 1
    while place >= 0, word(place) != "(", !Self.clauses.contains(word(place)) {
      place = word(place) == ")" ? (partners[place] ?? place) - 1 : place - 1
    }
    return place >= 0 ? place : nil
  }

  private func commas(from start: Int, to end: Int) -> Int {
    var (place, count) = (start, 0)
    while place < end {
      if word(place) == "," { count += 1 }
      place = word(place) == "(" ? (partners[place] ?? place) + 1 : place + 1
    }
    return count
  }

  /// Whether the operand that starts at this token is an id, a subquery that returns an id, or NULL.
  private func isIdOrNull(from start: Int) -> Bool {
    var index = start
    while ["NOT", "(", "DISTINCT", "FROM"].contains(word(index)) && word(index) != "" { index += 1 }
    if word(index) == "SELECT" { index += word(index + 1) == "DISTINCT" ? 2 : 1 }
    if word(index) == "NULL" { return true }
    while word(index + 1) == "." { index += 2 }
    return words.indices.contains(index) && isId[index]
  }

  private func isIdOrNull(to end: Int) -> Bool {
    guard word(end) == ")" else {
      return word(end) == "NULL" || words.indices.contains(end) && isId[end]
    }
    return partners[end].map { !isCall($0) && isIdOrNull(from: $0) } ?? false
  }

  private func isIdList(from opening: Int) -> Bool {
    guard word(opening) == "(" else { return false }
    if word(opening + 1) == "SELECT" { return isIdOrNull(from: opening + 1) }
    var index = opening + 1
    while word(index) != ")", words.indices.contains(index) {
      guard
        isId[index] || isName[index] && word(index + 1) == "."
          || [",", ".", "NULL"].contains(word(index))
      else { return false }
      index += 1
    }
    return true
  }
}
