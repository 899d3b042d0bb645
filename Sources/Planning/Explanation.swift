import SchemaManifest
import SchemaSQLText

extension OperationPlan {
  /// The strategy, what it means for the rows, and why it was taken.
  package var explanation: String {
    switch strategy {
    case .native, .sql, .assertion: why
    default: "\(strategy.rawValue): \(why)"
    }
  }

  /// What the strategy means for the rows, and why no cheaper one does.
  package var why: String {
    let meaning =
      switch strategy {
      case .native: "SQLite's own statement"
      case .update:
        updatesEveryRow
          ? "writes every row in place"
          : writesRows ? "writes only rows whose value changes" : "writes no row"
      case .schemaEdit:
        writesRows ? "writes only rows that are older than the column" : "writes no row"
      case .rewrite:
        copiesRows ? "writes every row once" : "done by the rewrite of a following operation"
      case .sql: "as the manifest specifies"
      case .assertion: "changes nothing"
      }
    return reason.map { "\(meaning), because \($0)" } ?? meaning
  }

  var copiesRows: Bool { steps.contains { if case .copy = $0 { true } else { false } } }

  private var updatesEveryRow: Bool {
    steps.contains { if case .update(let update) = $0 { update.condition == nil } else { false } }
  }

  /// Whether rows of the user's tables are written where they stand.
  var writesRows: Bool {
    steps.contains { if case .rewriting = $0 { true } else { false } }
  }
}

extension Operation {
  /// What the operation does, for somebody who knows no SQL.
  package var inWords: String {
    switch kind {
    case .createTable(let table):
      return "creates table `\(table.name)` with \(counted(table.columns.count, "column"))"
    case .dropTable(let table): return "drops table `\(table)` and its rows"
    case .renameTable(let table, let to): return "renames table `\(table)` to `\(to)`"
    case .addColumn(let table, let column): return "adds column `\(table).\(column.name)`"
    case .dropColumn(let table, let column):
      return "drops column `\(table).\(column)` and its values"
    case .renameColumn(let table, let from, let to):
      return "renames column `\(table).\(from)` to `\(to)`"
    case .moveColumn(let move): return inWords(move)
    case .alterColumn(let change):
      return "changes the declaration of `\(change.table).\(change.column)`"
    case .rebuildTable(let rebuild): return "rebuilds table `\(rebuild.table.name)`"
    case .convertPrimaryKey(let conversion):
      return "converts the primary key of `\(conversion.table)`"
    case .createIndex(let index):
      return "creates \(index.unique ? "unique " : "")index `\(index.name)` on `\(index.table)`"
    case .createView(let name, _): return "creates view `\(name)`"
    case .createTrigger(let name, _): return "creates trigger `\(name)`"
    case .createVirtualTable(let name, let module, _):
      return "creates virtual table `\(name)` with `\(module)`"
    case .dropIndex(let name): return "drops index `\(name)`"
    case .dropView(let name): return "drops view `\(name)`"
    case .dropTrigger(let name): return "drops trigger `\(name)`"
    case .dropVirtualTable(let name): return "drops virtual table `\(name)`"
    case .insert(let table, let rows):
      return "inserts \(counted(rows.count, "row")) into `\(table)`"
    case .update(let table, let set, let condition):
      return "sets \(listed(set.map(\.column), "and")) in \(rows(of: table, condition))"
    case .delete(let table, let condition): return "deletes \(rows(of: table, condition))"
    case .sql: return "runs the SQL of the manifest"
    case .assert(let assertion):
      return assertion.message.map { "asserts: \($0)" } ?? "asserts a condition"
    }
  }

  private func inWords(_ move: MoveColumn) -> String {
    var text =
      move.keepSource
      ? "copies column `\(move.table).\(move.from)` to the new column `\(move.to.name)`"
      : "replaces column `\(move.table).\(move.from)` by `\(move.to.name)`"
    if case .map(let pairs) = move.mapping {
      let values = pairs.prefix(8).map { "\($0.from.sql) as \($0.to.sql)" }
      text += " (\(values.joined(separator: ", "))\(pairs.count > 8 ? " and so on" : ""))"
    }
    return text + (move.mirror ? " and keeps both in step with triggers" : "")
  }

  private func rows(of table: String, _ condition: SQLSource?) -> String {
    condition == nil ? "all rows of `\(table)`" : "some rows of `\(table)`"
  }
}
