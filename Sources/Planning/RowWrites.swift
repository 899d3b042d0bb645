import SchemaSQLText
import SchemaSQLite

/// A copy of the rows of a table to another table, by one statement.
package struct RowCopy: Sendable {
  /// The user's table.
  package let table: String
  /// The name of the new table.
  package let target: String
  package let statement: String
  /// The columns whose values are not those of a column of the same name, and their values.
  let computed: [(column: String, value: String)]
  let filter: String?

  /// - Parameters:
  ///   - columns: the filled columns and their values, as SQL over a row of `table`; all quoted.
  ///   - scan: the clause that makes SQLite read the whole table (`Connection.fullScan`).
  ///   - filter: SQL that is true for the copied rows; nil for all rows.
  init(
    of table: String, to target: String, columns: [(name: String, value: String)],
    scan: String, filter: String? = nil
  ) {
    self.table = table
    self.target = target
    self.filter = filter
    computed = columns.filter { $0.name.exact != $0.value.exact }
      .map { (Quoting.unquoted($0.name), $0.value) }
    // With ABORT, no conflict clause of the target replaces a row, skips it or changes a value.
    statement =
      "INSERT OR ABORT INTO main.\(Quoting.quoted(target)) (\(columns.map(\.name).joined(separator: ", "))) "
      + "SELECT \(columns.map(\.value).joined(separator: ", ")) "
      + "FROM main.\(Quoting.quoted(table)) \(scan)" + (filter.map { " WHERE \($0)" } ?? "")
  }
}

extension Connection {
  /// Returns a clause to be put after the table's name in FROM, so that a query reads the table's own b-tree
  /// in its order. An index may be damaged, and would return rows that the table does not have.
  package func fullScan(of table: String) throws(DatabaseError) -> String {
    // NOT INDEXED allows any index of a WITHOUT ROWID table.
    try value(
      """
      SELECT i.name FROM pragma_table_list(?1) AS t, pragma_index_list(?1, 'main') AS i
      WHERE t.schema = 'main' AND t.wr AND i.origin = 'pk'
      """, [.text(table)])?.text.map { "INDEXED BY \(Quoting.quoted($0))" } ?? "NOT INDEXED"
  }
}

/// An UPDATE of one column.
package struct RowUpdate: Sendable {
  package let table: String
  let column: String
  /// The new value, as SQL over the old row.
  let value: String
  /// SQL that is true for the changed rows; nil for all rows.
  let condition: String?

  package var statement: String {
    // With ABORT, no conflict clause of the table removes a row or leaves it unchanged.
    "UPDATE OR ABORT main.\(Quoting.quoted(table)) SET \(Quoting.quoted(column)) = \(value)"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

/// A change of a table's row in `sqlite_schema` (ALTER TABLE, section 8: `PRAGMA writable_schema`).
///
/// SQLite does not check it. A plan with such an edit must prove that the rows agree with the new SQL.
package struct SchemaEdit: Sendable {
  package let table: String
  package let sql: String
  package var change = Change.text

  package init(table: String, sql: String, change: Change = .text) {
    self.table = table
    self.sql = sql
    self.change = change
  }

  package enum Change: Sendable {
    case text
    /// Exchanges the root pages of two tables and of their automatic indexes. The other table contains the
    /// same rows, stored as the new SQL requires.
    case exchange(with: String, automaticIndexes: Int)
    /// Gives another table, with its automatic indexes, the name of a table that was dropped.
    case takeName(from: String, automaticIndexes: Int)
  }

  package var exchangesRows: Bool { if case .exchange = change { true } else { false } }
}

extension SchemaEdit {
  /// An UPDATE of rows of `sqlite_schema`. SQLite reads FROM completely before it writes anything (UPDATE,
  /// section 2.3).
  package var statement: String {
    let name = Quoting.stringLiteral(table)
    let text = Quoting.stringLiteral(sql)
    /// The number that distinguishes the automatic indexes of a table.
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

  /// The number of rows of `sqlite_schema` that the statement changes.
  package var count: Int64 {
    switch change {
    case .text: 1
    case .exchange(_, let automaticIndexes): 2 * (1 + Int64(automaticIndexes))
    case .takeName(_, let automaticIndexes): 1 + Int64(automaticIndexes)
    }
  }

  /// The edit as a script for the `sqlite3` shell.
  package var script: [String] {
    shellSetting("defensive off") + [
      "PRAGMA writable_schema = ON;", statement + ";",
      // This change by SQLite itself increments the schema version, by which other connections notice the
      // edit.
      "CREATE TABLE main.schemactl_notice (a);", "DROP TABLE main.schemactl_notice;",
      "PRAGMA writable_schema = RESET;",
    ]
  }
}

/// Commands that change a setting of the `sqlite3` shell without printing its new value.
package func shellSetting(_ setting: String) -> [String] {
  [".once /dev/null", ".dbconfig \(setting)"]
}

/// The properties of a table that a plan preserves although it writes its rows: the number of rows, and in
/// each row the values of all columns that the plan does not change on purpose.
package struct RowProof: Sendable {
  package let table: String
  /// The columns that keep their values. Generated columns are left out, because they depend on the others.
  package private(set) var columns: [String]
  /// The columns that identify a row before and after the plan, as SQL over a row of `t`. Nil if rows get
  /// other keys.
  private let key: (before: [String], after: [String])?

  /// - Parameters:
  ///   - changed: the column that gets other values, and perhaps another name.
  ///   - added: the column that the table will have in addition.
  init(of table: ParsedTable, except changed: String? = nil, adding added: String? = nil) {
    self.table = table.name
    columns = table.parsed.columns.filter { column in
      column.generated == nil && !(changed.map(column.name.isSame(as:)) ?? false)
    }.map(\.name.text)
    key = table.keyNames(beside: added).map { ($0, $0) }
  }

  /// - Parameters:
  ///   - columns: the columns that keep their names and values.
  ///   - keepsRowids: whether rows keep their rowids; false if either table has none.
  ///   - formerName: the name that one of the old table's columns has before the plan.
  init(
    of old: ParsedTable, as new: ParsedTable, keeping columns: [String], keepsRowids: Bool,
    formerName: String? = nil
  ) {
    table = old.name
    self.columns = columns
    let kept = Set(columns.map(\.identifier))
    let keepsKey =
      old.parsed.isWithoutRowid && new.parsed.isWithoutRowid
      && old.primaryKey.map(\.identifier) == new.primaryKey.map(\.identifier)
      && old.primaryKey.allSatisfy { kept.contains($0.identifier) }
    key =
      if keepsRowids || keepsKey, let before = old.keyNames(beside: formerName),
        let after = new.keyNames()
      {
        (before, after)
      } else {
        nil
      }
  }

  /// The proof in parts, each with at most as many columns as one statement can compare: SQLite limits the
  /// number of columns of a table and of a result (Limits In SQLite, 2).
  package var parts: [RowProof] {
    let size = Rewrite.columnLimit / 4
    return stride(from: 0, to: max(1, columns.count), by: size).map { start in
      var part = self
      part.columns = Array(columns[start..<min(start + size, columns.count)])
      return part
    }
  }

  // MARK: Questions

  /// A query for the number of rows.
  ///
  /// - Parameter scan: the clause that makes SQLite read the whole table (`Connection.fullScan`).
  package func count(_ scan: String) -> String {
    // SQLite evaluates `count(*)` on the smallest index and ignores INDEXED BY.
    "SELECT count(\(scan == "NOT INDEXED" ? "*" : "1")) FROM \(source(scan))"
  }

  /// Statements that copy the rows to a temporary table, for `differs`.
  ///
  /// - Parameter snapshot: an unused name of a temporary table.
  package func keeping(as snapshot: String, _ scan: String) -> [String] {
    let names = keptKey + columns.indices.map { "v\($0)" }
    let values = (key?.before ?? []) + ofRow(columns)
    guard !names.isEmpty else { return [] }
    return [
      // Columns without a type store values unchanged.
      "CREATE TABLE temp.\(snapshot) (\(names.joined(separator: ", ")))",
      "INSERT INTO temp.\(snapshot) SELECT \(values.joined(separator: ", ")) FROM \(source(scan))",
    ]
  }

  /// SQL that is true if a row of the snapshot is missing, or has another value in one of the columns. Rows
  /// without a key are compared as a multiset.
  ///
  /// - Parameter places: the indices of the compared columns; nil compares all of them.
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

/// The columns, qualified with `t`: SQLite reads an unqualified name in quotes that is not a column as a
/// string.
private func ofRow(_ columns: some Sequence<String>) -> [String] {
  columns.map { "t.\(Quoting.quoted($0))" }
}

extension ParsedTable {
  /// The columns that identify a row, as SQL over a row of `t`. Nil if columns hide every name of the rowid.
  ///
  /// - Parameter other: a further column of the table, whose name does not count as free.
  fileprivate func keyNames(beside other: String? = nil) -> [String]? {
    parsed.isWithoutRowid ? ofRow(primaryKey) : rowid(beside: other).map { ["t.\($0)"] }
  }
}
