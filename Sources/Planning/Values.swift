import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// The `map` of a `move_column`, as SQL over a column.
///
/// Keys match by storage class and byte for byte: the unary plus takes the column's affinity off,
/// COLLATE BINARY its collation (Datatypes In SQLite, sections 4.2 and 7.1).
///
/// `holds` is in the text of `mirror`'s triggers, and so in fingerprints, which locks and ledgers
/// keep for ever: its result must never change.
struct ValueMap {
  /// The column, quoted.
  let column: String
  let entries: [MappedValue]

  /// True for rows that hold `value`.
  func holds(_ value: Value) -> String {
    if case .null = value { return "\(column) IS NULL" }
    let storage = Quoting.stringLiteral(value.storageClass)
    return "(typeof(\(column)) = \(storage) AND +\(column) COLLATE BINARY IS \(value.sql))"
  }

  /// True for rows whose value no key names.
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
    // Each test is true or false, never NULL, because typeof() never is.
    return "NOT (\(tests.joined(separator: " OR ")))"
  }

  /// True for rows that hold `value`, once it is certain that every value has a key: where all keys are
  /// integers, the storage class is not compared.
  func holdsKey(_ value: Value) -> String {
    let isAmongIntegers = entries.allSatisfy {
      ["integer", "null"].contains($0.from.storageClass)
    }
    guard case .integer = value, isAmongIntegers else { return holds(value) }
    return "+\(column) IS \(value.sql)"
  }

  /// The new value of a row, once it is certain that every value has a key.
  var value: String {
    "CASE "
      + entries.map { "WHEN \(holdsKey($0.from)) THEN \($0.to.sql)" }.joined(separator: " ")
      + " END"
  }

  /// True for rows whose new value differs from the old one, once it is certain that every value has a
  /// key; nil when the map changes nothing.
  var changes: String? {
    let changed = entries.filter { $0.from != $0.to }
    return changed.isEmpty ? nil : changed.map { holdsKey($0.from) }.joined(separator: " OR ")
  }
}

/// An expression over a row of a table.
struct RowExpression {
  /// Whether it may read anything but its own row: other rows of the table, another table, a view.
  let readsOtherRows: Bool
  /// The column whose stored value it is, in whatever spelling; nil for a value that it computes.
  let column: String?

  init(_ source: SQLSource, of table: ParsedTable) {
    let sql = TokenizedSQL(source.text)
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
    // A table, or a schema and a table, may precede the name, which then may be a string, too.
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
      ?? (Identifier.rowids.contains(name.identifier) ? table.rowidName : nil)
  }
}

/// How a declared type stores values (Datatypes In SQLite, section 3.1).
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
  /// True for a value that a column of this affinity would store as another value: '007' as 7, 2^53+1
  /// as the nearest REAL. '9' may become 9, and 9 may become '9' or 9.0. Nil where every value stays.
  ///
  /// - Parameter value: SQL, which may have an affinity and a collation of its own.
  func changes(_ value: String) -> String? {
    let plain = "+(\(value)) COLLATE BINARY"
    func isText(otherThan stored: String...) -> String {
      // SQLite converts the text for this comparison as a column would, or leaves it a text.
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
  /// True for a value that a column of this affinity in a STRICT table does not accept, even converted (STRICT
  /// Tables, section 2).
  fileprivate func refuses(_ value: String) -> String {
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
  /// How the table stores values of one of its columns.
  func affinity(of column: CreateTable.Column) -> Affinity {
    let type = column.type?.text ?? ""
    // ANY in a STRICT table stores values as they are (STRICT Tables, section 4).
    return parsed.isStrict && type.identifier == "any" ? .blob : Affinity(ofType: type)
  }

  /// The questions whether a column of another table accepts and keeps each value that one of this table hands
  /// over.
  ///
  /// - Parameters:
  ///   - filter: which rows are carried over; nil is all.
  ///   - key: of the operation, which asks for it.
  /// - Returns: nothing where every value stays the same.
  func survival(
    of column: String, as new: CreateTable.Column, in target: ParsedTable, filter: String? = nil,
    key: String
  ) -> [Question] {
    let value = Quoting.quoted(column)
    let type = new.type?.text ?? ""
    let affinity = target.affinity(of: new)
    let accepts = parsed.isStrict || !target.parsed.isStrict || type.identifier == "any"
    let declaration = "\(new.name.text) \(type)"
    let problems: [(String?, Scan.Problem)] = [
      (accepts ? nil : affinity.refuses(value), .refused(by: declaration, key: key)),
      (affinity.changes(value), .changed(by: declaration, key: key)),
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
