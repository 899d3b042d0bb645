import SchemaSQLText

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
  ) -> [Step] {
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
        .question(
          Question(
            Scan(
              table: name, column: column,
              predicate: filter.map { "\($0) AND (\(predicate))" } ?? predicate, problem: problem)))
      }
    }
  }
}
