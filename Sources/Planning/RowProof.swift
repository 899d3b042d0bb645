import SQLText
import SQLite
import SchemaModel

/// What a plan promises of a table whose rows it writes: as many rows as before, and in each the
/// values that it does not mean to change.
package struct RowProof: Sendable {
  package let before: TableRows
  /// The same table, with the same columns in the same order, once the plan has run.
  package let after: TableRows
  /// How many columns of the table it says nothing of.
  package let changedColumns: Int
  /// Whether a row is told from others afterwards by what told it from them before.
  package let keepsIdentity: Bool
}

extension RowProof {
  /// All of a table but one column, whose values change, and with them perhaps its name.
  init(of table: ParsedTable, except changed: String? = nil, adding added: String? = nil) {
    let rows = TableRows(of: table, except: changed, beside: added.map { [$0] } ?? [])
    before = rows
    after = rows
    changedColumns = changed == nil ? 0 : 1
    keepsIdentity = true
  }

  /// Columns of a table that is made anew, and keep their names and values.
  ///
  /// - Parameter keepsRowids: false too where one of the two has none.
  init(of old: ParsedTable, as new: ParsedTable, keeping columns: [String], keepsRowids: Bool) {
    before = TableRows(of: old, keeping: columns, keepsRowids: keepsRowids)
    after = TableRows(of: new, keeping: columns, keepsRowids: keepsRowids)
    let kept = Set(columns.map(\.identifier))
    changedColumns = old.parsed.columns.count { column in
      column.generated == nil && !kept.contains(column.name.text.identifier)
    }
    keepsIdentity = keepsRowids
  }
}

/// The rows of a table, as they are looked at to be compared.
package struct TableRows: Sendable {
  package let table: String
  /// Generated columns are left out: they follow from the others.
  package let columns: [String]
  package let isWithoutRowid: Bool
  /// False when columns hide every name of the rowid: then a row is known by all that it holds.
  package let tellsRowsApart: Bool
  /// A name of the rowid, as SQL; nil where there is none, or none that means it.
  package let rowid: String?
  /// What tells one row from another, over a row of `t`.
  private let identity: String

  /// - Throws: when the table's definition cannot be read; virtual tables have none.
  package init(of object: SchemaObject) throws(PlanningError) {
    self.init(of: try ParsedTable(object))
  }

  /// - Parameter added: columns that the table is to have.
  init(of table: ParsedTable, except changed: String? = nil, beside added: [String] = []) {
    self.table = table.name
    isWithoutRowid = table.parsed.isWithoutRowid
    columns = table.parsed.columns.filter { column in
      column.generated == nil && !(changed.map(column.name.isSame(as:)) ?? false)
    }.map(\.name.text)
    rowid = table.rowid(beside: added)
    tellsRowsApart = rowid != nil || isWithoutRowid
    identity =
      rowid.map { "t.\($0)" } ?? rowNumber(of: isWithoutRowid ? table.primaryKey : columns)
  }

  /// - Parameter keepsRowids: otherwise a row is known by all that is kept of it.
  init(of table: ParsedTable, keeping columns: [String], keepsRowids: Bool) {
    self.table = table.name
    self.columns = columns
    isWithoutRowid = table.parsed.isWithoutRowid
    tellsRowsApart = keepsRowids
    rowid = keepsRowids ? table.rowid() : nil
    identity =
      rowid.map { "t.\($0)" } ?? (keepsRowids ? ofRow(table.primaryKey) : rowNumber(of: columns))
  }

  /// Counts the rows in the table itself: a damaged index would give another number.
  package var count: String { "SELECT count(*) FROM main.\(Quoting.quoted(table)) NOT INDEXED" }

  /// Counts the rows, and makes the checksums of the columns, `Checksum.valuesAtOnce` of them in each
  /// column of the result but the first.
  ///
  /// - Parameter key: the index that is the primary key of a table without rowid. No other index is
  ///   read: one that is damaged would tell of rows that are not there.
  package func query(key: String?) -> String {
    let sums = stride(from: 0, to: columns.count, by: Checksum.valuesAtOnce).map { start in
      let values = columns[start..<min(start + Checksum.valuesAtOnce, columns.count)]
      return ", schemactl_checksum(\(identity), \(ofRow(values)))"
    }
    let scan = key.map { "INDEXED BY \(Quoting.quoted($0))" } ?? "NOT INDEXED"
    return "SELECT count(*)\(sums.joined()) FROM main.\(Quoting.quoted(table)) AS t \(scan)"
  }
}

/// Qualified: a quoted name alone that is no column is a text to SQLite.
private func ofRow(_ columns: some Sequence<String>) -> String {
  columns.map { "t.\(Quoting.quoted($0))" }.joined(separator: ", ")
}

/// One number for several values; calls stand in one another where there are more than one takes.
private func rowNumber(of columns: [String]) -> String {
  guard columns.count > Checksum.valuesAtOnce else { return "schemactl_row(\(ofRow(columns)))" }
  let inner = rowNumber(of: Array(columns.dropFirst(Checksum.valuesAtOnce)))
  return "schemactl_row(\(inner), \(ofRow(columns.prefix(Checksum.valuesAtOnce))))"
}
