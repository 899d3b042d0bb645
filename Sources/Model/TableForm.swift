import SchemaSQLText

/// A table's definition in the normal form of schema comparison: definitions that SQLite treats
/// alike have the same form (`docs/design.md`, diff).
struct TableForm {
  struct Column {
    let name: String
    let form: Form
    let text: String

    /// The part of a definition that concerns only the column.
    struct Form: Hashable {
      let type: [[UInt8]]
      let notNull: CreateTable.ConflictAction?
      let defaultValue: [[UInt8]]?
      let collation: [UInt8]?
      let generated: [[UInt8]]?
      let isStored: Bool?
      /// The names of constraints that are not in `TableForm.constraints`.
      let constraintNames: [[UInt8]]
    }
  }

  /// A key, UNIQUE, CHECK or foreign key, whether inline or in the table.
  struct Constraint {
    let form: [[[UInt8]]]
    let text: String
    /// The column whose definition contains it.
    let column: String?
  }

  let columns: [Column]
  let constraints: [Constraint]
  /// The options as SQL; nil when there are none.
  let options: String?

  init(_ table: CreateTable, _ tokens: TokenizedSQL, _ names: KnownNames) {
    let reader = FormReader(tokens: tokens, names: names)
    columns = table.columns.map { column in
      Column(
        name: column.name.text, form: reader.form(column), text: tokens.oneLine(in: column.range))
    }
    constraints =
      table.columns.flatMap(reader.constraints)
      + table.constraints.map { constraint in
        Constraint(
          form: reader.form(constraint), text: tokens.oneLine(in: constraint.range), column: nil)
      }
    let options =
      (table.isStrict ? ["STRICT"] : []) + (table.isWithoutRowid ? ["WITHOUT ROWID"] : [])
    self.options = options.isEmpty ? nil : options.joined(separator: ", ")
  }
}

private struct FormReader {
  let tokens: TokenizedSQL
  let names: KnownNames

  func form(_ column: CreateTable.Column) -> TableForm.Column.Form {
    TableForm.Column.Form(
      type: TokenizedSQL(column.type?.text ?? "").normalTokens, notNull: column.notNull,
      defaultValue: column.defaultExpression.map(defaultValue),
      collation: column.collation.map(\.folded),
      generated: column.generated.map { tokens.comparableTokens(in: $0.expression.range, names) },
      isStored: column.generated?.isStored,
      constraintNames: column.constraints.filter { form($0, of: column) == nil }
        .compactMap { $0.name?.folded })
  }

  func constraints(of column: CreateTable.Column) -> [TableForm.Constraint] {
    column.constraints.compactMap { constraint in
      form(constraint, of: column).map { form in
        TableForm.Constraint(
          form: form, text: "\(column.name.text): \(tokens.oneLine(in: constraint.range))",
          column: column.name.text)
      }
    }
  }

  /// A single word is a string, quoted or not, unless it is a value.
  private func defaultValue(_ expression: Expression) -> [[UInt8]] {
    let significant = tokens.significant(in: expression.range)
    guard significant.count == 1, [.word, .quotedIdentifier].contains(significant[0].kind) else {
      return tokens.comparableTokens(in: expression.range, names)
    }
    let text = tokens.text(significant[0])
    return Keywords.isValue(text) || text.identifier == "null"
      ? tokens.normalTokens(in: expression.range)
      : [Array(Quoting.stringLiteral(Quoting.unquoted(text)).utf8)]
  }

  /// The constraint in the form of a table constraint; nil if it concerns only the column.
  func form(
    _ constraint: CreateTable.ColumnConstraint, of column: CreateTable.Column
  ) -> [[[UInt8]]]? {
    switch constraint.kind {
    case .primaryKey(let key):
      let isDescending = key.order == .descending
      // Only an inline DESC makes an INTEGER key differ from the rowid (Rowid Tables).
      let isInteger = column.type?.text.identifier == "integer"
      return named(constraint.name, "primary key")
        + [[column.name.folded] + words(isDescending ? "desc" : "")]
        + [words(key.isAutoincrement ? "autoincrement" : ""), conflict(key.onConflict)]
        + (isDescending && isInteger ? [words("not the rowid")] : [])
    case .unique(let action):
      return named(constraint.name, "unique") + [[column.name.folded], conflict(action)]
    case .check(let expression): return check(constraint.name, expression)
    case .references(let reference):
      // Includes a later DEFERRABLE clause.
      let whole = column.references.first { $0.range == reference.range } ?? reference
      return foreignKey(constraint.name, [column.name], whole)
    case .deferral, .notNull, .null, .default, .collate, .generated, .nameOnly: return nil
    }
  }

  func form(_ constraint: CreateTable.Constraint) -> [[[UInt8]]] {
    switch constraint.kind {
    case .primaryKey(let terms, let isAutoincrement, let action):
      return named(constraint.name, "primary key") + terms.map(form)
        + [words(isAutoincrement ? "autoincrement" : ""), conflict(action)]
    case .unique(let terms, let action):
      return named(constraint.name, "unique") + terms.map(form) + [conflict(action)]
    case .check(let expression, _): return check(constraint.name, expression)
    case .foreignKey(let columns, let reference):
      return foreignKey(constraint.name, columns, reference)
    case .nameOnly: return named(constraint.name, "")
    }
  }

  private func form(_ term: IndexedTerm) -> [[UInt8]] {
    (term.column.map { [$0.folded] }
      ?? tokens.comparableTokens(in: term.expression.range, names))
      + term.suffix
  }

  private func check(_ name: Name?, _ expression: Expression) -> [[[UInt8]]] {
    named(name, "check") + [tokens.comparableTokens(in: expression.range, names)]
  }

  private func foreignKey(
    _ name: Name?, _ columns: [Name], _ reference: CreateTable.Reference
  ) -> [[[UInt8]]] {
    named(name, "foreign key") + [
      columns.map(\.folded), [reference.table.folded], reference.columns.map(\.folded),
      words("delete \(reference.onDelete.rawValue)"),
      words("update \(reference.onUpdate.rawValue)"),
      words(reference.isDeferred ? "deferred" : "immediate"),
    ]
  }

  private func named(_ name: Name?, _ kind: String) -> [[[UInt8]]] {
    [words(kind), name.map { [$0.folded] } ?? []]
  }

  private func conflict(_ action: CreateTable.ConflictAction?) -> [[UInt8]] {
    words("on conflict \((action ?? .abort).rawValue)")
  }
}

func words(_ text: String) -> [[UInt8]] {
  text.isEmpty ? [] : [Array(text.utf8)]
}

extension Name {
  var folded: [UInt8] { Array(text.identifier.folded) }
}

extension IndexedTerm {
  /// The collation and the order.
  var suffix: [[UInt8]] {
    (collation.map { words("collate") + [$0.folded] } ?? [])
      + words(order == .descending ? "desc" : "")
  }
}
