import SchemaManifest
import SchemaSQLText
import SchemaSQLite

/// The `map` of a `move_column`, as SQL over a column.
///
/// Keys match by storage class and byte for byte: the unary plus removes the column's affinity, COLLATE
/// BINARY its collation (Datatypes In SQLite, sections 4.2 and 7.1).
///
/// The result of `holds` must never change: it is in the text of `mirror`'s triggers, and so in fingerprints,
/// which locks and ledgers keep for ever.
struct ValueMap {
  /// The quoted name of the column.
  let column: String
  let entries: [MappedValue]

  /// SQL that is true for rows whose column contains `value`.
  func holds(_ value: Value) -> String {
    if case .null = value { return "\(column) IS NULL" }
    let storage = Quoting.stringLiteral(value.storageClass)
    return "(typeof(\(column)) = \(storage) AND +\(column) COLLATE BINARY IS \(value.sql))"
  }

  /// SQL that is true for rows whose value is not a key of the map.
  var isUnmapped: String {
    // Integers are by far the most common keys, and IN over a list of them is the fastest filter.
    let integers = entries.compactMap { entry -> String? in
      if case .integer = entry.from { entry.from.sql } else { nil }
    }
    var tests: [String] = []
    if !integers.isEmpty {
      tests.append(
        "(typeof(\(column)) = 'integer' AND +\(column) IN (\(integers.joined(separator: ", "))))")
    }
    for entry in entries {
      if case .integer = entry.from { continue }
      tests.append(holds(entry.from))
    }
    // No test is NULL, because typeof() never returns NULL.
    return "NOT (\(tests.joined(separator: " OR ")))"
  }

  /// SQL that is true for rows whose column contains `value`, provided that every value of the column is a
  /// key. If all keys are integers or NULL, it does not compare storage classes.
  func holdsKey(_ value: Value) -> String {
    let isAmongIntegers = entries.allSatisfy {
      ["integer", "null"].contains($0.from.storageClass)
    }
    guard case .integer = value, isAmongIntegers else { return holds(value) }
    return "+\(column) IS \(value.sql)"
  }

  /// The new value of a row, provided that every value of the column is a key.
  var value: String {
    "CASE "
      + entries.map { "WHEN \(holdsKey($0.from)) THEN \($0.to.sql)" }.joined(separator: " ")
      + " END"
  }

  /// SQL that is true for rows whose value changes, provided that every value of the column is a key. Nil if
  /// the map changes no value.
  var changes: String? {
    let changed = entries.filter { $0.from != $0.to }
    return changed.isEmpty ? nil : changed.map { holdsKey($0.from) }.joined(separator: " OR ")
  }
}

/// An expression over a row of a table.
struct RowExpression {
  /// Whether the expression may read more than its own row: other rows of the table, another table or a view.
  let readsOtherRows: Bool
  /// The column whose value the expression returns unchanged; nil for any other expression.
  let column: String?

  init(_ expression: String, of table: ParsedTable) {
    let sql = TokenizedSQL(expression)
    var tokens = sql.significant[...]
    func text(_ index: Int) -> String? {
      tokens.indices.contains(index) ? sql.text(tokens[index]) : nil
    }
    // Without SELECT, only `IN t` reads a table.
    readsOtherRows = tokens.indices.contains { index in
      sql.isWord(tokens[index], "SELECT")
        || sql.isWord(tokens[index], "IN") && text(index + 1) != "("
    }
    while tokens.count > 2, text(tokens.startIndex) == "(", text(tokens.endIndex - 1) == ")" {
      tokens = tokens.dropFirst().dropLast()
    }
    // A table, or a schema and a table, may qualify the name. A qualified name may be written as a string.
    let count = tokens.count
    while tokens.count > 2, text(tokens.startIndex + 1) == "." { tokens = tokens.dropFirst(2) }
    guard let token = tokens.first, tokens.count == 1,
      tokens.count < count || [.word, .quotedIdentifier].contains(token.kind)
    else {
      column = nil
      return
    }
    let name = Quoting.unquoted(sql.text(token))
    column =
      table.parsed.column(named: name)?.name.text
      ?? (Identifier.rowids.contains(name.identifier) ? table.rowidName() : nil)
  }
}

/// Whether SQL in a plan is an expression of a manifest, in parentheses, and names a column or a function.
func isExpression(_ sql: String) -> Bool {
  sql.hasPrefix("(")
    && TokenizedSQL(sql).significant.contains { [.word, .quotedIdentifier].contains($0.kind) }
}

/// The affinity of a declared type (Datatypes In SQLite, section 3.1).
package enum Affinity: Sendable {
  case text, numeric, integer, real, blob

  package init(ofType type: String) {
    let bytes = Array(type.identifier.folded)
    func has(_ part: String) -> Bool {
      bytes.indices.contains { bytes[$0...].starts(with: part.utf8) }
    }
    self =
      if has("int") {
        .integer
      } else if has("char") || has("clob") || has("text") {
        .text
      } else if has("blob") || type.isEmpty {
        .blob
      } else if has("real") || has("floa") || has("doub") {
        .real
      } else {
        .numeric
      }
  }
}

extension Affinity {
  /// SQL that is true for a value that a column of this affinity would store as another value: '007' as 7,
  /// 2^53+1 as the nearest REAL. '9' may become 9, and 9 may become '9' or 9.0. Nil if the column stores
  /// every value unchanged.
  ///
  /// - Parameter value: SQL, which may have an affinity and a collation of its own.
  func changes(_ value: String) -> String? {
    let plain = "+(\(value)) COLLATE BINARY"
    func isText(otherThan stored: String...) -> String {
      // For this comparison, SQLite converts the text as a column would, or leaves it a text.
      let isNumber = "CAST(\(value) AS NUMERIC) = \(plain)"
      let differs = stored.map { "CAST(\($0) AS TEXT) <> \(plain)" }
      return "typeof(\(value)) = 'text' AND "
        + ([isNumber] + differs).joined(separator: " AND ")
    }
    let real = "CAST(\(value) AS REAL)"
    switch self {
    case .blob: return nil
    case .text:
      return "typeof(\(value)) = 'real' AND CAST(CAST(\(value) AS TEXT) AS REAL) IS NOT \(plain)"
    case .integer, .numeric: return isText(otherThan: "CAST(\(value) AS NUMERIC)")
    case .real:
      return "(typeof(\(value)) = 'integer' AND \(real) <> \(plain) "
        + "OR \(isText(otherThan: real, "CAST(\(real) AS INTEGER)")))"
    }
  }
}

extension Affinity {
  /// SQL that is true for a value that a column of this affinity in a STRICT table refuses, even after a
  /// conversion (STRICT Tables, section 2).
  func refuses(_ value: String) -> String {
    let isText = "typeof(\(value)) = 'text'"
    let isNumber = "CAST(\(value) AS NUMERIC) = +(\(value)) COLLATE BINARY"
    let isBlob = "typeof(\(value)) = 'blob'"
    switch self {
    case .blob: return "typeof(\(value)) NOT IN ('blob', 'null')"
    case .text: return isBlob
    case .real, .numeric: return "(\(isBlob) OR \(isText) AND NOT \(isNumber))"
    case .integer:
      let isWhole = "\(isNumber) AND typeof(CAST(\(value) AS NUMERIC)) = 'integer'"
      return "(\(isBlob) OR \(isText) AND NOT (\(isWhole)) "
        + "OR typeof(\(value)) = 'real' AND CAST(\(value) AS INTEGER) <> \(value))"
    }
  }
}

extension ParsedTable {
  /// The affinity with which the table stores values of one of its columns.
  func affinity(of column: CreateTable.Column) -> Affinity {
    let type = column.type?.text ?? ""
    // ANY in a STRICT table stores values unchanged (STRICT Tables, section 4).
    return parsed.isStrict && type.identifier == "any" ? .blob : Affinity(ofType: type)
  }

  /// The questions whether a column of another table would refuse or change a value of a column of this
  /// table.
  ///
  /// - Parameters:
  ///   - filter: SQL that is true for the copied rows; nil for all rows.
  ///   - key: the operation's key that requires the copy.
  /// - Returns: no questions if every value certainly stays the same.
  func survival(
    of column: String, as new: CreateTable.Column, in target: ParsedTable, filter: String? = nil,
    key: String
  ) -> [Question] {
    let value = Quoting.quoted(column)
    let type = new.type?.text ?? ""
    let affinity = target.affinity(of: new)
    let old = parsed.column(named: column)?.type?.text.identifier
    let integers: Set<Identifier?> = ["int", "integer"]
    let isSame = old == type.identifier || integers.isSuperset(of: [old, type.identifier])
    let accepts =
      !target.parsed.isStrict || type.identifier == "any" || parsed.isStrict && isSame
    let isNewAlias =
      target.isRowidAlias(new) && !(parsed.column(named: column).map(isRowidAlias) ?? true)
    let declaration = "\(new.name.text) \(type)" + (isNewAlias ? " PRIMARY KEY" : "")
    let problems: [(String?, Scan.Problem)] = [
      (
        accepts && !isNewAlias ? nil : affinity.refuses(value),
        .refused(by: declaration, key: key)
      ),
      (
        isSame && parsed.isStrict == target.parsed.isStrict ? nil : affinity.changes(value),
        .changed(by: declaration, key: key)
      ),
      // SQLite assigns a number to NULL in an alias of the rowid.
      (isNewAlias ? "\(value) IS NULL" : nil, .changed(by: declaration, key: key)),
    ]
    return problems.compactMap { predicate, problem in
      predicate.map { predicate in
        Question(
          Scan(
            table: name, column: column,
            predicate: filter.map { "\($0) AND (\(predicate))" } ?? predicate, problem: problem))
      }
    }
  }
}

extension ParsedTable {
  /// Asks whether a text column contains a number. Nil for a column that cannot.
  ///
  /// ADD COLUMN with DEFAULT TRUE gives existing rows a number, whatever the column's type is, and writing the
  /// row converts it. `quick_check` finds all other values that a column's type would not store.
  ///
  /// - Parameter scan: the clause that makes SQLite read the whole table (`Connection.fullScan`).
  func storageGuard(of column: CreateTable.Column, _ scan: String) -> Question? {
    guard !parsed.isStrict, affinity(of: column) == .text,
      let value = column.defaultExpression.map({ tokens.text($0.range) }),
      ["true", "false"].contains(value.identifier)
    else { return nil }
    let text = "\(name).\(column.name.text)"
    return Question(
      condition: "EXISTS (SELECT 1 FROM main.\(Quoting.quoted(name)) \(scan) "
        + "WHERE typeof(\(Quoting.quoted(column.name.text))) IN ('integer', 'real'))",
      of: name, promise: "`\(text)` contains no number",
      message: "`\(text)` contains numbers, because it was added with DEFAULT "
        + "\(value.uppercased()), and writing its rows would store them as text. An UPDATE that "
        + "sets the column to itself converts them")
  }
}

extension ColumnDefinition {
  /// The values that the column accepts, without NULL. Nil if they are unknown, because the column has no CHECK
  /// of the form `NAME IN (VALUE, …)`.
  package var listedValues: [Value]? {
    let sql = TokenizedSQL(check?.text ?? "")
    let tokens = sql.significant
    guard collate == nil, tokens.count > 3, sql.text(tokens[0]).isSameName(as: name),
      sql.isWord(tokens[1], "IN"), sql.text(tokens[2]) == "("
    else { return nil }
    let list = sql.inside(tokens[2...])
    guard list.endIndex == tokens.count - 1 else { return nil }
    let values = sql.split(list, atCommas: ()).map { item in
      item.count == 1 ? sql.literal(tokens, item.startIndex) : nil
    }
    return values.contains(nil) ? nil : values.compactMap(\.self)
  }
}
