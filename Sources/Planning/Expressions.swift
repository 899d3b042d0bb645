import SchemaManifest
import SchemaSQLText

extension Operation {
  /// The SQL expressions that generated statements hold.
  package var expressions: [SQLSource] {
    switch kind {
    case .createTable(let table):
      table.columns.flatMap(\.expressions) + table.checks
    case .addColumn(_, let column): column.expressions
    case .moveColumn(let move): move.to.expressions + move.mapping.expressions
    case .alterColumn(let change): change.expressions
    case .rebuildTable(let rebuild):
      rebuild.table.columns.flatMap(\.expressions) + rebuild.table.checks
        + rebuild.copy.map(\.expression) + [rebuild.where].compactMap { $0 }
    case .createIndex(let index):
      index.columns.compactMap { column in
        if case .expression(let source) = column.term { source } else { nil }
      } + [index.where].compactMap { $0 }
    case .insert(_, let rows): rows.flatMap { $0.cells.compactMap(\.value.source) }
    case .update(_, let set, let condition):
      set.map(\.expression) + [condition].compactMap { $0 }
    case .delete(_, let condition): [condition].compactMap { $0 }
    default: []
    }
  }
}

extension ColumnDefinition {
  fileprivate var expressions: [SQLSource] {
    [check, self.default?.source, generated?.expression].compactMap { $0 }
  }
}

extension AlterColumn {
  fileprivate var expressions: [SQLSource] {
    var sources: [SQLSource] = []
    if case .set(let check) = check { sources.append(check) }
    if case .set(let value) = self.default, let source = value.source { sources.append(source) }
    if case .set(let generated) = generated { sources.append(generated.expression) }
    return sources
  }
}

extension ValueMapping {
  fileprivate var expressions: [SQLSource] {
    switch self {
    case .using(let source): [source]
    case .map(let entries): entries.flatMap { [$0.from.source, $0.to.source] }.compactMap { $0 }
    }
  }
}

extension CreateTable.Column {
  /// Whether the column was read as what the definition says, and as no more.
  func says(_ definition: ColumnDefinition, in tokens: TokenizedSQL) -> Bool {
    let clauses = [
      definition.primaryKey, definition.notNull != nil, definition.unique,
      definition.check != nil, definition.default != nil, definition.collate != nil,
      definition.references != nil, definition.generated != nil,
    ].count { $0 }
    // White space inside a type is all that may differ.
    let type = definition.type.map { TokenizedSQL($0) }
    return constraints.count == clauses
      && self.type.map { tokens.significant(in: $0.range).map(tokens.text) }
        == type.map { text in text.significant.map(text.text) }
      && type?.tokens.contains { $0.kind == .comment } != true
  }
}
