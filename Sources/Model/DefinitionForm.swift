import SchemaSQLText

/// The definition of an index, a view, a trigger or a virtual table in normal form: what SQLite
/// treats alike reads alike. The object's own name is not in it.
func definitionForm(_ tokens: TokenizedSQL, _ names: KnownNames) -> [[[UInt8]]] {
  func form(_ range: Range<Int>) -> [[UInt8]] { tokens.comparableTokens(in: range, names) }

  switch try? parseCreate(tokens) {
  case .createIndex(let index):
    let terms = index.terms.map { term -> [[UInt8]] in
      // A name in single quotes is a name here.
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
  /// The names of a view's result that are texts of expressions; none for other objects.
  func resultTexts(_ tokens: TokenizedSQL) -> [[UInt8]] {
    guard kind == .view, case .createView(let view)? = try? parseCreate(tokens) else { return [] }
    return view.resultTexts(tokens)
  }
}
