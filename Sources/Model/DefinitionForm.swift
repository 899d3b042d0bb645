import SchemaSQLText

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

  /// Whether a column may be named by the text of an expression, whose white space is part of the name: a result
  /// of a view, or a column of a table that was made of a SELECT.
  package var isNamedByLayout: Bool {
    let tokens = TokenizedSQL(sql ?? "")
    guard case .createTable(let table)? = try? parseCreate(tokens) else {
      return !resultTexts(tokens).isEmpty
    }
    return table.columns.contains { TokenizedSQL($0.name.text).significant.count > 1 }
  }
}
