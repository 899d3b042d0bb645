import SchemaModel
import SchemaSQLText

/// A question about rows, in SQL. The migration stops if the answer is yes.
package struct Question: Sendable {
  /// The table whose rows it reads.
  package let table: String
  package let condition: String
  /// The statement that is true if the answer is no, such as `items.title holds no NULL`.
  package let promise: String
  /// The error message if the answer is yes.
  package let message: String
  /// The values that prevent the operation, if the question is about values.
  package private(set) var scan: Scan?
  /// The rows that prevent the operation, if they can be listed.
  package private(set) var rows: RowQuery?

  /// Asks whether a condition is true.
  init(condition: String, of table: String, promise: String, message: String) {
    self.table = table
    self.condition = condition
    self.promise = promise
    self.message = message
  }

  /// Asks whether these rows exist.
  package init(_ rows: RowQuery, of table: String, promise: String, message: String) {
    self.init(condition: rows.exists, of: table, promise: promise, message: message)
    self.rows = rows
  }

  init(_ scan: Scan) {
    let column = "\(scan.table).\(scan.column)"
    let promise =
      switch scan.problem {
      case .unmapped: "`map` names every value of `\(column)`"
      case .refused(let other, _): "`\(other)` accepts every value of `\(column)`"
      case .changed(let other, _): "every value of `\(column)` stays the same in `\(other)`"
      }
    self.init(
      condition:
        "EXISTS (SELECT 1 FROM main.\(Quoting.quoted(scan.table)) WHERE \(scan.predicate))",
      of: scan.table, promise: promise,
      message: "`\(column)` holds a value that \(scan.problem.clause)")
    self.scan = scan
  }
}

/// Values of a column that prevent an operation.
package struct Scan: Sendable {
  package let table: String
  package let column: String
  /// SQL that is true for rows of `table` that contain such a value.
  package let predicate: String
  package let problem: Problem

  package enum Problem: Sendable {
    /// `map` does not name the values.
    case unmapped
    /// A column of a STRICT table, or a new alias of the rowid, would refuse the values.
    ///
    /// - Parameters:
    ///   - column: the column's name and type.
    ///   - key: the operation's key that requires the column.
    case refused(by: String, key: String)
    /// A column of another type would store them as other values.
    case changed(by: String, key: String)

    /// The operation's key that causes the problem.
    package var key: String {
      switch self {
      case .unmapped: "map"
      case .refused(_, let key), .changed(_, let key): key
      }
    }

    /// The rest of a message after "a value that".
    package var clause: String {
      switch self {
      case .unmapped: "`map` does not name"
      case .refused(let other, _): "`\(other)` does not accept"
      case .changed(let other, _): "`\(other)` would store as another value"
      }
    }
  }
}

/// A SELECT of the rows that prevent a step, for a message.
package struct RowQuery: Sendable, Equatable {
  package let sql: String
  /// SQL that is true if such rows exist.
  let exists: String
  /// The names of the result columns: the key, then the values in question.
  package let columns: [String]
  /// Whether each result row is a value that several rows share.
  package let isGrouped: Bool
  /// A SELECT of rows with a value that SQLite would convert before it stores it. If it returns a row, the
  /// result of `sql` may be wrong.
  package let doubt: String?

  /// - Parameter query: usually contains expressions of a manifest. Their line ends and comments are removed.
  init(
    _ query: String, _ columns: [String], isGrouped: Bool = false, exists: String? = nil,
    doubt: String? = nil
  ) {
    let tokens = TokenizedSQL(query)
    sql = tokens.oneLine(in: 0..<tokens.bytes.count)
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
  ///   - terms: SQL expressions over a row.
  ///   - groups: the same expressions, each with the collation that compares them.
  ///   - key: the columns of `source` that identify a row.
  package init(
    repeating terms: [String], by groups: [String], in source: String, with: String = "",
    where filters: [String], key: [String], doubt: String? = nil
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
      isGrouped: true, doubt: doubt)
  }
}

extension ParsedTable {
  /// Asks whether a condition is true for any row.
  ///
  /// - Parameter columns: the columns that a message shows after the key.
  func question(
    where condition: String, showing columns: [String], promise: String, _ message: String
  ) -> Question {
    Question(
      RowQuery(of: self, showing: columns, where: condition), of: name, promise: promise,
      message: message)
  }

  /// The columns that identify a row to a person: the primary key, or else a name of the rowid.
  var key: [String] { primaryKey.isEmpty ? rowidName().map { [$0] } ?? [] : primaryKey }
}

extension SchemaObject {
  /// Asks whether a condition is true for any row of this table.
  ///
  /// - Parameter columns: the columns that a message shows after the key.
  package func question(
    where condition: String, showing columns: [String], promise: String, message: String
  ) -> Question? {
    (try? ParsedTable(self))?.question(
      where: condition, showing: columns, promise: promise, message)
  }

  /// The columns that identify a row of this table to a person.
  package var rowKey: [String] { (try? ParsedTable(self))?.key ?? [] }

  /// SQL expressions that identify a row of this table: a name of the rowid, or else the primary key.
  package var rowIdentity: [String] {
    guard let table = try? ParsedTable(self) else { return [] }
    return table.rowid().map { [$0] } ?? table.primaryKey.map { Quoting.quoted($0) }
  }

  /// Whether a column of this table is an alias of the rowid.
  package var hasRowidAlias: Bool { (try? ParsedTable(self))?.hasRowidAlias ?? false }
}
