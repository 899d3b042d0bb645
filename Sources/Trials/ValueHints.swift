import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Values in the CHECKs and the partial indexes of a table, by column. A small difference from such
/// a value can make a row valid or invalid.
package struct ValueHints: Sendable {
  package private(set) var values: [Identifier: [Value]] = [:]

  /// - Parameter objects: all versions of the table and its indexes.
  package init(_ objects: [SchemaObject]) {
    for object in objects {
      let tokens = TokenizedSQL(object.sql ?? "")
      switch (object.kind, try? parseCreate(tokens)) {
      case (.table, .createTable(let table)?): note(table, tokens)
      case (.index, .createIndex(let index)?):
        if let condition = index.condition { note(condition, tokens, column: nil) }
      default: break
      }
    }
  }

  private mutating func note(_ table: CreateTable, _ tokens: TokenizedSQL) {
    for column in table.columns {
      for check in column.checks { note(check, tokens, column: column.name.text) }
    }
    for case .check(let check, _) in table.constraints.map(\.kind) {
      note(check, tokens, column: nil)
    }
  }

  private mutating func note(_ expression: Expression, _ tokens: TokenizedSQL, column: String?) {
    let literals = tokens.literals(in: expression.range)
    let mentioned = tokens.columnIdentifiers(in: expression.range).map(\.text.identifier)
    for name in Set(mentioned + [column?.identifier].compactMap { $0 }).sorted() {
      note(literals, for: name)
    }
  }

  private mutating func note(_ new: [Value], for column: Identifier) {
    var known = values[column] ?? []
    for value in new where !known.contains(value) { known.append(value) }
    values[column] = known
  }
}

extension ValueHints {
  /// The hints for all tables of a history. Each table has the hints of all its versions.
  package static func all(in deltas: [SchemaDelta]) -> [Identifier: ValueHints] {
    var texts: Set<ExactText> = []
    let objects = deltas.flatMap(\.ordered).filter {
      [.table, .index].contains($0.kind) && texts.insert($0.sql ?? "")
    }
    return Dictionary(grouping: objects) { $0.table.identifier }.mapValues { ValueHints($0) }
  }
}

extension TokenizedSQL {
  /// The numbers and strings in a byte range, in order.
  fileprivate func literals(in range: Range<Int>) -> [Value] {
    let tokens = significant(in: range)
    return tokens.indices.compactMap { literal(tokens, $0) }
  }
}
