import SchemaSQLText
import SchemaSQLite

/// The rows of a table, written into another one by one statement.
package struct RowCopy: Sendable {
  /// The user's table.
  package let table: String
  /// The name of the new one.
  package let target: String
  package let statement: String
  /// The columns that are not copied from one of the same name, and their values.
  let computed: [(column: String, value: String)]
  let filter: String?

  /// - Parameters:
  ///   - columns: the columns to fill, and their values over a row of `table`; all quoted.
  ///   - scan: how all rows are read (`Connection.fullScan`).
  ///   - filter: the rows that are copied; nil is all.
  init(
    of table: String, to target: String, columns: [(name: String, value: String)],
    scan: String, filter: String? = nil
  ) {
    self.table = table
    self.target = target
    self.filter = filter
    computed = columns.filter { $0.name.exact != $0.value.exact }
      .map { (Quoting.unquoted($0.name), $0.value) }
    // ABORT: no conflict clause of the target may replace a row, leave it out or change a value.
    statement =
      "INSERT OR ABORT INTO main.\(Quoting.quoted(target)) (\(columns.map(\.name).joined(separator: ", "))) "
      + "SELECT \(columns.map(\.value).joined(separator: ", ")) "
      + "FROM main.\(Quoting.quoted(table)) \(scan)" + (filter.map { " WHERE \($0)" } ?? "")
  }
}

extension Connection {
  /// Makes a query read the table itself, in its own order, after the table's name in FROM. Any other
  /// index may be damaged, and would give rows that the table does not have.
  package func fullScan(of table: String) throws(DatabaseError) -> String {
    // NOT INDEXED allows any index of a table without rowid.
    try value(
      """
      SELECT i.name FROM pragma_table_list(?1) AS t, pragma_index_list(?1, 'main') AS i
      WHERE t.schema = 'main' AND t.wr AND i.origin = 'pk'
      """, [.text(table)])?.text.map { "INDEXED BY \(Quoting.quoted($0))" } ?? "NOT INDEXED"
  }
}

/// Gives one column of a table's rows another value.
package struct RowUpdate: Sendable {
  package let table: String
  let column: String
  /// An expression over a row as it was.
  let value: String
  /// Of the rows that change; nil is all.
  let condition: String?

  package var statement: String {
    // ABORT: no conflict clause of the table may remove a row or leave it as it was.
    "UPDATE OR ABORT main.\(Quoting.quoted(table)) SET \(Quoting.quoted(column)) = \(value)"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

/// Another text for a table, written into `sqlite_schema` (ALTER TABLE, section 8: `PRAGMA
/// writable_schema`).
///
/// SQLite does not check it: a plan that has one has proven that the rows agree with the text.
package struct SchemaEdit: Sendable {
  package let table: String
  package let sql: String
  package var change = Change.text

  package enum Change: Sendable {
    case text
    /// The table and another one, which holds the same rows as the text stores them, exchange their
    /// b-trees and those of their automatic indexes.
    case exchange(with: String, automaticIndexes: Int)
    /// Another table, with its automatic indexes, gets the name of a table that was dropped.
    case takeName(from: String, automaticIndexes: Int)
  }

  package var exchangesRows: Bool { if case .exchange = change { true } else { false } }
}

extension SchemaEdit {
  /// An UPDATE of the rows of `sqlite_schema`. FROM is read as a whole before anything is written
  /// (UPDATE, section 2.3).
  package var statement: String {
    let name = Quoting.stringLiteral(table)
    let text = Quoting.stringLiteral(sql)
    /// What tells automatic indexes of one table apart.
    func number(_ of: String) -> String {
      "CASE type WHEN 'index' THEN substr(name, length('sqlite_autoindex_' || \(of)) + 1) END"
    }
    switch change {
    case .text:
      return "UPDATE main.sqlite_schema SET sql = \(text) WHERE type = 'table' AND name = \(name)"
    case .exchange(let other, _):
      let both =
        "tbl_name IN (\(name), \(Quoting.stringLiteral(other))) "
        + "AND (type = 'table' OR type = 'index' AND sql IS NULL)"
      return "UPDATE main.sqlite_schema SET rootpage = other.page, "
        + "sql = CASE WHEN type = 'table' AND name = \(name) THEN \(text) ELSE sql END "
        + "FROM (SELECT tbl_name AS owner, type AS kind, \(number("tbl_name")) AS number, "
        + "rootpage AS page FROM main.sqlite_schema WHERE \(both)) AS other "
        + "WHERE \(both) AND owner <> tbl_name AND kind = type AND number IS \(number("tbl_name"))"
    case .takeName(let other, _):
      let old = Quoting.stringLiteral(other)
      return "UPDATE main.sqlite_schema SET tbl_name = \(name), name = CASE type "
        + "WHEN 'table' THEN \(name) ELSE 'sqlite_autoindex_' || \(name) || \(number(old)) END, "
        + "sql = CASE type WHEN 'table' THEN \(text) END WHERE tbl_name = \(old)"
    }
  }

  /// How many rows of `sqlite_schema` it changes.
  package var count: Int64 {
    switch change {
    case .text: 1
    case .exchange(_, let automaticIndexes): 2 * (1 + Int64(automaticIndexes))
    case .takeName(_, let automaticIndexes): 1 + Int64(automaticIndexes)
    }
  }

  /// For the `sqlite3` shell.
  package var script: [String] {
    shellSetting("defensive off") + [
      "PRAGMA writable_schema = ON;", statement + ";",
      // A change that SQLite itself makes: other connections notice it by the schema's version.
      "CREATE TABLE main.schemactl_notice (a);", "DROP TABLE main.schemactl_notice;",
      "PRAGMA writable_schema = RESET;",
    ]
  }
}

/// Changes a setting in the `sqlite3` shell, which would print its new value.
package func shellSetting(_ setting: String) -> [String] {
  [".once /dev/null", ".dbconfig \(setting)"]
}

/// What a plan promises of a table whose rows it writes: as many rows as before, and in each the same
/// values in all columns that it does not mean to change.
package struct RowProof: Sendable {
  package let table: String
  /// Columns that keep their values. Generated columns are left out: they follow from the others.
  package private(set) var columns: [String]
  /// What identifies a row before and after, over a row of `t`; nil where rows get another key.
  private let key: (before: [String], after: [String])?

  /// - Parameters:
  ///   - changed: the column that gets other values, and perhaps another name.
  ///   - added: the column that the table will have in addition.
  init(of table: ParsedTable, except changed: String? = nil, adding added: String? = nil) {
    self.table = table.name
    columns = table.parsed.columns.filter { column in
      column.generated == nil && !(changed.map(column.name.isSame(as:)) ?? false)
    }.map(\.name.text)
    key = table.keyNames(beside: added.map { [$0] } ?? []).map { ($0, $0) }
  }

  /// - Parameters:
  ///   - columns: those that keep their names and values.
  ///   - keepsRowids: false too where one of the two tables has none.
  init(of old: ParsedTable, as new: ParsedTable, keeping columns: [String], keepsRowids: Bool) {
    table = old.name
    self.columns = columns
    let kept = Set(columns.map(\.identifier))
    let keepsKey =
      old.parsed.isWithoutRowid && new.parsed.isWithoutRowid
      && old.primaryKey.map(\.identifier) == new.primaryKey.map(\.identifier)
      && old.primaryKey.allSatisfy { kept.contains($0.identifier) }
    key =
      if keepsRowids || keepsKey, let before = old.keyNames(), let after = new.keyNames() {
        (before, after)
      } else {
        nil
      }
  }

  /// The proof in parts, each for as many columns as one statement can compare: SQLite limits the columns of a
  /// table and of a result (Limits In SQLite, 2).
  package var parts: [RowProof] {
    let size = Rewrite.columnLimit / 4
    return stride(from: 0, to: max(1, columns.count), by: size).map { start in
      var part = self
      part.columns = Array(columns[start..<min(start + size, columns.count)])
      return part
    }
  }

  // MARK: Questions

  /// - Parameter scan: how all rows are read (`Connection.fullScan`).
  package func count(_ scan: String) -> String {
    // SQLite counts `*` in the smallest index and ignores INDEXED BY.
    "SELECT count(\(scan == "NOT INDEXED" ? "*" : "1")) FROM \(source(scan))"
  }

  /// Keeps the rows as they are for `differs`.
  ///
  /// - Parameter snapshot: a free name among the temporary tables.
  package func keeping(as snapshot: String, _ scan: String) -> [String] {
    let names = keptKey + columns.indices.map { "v\($0)" }
    let values = (key?.before ?? []) + ofRow(columns)
    guard !names.isEmpty else { return [] }
    return [
      // Without types the values stay as they are.
      "CREATE TABLE temp.\(snapshot) (\(names.joined(separator: ", ")))",
      "INSERT INTO temp.\(snapshot) SELECT \(values.joined(separator: ", ")) FROM \(source(scan))",
    ]
  }

  /// True when a row is missing, or holds another value in one of the columns. Rows without a key are compared
  /// as a multiset.
  ///
  /// - Parameter places: of the columns that are compared; nil compares all of them.
  package func differs(from snapshot: String, in places: [Int]? = nil, _ scan: String) -> String {
    let places = places ?? Array(columns.indices)
    func rows(_ terms: [String], in source: String) -> String {
      let values = terms.flatMap { ["\($0) COLLATE BINARY", "typeof(\($0))"] }
      let list = values.joined(separator: ", ")
      return key == nil
        ? "SELECT \(list), count(*) FROM \(source) GROUP BY \(list)"
        : "SELECT \(list) FROM \(source)"
    }
    let before = keptKey + places.map { "v\($0)" }
    guard !before.isEmpty else { return "0" }
    let after = (key?.after ?? []) + ofRow(places.map { columns[$0] })
    return
      "EXISTS (\(rows(before, in: "temp.\(snapshot)")) EXCEPT \(rows(after, in: source(scan))))"
  }

  private func source(_ scan: String) -> String { "main.\(Quoting.quoted(table)) AS t \(scan)" }

  private var keptKey: [String] { (key?.before.indices).map { $0.map { "k\($0)" } } ?? [] }
}

/// Qualified: SQLite reads a quoted name alone that is not a column as a string.
private func ofRow(_ columns: some Sequence<String>) -> [String] {
  columns.map { "t.\(Quoting.quoted($0))" }
}

extension ParsedTable {
  /// What identifies a row, over a row of `t`; nil where columns hide every name of the rowid.
  ///
  /// - Parameter others: columns that the table will have, and must not be meant by mistake.
  fileprivate func keyNames(beside others: [String] = []) -> [String]? {
    parsed.isWithoutRowid ? ofRow(primaryKey) : rowid(beside: others).map { ["t.\($0)"] }
  }
}
