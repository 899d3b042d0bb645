import SchemaSQLText

/// What a plan promises of a table whose rows it writes: as many rows as before, and in each the same
/// values in all columns that it does not mean to change.
package struct RowProof: Sendable {
  package let table: String
  /// Columns that keep their values. Generated columns are left out: they follow from the others.
  package let columns: [String]
  /// What identifies a row before and after, over a row of `t`; nil where rows get another key.
  private let key: Key?

  private struct Key: Sendable {
    let before: [String]
    let after: [String]
  }

  /// - Parameters:
  ///   - changed: the column that gets other values, and perhaps another name.
  ///   - added: the column that the table will have in addition.
  init(of table: ParsedTable, except changed: String? = nil, adding added: String? = nil) {
    self.table = table.name
    columns = table.parsed.columns.filter { column in
      column.generated == nil && !(changed.map(column.name.isSame(as:)) ?? false)
    }.map(\.name.text)
    let names = table.keyNames(beside: added.map { [$0] } ?? [])
    key = names.map { Key(before: $0, after: $0) }
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
        Key(before: before, after: after)
      } else {
        nil
      }
  }

  private init(_ proof: RowProof, of columns: ArraySlice<String>) {
    table = proof.table
    self.columns = Array(columns)
    key = proof.key
  }

  /// The proof in parts, each for as many columns as one statement can compare: SQLite limits the columns of a
  /// table and of a result (Limits In SQLite, 2).
  package var parts: [RowProof] {
    let size = Rewrite.columnLimit / 4
    return stride(from: 0, to: max(1, columns.count), by: size).map { start in
      RowProof(self, of: columns[start..<min(start + size, columns.count)])
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
    let names = keyColumns + valueColumns
    let values = (key?.before ?? []) + ofRow(columns)
    guard !names.isEmpty else { return [] }
    return [
      // Without types the values stay as they are.
      "CREATE TABLE temp.\(snapshot) (\(names.joined(separator: ", ")))",
      "INSERT INTO temp.\(snapshot) SELECT \(values.joined(separator: ", ")) FROM \(source(scan))",
    ]
  }

  /// True when a row is missing, or holds another value in one of the columns.
  ///
  /// - Parameter column: nil asks for all of them.
  package func differs(from snapshot: String, in column: String? = nil, _ scan: String) -> String {
    let places = column.flatMap { column in columns.firstIndex(of: column) }.map { [$0] }
    let chosen = places ?? Array(columns.indices)
    let before = chosen.map { "b.v\($0)" }
    let after = chosen.map { ofRow([columns[$0]])[0] }
    guard let key else {
      guard !chosen.isEmpty else { return "0" }
      // Rows without a key are compared as a multiset.
      let kept = before.map { "quote(\($0))" }.joined(separator: ", ")
      let found = after.map { "quote(\($0))" }.joined(separator: ", ")
      return "EXISTS (SELECT \(kept), count(*) FROM temp.\(snapshot) AS b GROUP BY \(kept) "
        + "EXCEPT SELECT \(found), count(*) FROM \(source(scan)) GROUP BY \(found))"
    }
    let isSameRow = zip(key.after, keyColumns).map { "\($0) = b.\($1)" }.joined(separator: " AND ")
    func differ(_ form: (String) -> String) -> String {
      "(\(before.map(form).joined(separator: ", "))) IS NOT (\(after.map(form).joined(separator: ", ")))"
    }
    let changed = chosen.isEmpty ? "0" : "\(differ { $0 }) OR \(differ { "typeof(\($0))" })"
    let isMissing =
      "NOT EXISTS (SELECT 1 FROM \(source(scan)) WHERE \(isSameRow))"
    let isChanged =
      "EXISTS (SELECT 1 FROM \(source(scan)) WHERE \(isSameRow) AND (\(changed)))"
    return "EXISTS (SELECT 1 FROM temp.\(snapshot) AS b WHERE "
      + (column == nil ? "\(isMissing) OR \(isChanged)" : isChanged) + ")"
  }

  private func source(_ scan: String) -> String { "main.\(Quoting.quoted(table)) AS t \(scan)" }

  private var keyColumns: [String] { (key?.before.indices).map { $0.map { "k\($0)" } } ?? [] }

  private var valueColumns: [String] { columns.indices.map { "v\($0)" } }
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
