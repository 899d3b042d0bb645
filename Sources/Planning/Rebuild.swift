import SQLText
import SchemaModel

/// A table made anew with another text, in the way that renames nothing: copy to a temporary table,
/// drop, create, copy back.
///
/// Views, triggers of other tables and foreign keys that mention the table never see another name;
/// its own triggers and indexes are created again from their stored text. Foreign keys must be off.
struct Rebuild {
  private let table: ParsedTable
  private let schema: Schema

  private static let copy = "temp.schemactl_copy"
  private static let sequence = "temp.schemactl_sequence"

  init(_ table: ParsedTable, in schema: Schema) {
    self.table = table
    self.schema = schema
  }

  /// - Parameters:
  ///   - final: the CREATE TABLE that the table shall have.
  ///   - beforeDrop: statements that run once the rows are copied.
  ///   - added: columns that the old table has not, with their value over the old row.
  ///   - column: for a column of the old table its new name and its value over the old row.
  func steps(
    final: String, beforeDrop: [String] = [],
    adding added: [(name: String, value: String)] = [],
    column: (String) -> (name: String, value: String)
  ) throws(PlanningError) -> [Step] {
    var copied = table.parsed.columns.filter { $0.generated == nil }.map { column($0.name.text) }
    copied += added
    if !table.parsed.isWithoutRowid, !table.hasRowidAlias {
      guard let rowid = table.rowidName else {
        throw PlanningError(
          .failed, "\(table.name) cannot be rebuilt: its columns hide every name of the rowid")
      }
      copied.insert((rowid, rowid), at: 0)
    }
    let name = "main.\(Quoting.quoted(table.name))"
    // Without types the values stay as they are; with names of our own none can collide.
    let places = copied.indices.map { "c\($0)" }.joined(separator: ", ")
    let names = copied.map { isRowid($0.name) ? $0.name : Quoting.quoted($0.name) }
    var sql = [
      "CREATE TABLE \(Self.copy) (\(places))",
      "INSERT INTO \(Self.copy) SELECT \(copied.map(\.value).joined(separator: ", ")) FROM \(name)",
    ]
    sql += saved + beforeDrop
    sql += [
      "DROP TABLE \(name)",
      final,
      // ABORT: no conflict clause of the table may replace or leave out a row.
      "INSERT OR ABORT INTO \(name) (\(names.joined(separator: ", "))) "
        + "SELECT \(places) FROM \(Self.copy) ORDER BY rowid",
    ]
    sql += restored
    sql += schema.objects(.index, on: table.name).compactMap(\.sql)
    sql += schema.objects(.trigger, on: table.name).compactMap(\.sql)
    sql.append("DROP TABLE \(Self.copy)")
    return [.triggers(false)] + sql.map { .statement($0, nil) } + [.triggers(true)]
  }

  private func isRowid(_ name: String) -> Bool {
    name == table.rowidName && table.parsed.column(named: name) == nil
  }

  // MARK: What a DROP TABLE takes along

  private var statistics: [String] {
    ["sqlite_stat1", "sqlite_stat4"].filter { schema.table($0) != nil }
  }

  private var saved: [String] {
    var sql = statistics.map {
      "CREATE TABLE temp.schemactl_\($0) AS SELECT * FROM main.\($0) WHERE tbl = \(tableText)"
    }
    if table.isAutoincrement {
      sql.append(
        "CREATE TABLE \(Self.sequence) AS SELECT seq FROM main.sqlite_sequence "
          + "WHERE name = \(tableText)")
    }
    return sql
  }

  private var restored: [String] {
    var sql = statistics.flatMap { name in
      [
        "INSERT INTO main.\(name) SELECT * FROM temp.schemactl_\(name)",
        "DROP TABLE temp.schemactl_\(name)",
      ]
    }
    if table.isAutoincrement {
      sql += [
        "DELETE FROM main.sqlite_sequence WHERE name = \(tableText)",
        "INSERT INTO main.sqlite_sequence (name, seq) SELECT \(tableText), seq FROM \(Self.sequence)",
        "DROP TABLE \(Self.sequence)",
      ]
    }
    return sql
  }

  private var tableText: String { Quoting.stringLiteral(table.name) }
}
