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
  /// The options as SQL; nil if there are none.
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

  /// A default that is a single word, quoted or not, is a string, unless the word is a value such as TRUE.
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

/// The definition of an index, a view, a trigger or a virtual table in normal form: definitions
/// that SQLite treats alike have the same form. It excludes the object's own name.
func definitionForm(_ tokens: TokenizedSQL, _ names: KnownNames) -> [[[UInt8]]] {
  func form(_ range: Range<Int>) -> [[UInt8]] { tokens.comparableTokens(in: range, names) }

  switch try? parseCreate(tokens) {
  case .createIndex(let index):
    let terms = index.terms.map { term -> [[UInt8]] in
      // SQLite reads a term in single quotes as a name if the column exists.
      let column = term.column.flatMap { names.contains($0.text) ? [$0.folded] : nil }
      return (column ?? form(term.expression.range)) + term.suffix
    }
    return [words(index.isUnique ? "unique" : ""), [index.table.folded]] + terms
      + [words("where"), index.condition.map { form($0.range) } ?? []]
  case .createView(let view):
    return [view.columns.map(\.folded), form(view.selectRange)]
  case .createTrigger(let trigger):
    return [
      words(trigger.timing.rawValue), words(trigger.event.rawValue),
      trigger.columns.map(\.folded).sorted { $0.lexicographicallyPrecedes($1) },
      [trigger.table.name.folded], trigger.condition.map { form($0.range) } ?? [],
      form(trigger.bodyRange),
    ]
  case .createVirtualTable(let table):
    return [[table.module.folded]] + table.arguments.map(form)
  case .createTable, nil:
    return [form(0..<tokens.bytes.count)]
  }
}

extension SchemaObject {
  /// The names of a view's columns that are texts of expressions; empty for other objects.
  func resultTexts(_ tokens: TokenizedSQL) -> [[UInt8]] {
    guard kind == .view, case .createView(let view)? = try? parseCreate(tokens) else { return [] }
    return view.resultTexts(tokens)
  }

  /// Whether the text of an expression may name a column, so that its white space is part of the name: in a
  /// view, or in a table that CREATE TABLE … AS SELECT has created.
  package var isNamedByLayout: Bool {
    guard let table = createTable else { return !resultTexts(tokens).isEmpty }
    return table.columns.contains { TokenizedSQL($0.name.text).significant.count > 1 }
  }
}

/// The names to which a double-quoted word in some SQL can refer. SQLite reads other double-quoted
/// words as strings (Quirks, Caveats, and Gotchas In SQLite, section 8), whose case is significant.
struct KnownNames {
  private var names: Set<Identifier> = []

  /// The names of tables and their columns, for expressions in the tables' own definitions.
  init(of tables: [CreateTable]) {
    for name in tables.flatMap(\.columns).map(\.name) + tables.map(\.name) { add(name.text) }
    for name in Identifier.rowids { add(name.text) }
  }

  /// All names of tables, views and columns, and every bare word in `texts`.
  init(_ schemas: [Schema], and texts: [TokenizedSQL]) {
    let objects = schemas.flatMap(\.objects)
    self.init(of: objects.compactMap(\.createTable))
    for object in objects where object.kind == .table || object.kind == .view { add(object.name) }
    for text in texts {
      for token in text.tokens where token.kind == .word { add(text.text(token)) }
    }
  }

  private mutating func add(_ name: String) { names.insert(name) }

  func contains(_ name: String) -> Bool { names.contains(name) }
}

extension TokenizedSQL {
  /// The normal tokens of a range. Double-quoted words that are strings become string tokens.
  func comparableTokens(in range: Range<Int>, _ names: KnownNames) -> [[UInt8]] {
    let tokens = significant(in: range)
    return tokens.indices.flatMap { index -> [[UInt8]] in
      let token = tokens[index]
      let text = text(token)
      guard token.kind == .quotedIdentifier, text.utf8.first == UInt8(ascii: "\"") else {
        return text == ";" ? [[UInt8(ascii: ";")]] : normalTokens(in: token.range)
      }
      let name = Quoting.unquoted(text)
      let before: Identifier = index > 0 ? self.text(tokens[index - 1]).identifier : ""
      let after = index + 1 < tokens.count ? self.text(tokens[index + 1]) : ""
      let isName =
        names.contains(name) || [".", "collate", "as"].contains(before)
        || [".", "("].contains(after)
      return isName ? normalTokens(in: token.range) : [Array(Quoting.stringLiteral(name).utf8)]
    }
  }

  /// A range on one line, for messages.
  package func oneLine(in range: Range<Int>) -> String {
    var line = ""
    var end = range.lowerBound
    for token in significant(in: range) {
      if token.range.lowerBound > end { line += " " }
      line += text(token)
      end = token.range.upperBound
    }
    return line
  }
}
