import SchemaManifest
import SchemaSQLText

extension Operation {
  /// What the operation does, for somebody who knows no SQL.
  package var inWords: String {
    switch kind {
    case .createTable(let table):
      return "makes the table \(table.name) with \(listed(table.columns.map(\.name)))"
    case .dropTable(let table): return "removes the table \(table) and all its rows"
    case .renameTable(let table, let to): return "\(table) is called \(to) from now on"
    case .addColumn(let table, let column): return "adds \(column.name) to \(table)"
    case .dropColumn(let table, let column):
      return "removes \(column) from \(table), with all its values"
    case .renameColumn(let table, let from, let to):
      return "\(table).\(from) is called \(to) from now on"
    case .moveColumn(let move): return inWords(move)
    case .alterColumn(let change):
      return "changes the definition of \(change.table).\(change.column)"
    case .rebuildTable(let rebuild):
      return "makes \(rebuild.table.name) anew with another definition"
    case .convertPrimaryKey(let conversion):
      return "gives \(conversion.table) another kind of primary key"
    case .createIndex(let index):
      let rule = index.unique ? ", and no two rows may be alike in it" : ""
      return "makes the index \(index.name), by which \(index.table) is found faster\(rule)"
    case .createView(let name, _): return "makes the view \(name)"
    case .createTrigger(let name, _): return "makes the trigger \(name)"
    case .createVirtualTable(let name, let module, _):
      return "makes the virtual table \(name) of \(module)"
    case .dropIndex(let name): return "removes the index \(name)"
    case .dropView(let name): return "removes the view \(name)"
    case .dropTrigger(let name): return "removes the trigger \(name)"
    case .dropVirtualTable(let name): return "removes the virtual table \(name)"
    case .insert(let table, let rows):
      return "adds \(rows.count == 1 ? "a row" : "\(rows.count) rows") to \(table)"
    case .update(let table, let set, let condition):
      return "writes \(listed(set.map(\.column))) in \(rows(of: table, condition))"
    case .delete(let table, let condition): return "removes \(rows(of: table, condition))"
    case .sql: return "runs the SQL of the manifest"
    case .assert(let assertion): return assertion.message.map { "checks: \($0)" } ?? "checks a fact"
    }
  }

  private func inWords(_ move: MoveColumn) -> String {
    let place = move.keepSource ? "beside it as the last column" : "in its place"
    var text =
      "\(move.table).\(move.from) \(move.keepSource ? "stays, and" : "becomes") \(move.to.name)"
    text += move.keepSource ? " comes \(place)" : ", \(place)"
    guard case .map(let pairs) = move.mapping else {
      return text + "; an expression gives its values"
    }
    let values = pairs.prefix(8).map { pair in
      pair.from == pair.to ? "\(pair.from.sql) stays" : "\(pair.from.sql) becomes \(pair.to.sql)"
    }
    let more = pairs.count > 8 ? " and so on" : ""
    text += ": \(values.joined(separator: ", "))\(more); any other value stops it"
    return text + (move.mirror ? "; from then on triggers keep both columns in step" : "")
  }

  private func rows(of table: String, _ condition: SQLSource?) -> String {
    condition == nil ? "all rows of \(table)" : "the rows of \(table) that meet its condition"
  }
}

private func listed(_ names: [String]) -> String {
  guard let last = names.last, names.count > 1 else { return names.first ?? "nothing" }
  return names.dropLast().joined(separator: ", ") + " and \(last)"
}
