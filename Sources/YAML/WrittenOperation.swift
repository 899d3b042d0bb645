import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText

/// An operation as the text of a manifest, without the indentation of its place in the manifest.
package struct WrittenOperation: Sendable, Hashable {
  /// The lines of one entry of `operations`. The first begins with `- `.
  package let lines: [String]

  init(_ lines: [String]) {
    self.lines = lines
  }

  /// An operation on one line, whose keys have short values.
  package init(_ name: String, _ keys: [(String, String)]) {
    lines = ["- \(name): \(flow(keys))"]
  }

  /// A `rebuild_table` with the table's own CREATE statement.
  package static func rebuild(_ table: SchemaObject) -> WrittenOperation {
    WrittenOperation(
      before: ["- rebuild_table:", "    table: \(yamlScalar(table.name))"], block: "    sql: ",
      table.sql ?? "", indentation: 6)
  }

  /// An `sql` operation with unchanged SQL.
  package init(sql: String) {
    self.init(block: "- sql: ", sql, indentation: 4)
  }

  /// Writes a text as a block scalar if YAML reads it back unchanged, otherwise in double quotes.
  init(before: [String] = [], block key: String, _ text: String, indentation: Int) {
    guard canBeBlock(text) else {
      lines = before + [key + yamlQuoted(text)]
      return
    }
    let space = String(repeating: " ", count: indentation)
    lines =
      before + [key + "|-"]
      + text.split(separator: "\n", omittingEmptySubsequences: false).map {
        $0.isEmpty ? "" : space + $0
      }
  }
}

/// A mapping on one line.
package func flow(_ keys: [(String, String)]) -> String {
  "{ \(keys.map { "\($0): \($1)" }.joined(separator: ", ")) }"
}

/// A list on one line.
package func flow(_ items: [String]) -> String { "[\(items.joined(separator: ", "))]" }

/// The text of a manifest with only these operations.
package func manifestText(
  description: String? = nil, _ operations: [WrittenOperation]
) -> String {
  let head = description.map { "description: \(yamlScalar($0))\n" } ?? ""
  guard !operations.isEmpty else { return head + "operations: []\n" }
  let lines = operations.flatMap(\.lines).map { $0.isEmpty ? "" : "  " + $0 }
  return head + "operations:\n" + lines.joined(separator: "\n") + "\n"
}

extension ReplacedEntries {
  /// The item as a manifest contains it.
  package var yaml: String {
    // The names of many ledgers begin with `_`, which needs no quotes.
    let isPlain = ledger.hasPrefix("_") && Quoting.identifier(ledger) == ledger
    var keys = [("ledger", isPlain ? ledger : yamlScalar(ledger))]
    if let kind { keys.append(("kind", kind.rawValue)) }
    if let column { keys.append(("column", yamlScalar(column))) }
    keys.append(("entries", flow(entries.map(yamlScalar))))
    if let parents { keys.append(("parents", flow(parents.map(yamlScalar)))) }
    return flow(keys)
  }
}

/// Whether a block scalar preserves the text. It would lose white space at the beginning, a line feed at the
/// end, and invisible characters.
private func canBeBlock(_ text: String) -> Bool {
  guard let first = text.unicodeScalars.first, !" \n\t".unicodeScalars.contains(first),
    !text.hasSuffix("\n")
  else { return false }
  return text.unicodeScalars.allSatisfy { ["\n", "\t"].contains($0) || !$0.mustBeEscapedInYAML }
}

extension Schema {
  /// The operations that create this schema in an empty database, in an order in which they can run.
  ///
  /// An object that no operation can express exactly becomes an `sql` operation.
  package var operations: [WrittenOperation] {
    let visible = ours().withoutShadowTables()
    return [SchemaObject.Kind.table, .index, .view, .trigger].flatMap { kind in
      visible.objects.filter { $0.kind == kind && $0.sql != nil }.map(operation(making:))
    }
  }

  /// The operation that creates one of the schema's objects.
  package func operation(making object: SchemaObject) -> WrittenOperation {
    hasTextForColumn(object) ? WrittenOperation(sql: object.sql ?? "") : object.operation
  }

  /// Whether an index names, in quotes, a column that its table does not have. SQLite reads such a name as a
  /// text, which no operation can express.
  private func hasTextForColumn(_ object: SchemaObject) -> Bool {
    guard case .createIndex(let index)? = try? parseCreate(object.tokens),
      let table = table(index.table.text)?.createTable
    else { return false }
    return index.terms.contains { term in
      term.column.map { table.column(named: $0.text) == nil } ?? false
    }
  }
}

extension SchemaObject {
  /// The operation that creates the object.
  package var operation: WrittenOperation {
    let sql = sql ?? ""
    if let written = writtenForm, written.makes(self) { return written }
    return WrittenOperation(sql: sql)
  }

  private var writtenForm: WrittenOperation? {
    let (sql, tokens) = (sql ?? "", tokens)
    switch try? parseCreate(tokens) {
    case .createTable(let table): return table.operation("create_table", "name", tokens)
    case .createIndex(let index): return index.operation(tokens)
    case .createView(let view): return whole("create_view", view.name.text, sql)
    case .createTrigger(let trigger): return whole("create_trigger", trigger.name.text, sql)
    case .createVirtualTable(let table): return table.operation(tokens)
    case nil: return nil
    }
  }

  private func whole(_ operation: String, _ name: String, _ sql: String) -> WrittenOperation {
    WrittenOperation(
      before: ["- \(operation):", "    name: \(yamlScalar(name))"], block: "    sql: ", sql,
      indentation: 6)
  }
}

extension WrittenOperation {
  /// Whether the operation, decoded and planned like any other, creates exactly this object.
  fileprivate func makes(_ object: SchemaObject) -> Bool {
    guard
      let manifest = try? decodeManifest(Array(manifestText([self]).utf8), file: ""),
      manifest.operations.count == 1, let sql = manifest.operations[0].creation
    else { return false }
    let made = SchemaObject(
      kind: object.kind, name: object.name, table: object.table, sql: sql)
    return compareSchemas(
      expected: Schema(objects: [object]), actual: Schema(objects: [made])
    ).isEmpty
  }
}

extension Operation {
  /// The CREATE statement that the operation becomes.
  fileprivate var creation: String? {
    switch kind {
    case .createTable(let table): table.sql
    case .createIndex(let index): index.sql
    case .createView(_, let source), .createTrigger(_, let source): source.text
    case .createVirtualTable(let name, let module, let arguments):
      virtualTableSQL(name, module, arguments)
    default: nil
    }
  }
}

// MARK: Tables

extension CreateTable {
  /// The table as `rebuild_table`; nil if its keys cannot express the table.
  package func rebuild(_ tokens: TokenizedSQL) -> WrittenOperation? {
    operation("rebuild_table", "table", tokens)
  }

  /// The table as `create_table` or as `rebuild_table`, which has another key for the table's name.
  fileprivate func operation(_ name: String, _ nameKey: String, _ tokens: TokenizedSQL)
    -> WrittenOperation?
  {
    guard !columns.isEmpty else { return nil }
    var lines = ["- \(name):", "    \(nameKey): \(yamlScalar(self.name.text))", "    columns:"]
    lines += columns.map { "      - \($0.mapping(tokens))" }
    var unique: [String] = []
    var checks: [String] = []
    var keys: [String] = []
    for constraint in constraints {
      switch constraint.kind {
      case .primaryKey(let terms, _, _): lines.append("    primary_key: \(list(terms))")
      case .unique(let terms, _): unique.append(list(terms))
      case .check(let check, _): checks.append(yamlQuoted(tokens.text(check.range)))
      case .foreignKey(let columns, let reference):
        let names = flow(columns.map { yamlScalar($0.text) })
        keys.append(flow([("columns", names)] + reference.keys(to: "to")))
      case .nameOnly: return nil
      }
    }
    func section(_ key: String, _ entries: [String]) {
      guard !entries.isEmpty else { return }
      lines.append("    \(key):")
      lines += entries.map { "      - \($0)" }
    }
    section("unique", unique)
    section("checks", checks)
    section("foreign_keys", keys)
    if isStrict { lines.append("    strict: true") }
    if isWithoutRowid { lines.append("    without_rowid: true") }
    return WrittenOperation(lines)
  }

  private func list(_ terms: [IndexedTerm]) -> String {
    flow(terms.map { yamlScalar($0.column?.text ?? "") })
  }
}

extension CreateTable.Column {
  /// The column as the flow mapping of `add_column`.
  package func mapping(_ tokens: TokenizedSQL) -> String {
    flow(keys(tokens))
  }

  /// The column's keys in a manifest. Properties that the keys cannot express are missing; a comparison of
  /// the schemas detects this.
  package func keys(_ tokens: TokenizedSQL) -> [(String, String)] {
    var keys = [("name", yamlScalar(name.text))]
    if let type { keys.append(("type", yamlScalar(type.text))) }
    if let primaryKey {
      keys.append(("primary_key", "true"))
      if primaryKey.isAutoincrement { keys.append(("autoincrement", "true")) }
    }
    for constraint in constraints {
      switch constraint.kind {
      case .notNull(let action?):
        keys.append(("not_null", "{ on_conflict: \(action.word) }"))
      case .notNull(nil): keys.append(("not_null", "true"))
      case .unique: keys.append(("unique", "true"))
      case .check(let check): keys.append(("check", yamlQuoted(tokens.text(check.range))))
      case .default(let value): keys.append(("default", literal(value, tokens)))
      case .collate(let collation): keys.append(("collate", yamlScalar(collation.text)))
      case .references(let reference):
        keys.append(("references", flow(reference.keys(to: "column"))))
      case .generated(let generated):
        let stored = generated.isStored ? ", stored: true" : ""
        keys.append(
          ("generated", "{ as: \(yamlQuoted(tokens.text(generated.expression.range)))\(stored) }"))
      case .primaryKey, .null, .deferral, .nameOnly: break
      }
    }
    return keys
  }

  private func literal(_ expression: Expression, _ tokens: TokenizedSQL) -> String {
    let words = tokens.significant(in: expression.range)
    let text = tokens.text(expression.range)
    if words.count == 1 {
      switch words[0].kind {
      case .string, .quotedIdentifier: return yamlQuoted(Quoting.unquoted(text))
      case .word where text.identifier == "null": return "null"
      // In a DEFAULT, SQLite reads a word that is not a value as a text. In parentheses, it would be a
      // column.
      case .word where !Keywords.isValue(text): return yamlQuoted(text)
      case .integer where Int64(text).map { "\($0)" == text } == true: return text
      case .real where Double(text).map { "\($0)" == text } == true: return text
      case .blob: return "{ blob: \"\(text.dropFirst(2).dropLast())\" }"
      default: break
      }
    }
    if words.count == 2, tokens.text(words[0]) == "-", let number = Int64(tokens.text(words[1])),
      "\(number)" == tokens.text(words[1])
    {
      return "-\(number)"
    }
    return "{ sql: \(yamlQuoted(text)) }"
  }
}

extension CreateTable.Reference {
  /// - Parameter key: the key for the parent's columns: `column` in a column, `to` in a table.
  fileprivate func keys(to key: String) -> [(String, String)] {
    var keys = [("table", yamlScalar(table.text))]
    if !columns.isEmpty {
      let names = columns.map { yamlScalar($0.text) }
      keys.append((key, key == "to" ? flow(names) : names.joined(separator: ", ")))
    }
    if onDelete != .noAction { keys.append(("on_delete", onDelete.word)) }
    if onUpdate != .noAction { keys.append(("on_update", onUpdate.word)) }
    if isDeferred { keys.append(("deferrable", "true")) }
    return keys
  }
}

// MARK: Others

extension CreateIndex {
  fileprivate func operation(_ tokens: TokenizedSQL) -> WrittenOperation {
    let columns = terms.map { term -> String in
      var keys =
        term.column.map { [("column", yamlScalar($0.text))] }
        ?? [("expression", yamlQuoted(tokens.text(term.expression.range)))]
      if term.order == .descending { keys.append(("order", "desc")) }
      if let collation = term.collation { keys.append(("collate", yamlScalar(collation.text))) }
      guard keys.count == 1, let column = term.column else { return flow(keys) }
      return yamlScalar(column.text)
    }
    var lines = [
      "- create_index:", "    name: \(yamlScalar(name.text))",
      "    table: \(yamlScalar(table.text))", "    columns: \(flow(columns))",
    ]
    if isUnique { lines.append("    unique: true") }
    if let condition {
      lines.append("    where: \(yamlQuoted(tokens.text(condition.range)))")
    }
    return WrittenOperation(lines)
  }
}

extension CreateVirtualTable {
  fileprivate func operation(_ tokens: TokenizedSQL) -> WrittenOperation {
    let arguments = flow(arguments.map { yamlQuoted(tokens.text($0)) })
    return WrittenOperation([
      "- create_virtual_table:", "    name: \(yamlScalar(name.text))",
      "    using: \(yamlScalar(module.text))", "    arguments: \(arguments)",
    ])
  }
}
