import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

extension Context {
  /// The failure for SQLite's error about a column of the operation's table. It names the table, the nearest
  /// column and the place of the name. Nil for other errors and operations.
  func columnFailure(_ error: DatabaseError, in schema: Schema, statement: String) -> Failure? {
    // The message can begin with `error in table t after add column: `.
    let parts = error.message.parts(separatedBy: ": ").suffix(2).map(String.init)
    let (table, new): (String, String?) =
      switch operation.kind {
      case .update(let table, _, _), .delete(let table, _): (table, nil)
      case .addColumn(let table, let column): (table, column.name)
      default: ("", nil)
      }
    guard parts.count == 2, let columns = schema.table(table)?.createTable?.columns else {
      return nil
    }
    if parts[0] == "duplicate column name" {
      return failure(
        .migrationFailed, "`\(table)` already has a column `\(parts[1])`", key: "column",
        statement: statement)
    }
    let names = columns.map(\.name.text) + [new].compactMap(\.self)
    // If the table has the column, a trigger may lack one of that name.
    guard parts[0] == "no such column", !names.contains(where: parts[1].isSameName),
      let position = position(ofColumn: parts[1])
    else {
      return nil
    }
    let near = suggestion(for: parts[1], among: names)
    let list = names.map { "`\($0)`" }.abridged(to: 20).joined(separator: ", ")
    return failure(
      .migrationFailed,
      "`\(table)` has no column `\(parts[1])`"
        + (near.map { ": did you mean `\($0)`?" } ?? "; it has \(list)"), position: position,
      statement: statement,
      remedy: near == nil ? "If it is a text, write it in single quotes: `\"'\(parts[1])'\"`" : nil)
  }

  /// The position of a column in the operation's expressions; nil if it belongs to a subquery, which may read
  /// other tables.
  private func position(ofColumn name: String) -> Position? {
    for source in operation.expressions {
      let tokens = TokenizedSQL(source.text)
      let words = tokens.significant.filter { [.word, .quotedIdentifier].contains($0.kind) }
      guard
        let word = words.first(where: {
          Quoting.unquoted(tokens.text($0)).identifier == name.identifier
        })
      else { continue }
      let isQuery = words.contains { tokens.text($0).identifier == "select" }
      return isQuery ? nil : source.position(ofByte: word.range.lowerBound)
    }
    return nil
  }
}
