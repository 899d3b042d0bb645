import SchemaManifest
import SchemaModel
import SchemaSQLText

extension Operation {
  /// The table or the column that the operation names and the schema lacks; nil if it has both. A
  /// statement of the operation then fails, and SQLite quotes the name as the statement does.
  package func missingName(in schema: Schema) -> PlanningError? {
    let (table, columns, key): (String, [String], String) =
      switch kind {
      case .dropTable(let table), .renameTable(let table, _), .addColumn(let table, _),
        .delete(let table, _):
        (table, [], "table")
      case .dropColumn(let table, let column): (table, [column], "column")
      case .renameColumn(let table, let from, _): (table, [from], "from")
      case .update(let table, let set, _): (table, set.map(\.column), "set")
      case .insert(let table, let rows): (table, rows.flatMap(\.cells).map(\.column), "rows")
      case .createIndex(let index): (index.table, [], "table")
      default: ("", [], "")
      }
    guard !key.isEmpty else { return nil }
    guard let object = schema.table(table) else {
      return schema.object(.view, table) == nil ? schema.lack(of: table) : nil
    }
    guard let parsed = try? ParsedTable(object).parsed else { return nil }
    let missing = columns.first { name in
      parsed.column(named: name) == nil && !["rowid", "oid", "_rowid_"].contains(name.identifier)
    }
    return missing.map { name in
      PlanningError(
        .failed,
        "`\(object.name)` has no column `\(name)`"
          + didYouMean(name, among: parsed.columns.map(\.name.text)), key: key)
    }
  }
}

extension Schema {
  /// The error of an operation that names a missing table.
  func lack(of table: String) -> PlanningError {
    let names = tables.filter { !$0.isInternal }.map(\.name)
    return PlanningError(
      .failed, "table `\(table)` does not exist" + didYouMean(table, among: names), key: "table")
  }
}
