import SchemaModel
import SchemaSQLText

/// A SELECT that lists the rows that stop a step, for a message.
package struct RowQuery: Sendable, Equatable {
  package let sql: String
  /// Whether it lists any, as SQL.
  let exists: String
  /// The names of its columns: the key, then the values in question.
  package let columns: [String]
  /// Whether each row of the answer is a value that several rows hold.
  package let isGrouped: Bool
  /// A SELECT that finds a row with a value that SQLite would convert before it stores it, so that `sql` may be wrong.
  package let doubt: String?

  /// - Parameter query: usually with expressions of a manifest. Their line ends and comments are removed.
  init(
    _ query: String, _ columns: [String], isGrouped: Bool = false, exists: String? = nil,
    doubt: String? = nil
  ) {
    let tokens = TokenizedSQL(query)
    var sql = ""
    var end = 0
    for token in tokens.significant {
      sql += (token.range.lowerBound > end ? " " : "") + tokens.text(token)
      end = token.range.upperBound
    }
    self.sql = sql
    self.exists = exists ?? "EXISTS (\(sql))"
    self.columns = columns
    self.isGrouped = isGrouped
    self.doubt = doubt
  }

  /// The rows of `table` for which `condition` is true.
  init(of table: ParsedTable, showing columns: [String], where condition: String) {
    let shown =
      table.key
      + columns.filter { column in
        !table.key.contains { $0.isSameName(as: column) }
      }
    self.init(
      "SELECT \(list(shown)) FROM \(Quoting.identifier(table.name)) WHERE \(condition)", shown,
      exists: "EXISTS (SELECT 1 FROM main.\(Quoting.quoted(table.name)) WHERE \(condition))")
  }

  /// The values that several rows of `source` share.
  ///
  /// - Parameters:
  ///   - terms: SQL over a row.
  ///   - groups: the same with the collation by which they are compared.
  ///   - key: the columns of `source` that identify a row.
  package init(
    repeating terms: [String], by groups: [String], in source: String, with: String = "",
    where filters: [String], key: [String]
  ) {
    let isOther = key.count == 1 && !terms.contains { $0.identifier == list(key).identifier }
    let rows = isOther ? "group_concat(\(list(key)), ', ')" : "count(*)"
    let conditions = filters + terms.map { "\($0) IS NOT NULL" }
    self.init(
      """
      \(with)SELECT \(terms.joined(separator: ", ")), \(rows) FROM \(source) \
      WHERE \(conditions.joined(separator: " AND ")) \
      GROUP BY \(groups.joined(separator: ", ")) HAVING count(*) > 1
      """, terms.map(Quoting.unquoted) + [isOther ? "\(key[0]) of the rows" : "rows"],
      isGrouped: true)
  }
}

extension ParsedTable {
  /// The columns that identify a row to a person: the primary key, or else a name of the rowid.
  var key: [String] { primaryKey.isEmpty ? rowidName.map { [$0] } ?? [] : primaryKey }
}

extension SchemaObject {
  /// The columns that identify a row of this table to a person.
  package var rowKey: [String] { (try? ParsedTable(self))?.key ?? [] }

  /// What tells the rows of this table apart, as SQL: a name of the rowid, else the primary key.
  package var rowIdentity: [String] {
    guard let table = try? ParsedTable(self) else { return [] }
    return table.rowid().map { [$0] } ?? table.primaryKey.map { Quoting.quoted($0) }
  }

  /// Whether a column of this table is another name of the rowid.
  package var hasRowidAlias: Bool { (try? ParsedTable(self))?.hasRowidAlias ?? false }
}

/// Names as SQL.
func list(_ names: [String]) -> String {
  names.map { Quoting.identifier($0) }.joined(separator: ", ")
}
