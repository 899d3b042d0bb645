import SQLText

/// A table's definition in the normal form in which schemas are compared: what SQLite treats alike
/// reads alike (`docs/design.md`, diff).
struct TableForm {
  struct Column {
    let name: String
    /// The clauses that belong to the column alone, in normal tokens.
    let clauses: Set<[[UInt8]]>
    let text: String
  }

  struct Constraint {
    let form: [[UInt8]]
    let text: String
  }

  let columns: [Column]
  /// Keys, UNIQUE, CHECK and foreign keys, wherever they are written.
  let constraints: [Constraint]
  let options: [String]

  /// Nil for what is no ordinary table.
  init?(_ sql: String) {
    let tokens = TokenizedSQL(sql)
    guard case .createTable(let table)? = try? parseCreate(tokens), table.selectRange == nil else {
      return nil
    }
    var constraints: [Constraint] = []
    columns = table.columns.map { column in
      var clauses: Set<[[UInt8]]> = []
      if let type = column.type { clauses.insert(words("type") + tokens.normalTokens(in: type.range)) }
      for constraint in column.constraints {
        let form = constraint.form(of: column, tokens)
        if let form {
          constraints.append(
            Constraint(
              form: named(constraint.name, form),
              text: "\(column.name.text): \(tokens.text(constraint.range))"))
        } else {
          clauses.insert(tokens.normalTokens(in: constraint.range))
        }
      }
      return Column(name: column.name.text, clauses: clauses, text: tokens.text(column.range))
    }
    constraints += table.constraints.map {
      Constraint(form: named($0.name, $0.form(tokens)), text: tokens.text($0.range))
    }
    self.constraints = constraints
    options =
      (table.isStrict ? ["STRICT"] : []) + (table.isWithoutRowid ? ["WITHOUT ROWID"] : [])
  }
}

private func words(_ text: String) -> [[UInt8]] {
  text.split(separator: " ").map { Array($0.utf8) }
}

private func named(_ name: Name?, _ form: [[UInt8]]) -> [[UInt8]] {
  guard let name else { return form }
  return words("constraint") + [Array(name.text.asciiLowercased.utf8)] + form
}

private func columnList(_ names: [Name]) -> [[UInt8]] {
  words("(") + names.map { Array($0.text.asciiLowercased.utf8) } + words(")")
}

private func conflict(_ action: CreateTable.ConflictAction?) -> [[UInt8]] {
  words("on conflict \((action ?? .abort).rawValue)")
}

private func form(_ reference: CreateTable.Reference, of columns: [Name]) -> [[UInt8]] {
  words("foreign key") + columnList(columns) + [Array(reference.table.text.asciiLowercased.utf8)]
    + columnList(reference.columns)
    + words("delete \(reference.onDelete.rawValue) update \(reference.onUpdate.rawValue)")
    + words(reference.isDeferred ? "deferred" : "immediate")
}

extension CreateTable.ColumnConstraint {
  /// The constraint as a table-level one would read; nil when it belongs to the column alone.
  fileprivate func form(
    of column: CreateTable.Column, _ tokens: TokenizedSQL
  ) -> [[UInt8]]? {
    switch kind {
    case .primaryKey(let key):
      // Inline, `INTEGER PRIMARY KEY DESC` is no rowid alias; at table level DESC makes none either.
      let isInteger = column.type?.text.asciiLowercased == "integer"
      let order = key.order == .descending ? (isInteger ? "desc inline" : "desc") : ""
      return words("primary key") + columnList([column.name]) + words(order)
        + conflict(key.onConflict) + words(key.isAutoincrement ? "autoincrement" : "")
    case .unique(let action):
      return words("unique") + columnList([column.name]) + conflict(action)
    case .check(let expression):
      return words("check") + tokens.normalTokens(in: expression.range)
    case .references(let reference):
      let whole = column.references.first { $0.range == reference.range } ?? reference
      return SchemaModel.form(whole, of: [column.name])
    case .deferral: return nil
    case .notNull, .null, .default, .collate, .generated, .nameOnly: return nil
    }
  }
}

extension CreateTable.Constraint {
  fileprivate func form(_ tokens: TokenizedSQL) -> [[UInt8]] {
    switch kind {
    case .primaryKey(let terms, let isAutoincrement, let action):
      return words("primary key") + form(terms, tokens) + conflict(action)
        + words(isAutoincrement ? "autoincrement" : "")
    case .unique(let terms, let action):
      return words("unique") + form(terms, tokens) + conflict(action)
    case .check(let expression, _):
      return words("check") + tokens.normalTokens(in: expression.range)
    case .foreignKey(let columns, let reference):
      return SchemaModel.form(reference, of: columns)
    case .nameOnly: return []
    }
  }

  private func form(_ terms: [IndexedTerm], _ tokens: TokenizedSQL) -> [[UInt8]] {
    guard terms.count == 1, let column = terms[0].column, terms[0].collation == nil else {
      return words("(") + terms.flatMap { tokens.normalTokens(in: $0.range) + words(",") }
        + words(")")
    }
    return columnList([column]) + words(terms[0].order == .descending ? "desc" : "")
  }
}
