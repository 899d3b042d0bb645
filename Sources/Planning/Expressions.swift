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

extension Operation {
  /// The types that generated statements hold, without quotes.
  var types: [String] {
    switch kind {
    case .createTable(let table): table.columns.compactMap(\.type)
    case .addColumn(_, let column): [column.type].compactMap { $0 }
    case .moveColumn(let move): [move.to.type].compactMap { $0 }
    case .alterColumn(let change): if case .set(let type) = change.type { [type] } else { [] }
    case .rebuildTable(let rebuild): rebuild.table.columns.compactMap(\.type)
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
