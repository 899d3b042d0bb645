import SQLText

/// The rows of one table written into another: in one statement, or in chunks that follow the order
/// of a key, so that how far it is can be told and an interrupt finds a place.
package struct RowCopy: Sendable, Hashable {
  package enum Direction: Sendable {
    /// Out of the user's table.
    case out
    /// Into the table made anew.
    case back
  }

  /// The user's table.
  package let table: String
  package let direction: Direction
  /// The INSERT, up to its SELECT.
  private let insert: String
  private let values: String
  private let source: String
  private let filter: String?
  private let key: Key?

  /// - Parameters:
  ///   - source: with its database, as `target`.
  ///   - columns: what is filled, and its value over a row of `source`; all quoted.
  ///   - filter: which rows; nil is all.
  ///   - key: of `source`; nil copies all rows at once.
  init(
    of table: String, _ direction: Direction, from source: String, to target: String,
    columns: [(name: String, value: String)], filter: String? = nil, key: Key?
  ) {
    self.table = table
    self.direction = direction
    // ABORT: no conflict clause of the target may replace or leave out a row.
    insert = "INSERT OR ABORT INTO \(target) (\(columns.map(\.name).joined(separator: ", ")))"
    values = columns.map(\.value).joined(separator: ", ")
    self.source = source
    self.filter = filter
    self.key = key
  }

  /// The columns by which the rows of a table are ordered in its b-tree.
  struct Key: Sendable, Hashable {
    let columns: [String]
    let isDescending: Bool
    /// As ORDER BY takes them. Read in this order, the rows come from the table itself and not from an
    /// index, which may be damaged.
    let terms: [String]
    /// Whether a comparison of all columns follows that order.
    let isComparable: Bool
  }

  /// Whether `chunk` and `bound` can be asked for.
  package var hasKey: Bool { key?.isComparable ?? false }

  /// The whole of it.
  package var statement: String { statement(where: filter.map { [$0] } ?? []) }

  /// How many rows are read.
  package var count: String { "SELECT count(*) FROM \(source)" }

  /// The rows past one key, up to and with another; the keys' values are its parameters, in this
  /// order.
  ///
  /// - Parameters:
  ///   - isFirst: no row has been copied.
  ///   - isLast: nothing bounds it at its end.
  package func chunk(isFirst: Bool, isLast: Bool) -> String {
    guard let key, key.isComparable else { return statement }
    let conditions =
      (isFirst ? [] : [key.past(parametersFrom: 1)])
      + (isLast ? [] : [key.upTo(parametersFrom: isFirst ? 1 : key.columns.count + 1)])
    return statement(where: conditions + (filter.map { [$0] } ?? []))
  }

  /// The key of the last row of a chunk of that many rows, or no row when fewer are left; the key
  /// that it starts past is its parameters.
  package func bound(isFirst: Bool, rows: Int) -> String {
    guard let key, key.isComparable else { return "SELECT NULL WHERE 0" }
    let start = isFirst ? "" : " WHERE \(key.past(parametersFrom: 1))"
    return "SELECT \(key.list) FROM \(source) NOT INDEXED\(start) \(key.order) "
      + "LIMIT 1 OFFSET \(rows - 1)"
  }

  private func statement(where conditions: [String]) -> String {
    // A damaged index would give rows that the table does not have.
    ([insert, "SELECT \(values) FROM \(source) NOT INDEXED"]
      + (conditions.isEmpty ? [] : ["WHERE \(conditions.joined(separator: " AND "))"])
      + (key.map { [$0.order] } ?? [])).joined(separator: " ")
  }
}

extension RowCopy.Key {
  init(rowid: String) {
    self.init(columns: [rowid], isDescending: false, terms: [rowid], isComparable: true)
  }

  /// Nil when no name of the rowid is left.
  init?(of table: ParsedTable) {
    guard table.parsed.isWithoutRowid else {
      guard let rowid = table.rowid() else { return nil }
      self.init(rowid: rowid)
      return
    }
    if let column = table.parsed.columns.first(where: { $0.primaryKey != nil }) {
      let name = Quoting.quoted(column.name.text)
      let isDescending = column.primaryKey?.order == .descending
      self.init(
        columns: [name], isDescending: isDescending, terms: [isDescending ? "\(name) DESC" : name],
        isComparable: true)
      return
    }
    let terms = table.parsed.constraints.lazy.compactMap { constraint in
      if case .primaryKey(let terms, _, _) = constraint.kind { terms } else { nil }
    }.first
    guard let terms else { return nil }
    let columns = terms.map { Quoting.quoted($0.column?.text ?? "") }
    let descending = terms.count { $0.order == .descending }
    self.init(
      columns: columns, isDescending: descending > 0,
      terms: zip(columns, terms).map { column, term in
        column + (term.collation.map { " COLLATE \(Quoting.quoted($0.text))" } ?? "")
          + (term.order == .descending ? " DESC" : "")
      },
      isComparable: terms.allSatisfy { $0.collation == nil }
        && (descending == 0 || descending == terms.count))
  }

  var list: String { columns.joined(separator: ", ") }

  var order: String { "ORDER BY " + terms.joined(separator: ", ") }

  func past(parametersFrom first: Int) -> String { compared(isDescending ? "<" : ">", first) }

  func upTo(parametersFrom first: Int) -> String { compared(isDescending ? ">=" : "<=", first) }

  /// Row Values, section 2.1.
  private func compared(_ comparison: String, _ first: Int) -> String {
    let parameters = columns.indices.map { "?\(first + $0)" }.joined(separator: ", ")
    return "(\(list)) \(comparison) (\(parameters))"
  }
}
