import SchemaModel
import SchemaSQLText

/// A table's stored text, taken apart.
struct ParsedTable {
  let object: SchemaObject
  let tokens: TokenizedSQL
  let parsed: CreateTable

  var name: String { object.name }

  init(_ object: SchemaObject) throws {
    let tokens = TokenizedSQL(object.sql ?? "")
    switch try? parseCreate(tokens) {
    case .createTable(let parsed)? where !parsed.columns.isEmpty:
      self.object = object
      self.tokens = tokens
      self.parsed = parsed
    case .createVirtualTable?:
      throw PlanningError(
        .manifest, "\(object.name) is a virtual table: its columns cannot be moved", key: "table")
    default:
      throw PlanningError(
        .failed, "the definition of \(object.name) cannot be read: \(object.sql ?? "")",
        key: "table")
    }
  }

  /// The same table with another text.
  init(_ table: ParsedTable, as sql: String) throws {
    try self.init(SchemaObject(kind: .table, name: table.name, table: table.name, sql: sql))
  }

  /// The table's SQL with one part replaced.
  func replacing(_ range: Range<Int>, with text: String) -> String {
    var bytes = tokens.bytes
    bytes.replaceSubrange(range, with: Array(text.utf8))
    return String(decoding: bytes, as: UTF8.self)
  }

  func isInPrimaryKey(_ column: CreateTable.Column) -> Bool {
    primaryKey.contains(where: column.name.isSame)
  }

  /// Whether a column is another name of the rowid (CREATE TABLE, section 5).
  var hasRowidAlias: Bool {
    guard !parsed.isWithoutRowid, primaryKey.count == 1,
      let column = parsed.column(named: primaryKey[0])
    else { return false }
    // Inline, DESC makes it an ordinary column; at table level it does not.
    return column.type?.text.identifier == "integer" && column.primaryKey?.order != .descending
  }

  /// The columns that tell a row from all others where the rowid does not: the one that is another
  /// name of the rowid, or the primary key of a table without one.
  var identity: [String] {
    if !hasRowidAlias, !parsed.isWithoutRowid { return [] }
    return parsed.columns.filter(isInPrimaryKey).map(\.name.text)
  }

  var rowidName: String? { rowidName(beside: []) }

  /// A name of the rowid that no column has taken, nil when all three are taken.
  ///
  /// - Parameter others: columns that the table is to have, and must not be meant by mistake.
  func rowidName(beside others: [String]) -> String? {
    ["rowid", "_rowid_", "oid"].first { name in
      parsed.column(named: name) == nil && !others.contains { $0.isSameName(as: name) }
    }
  }

  /// A name of the rowid, as SQL, be it a column's; nil where there is none, or none that means it.
  func rowid(beside others: [String] = []) -> String? {
    guard !parsed.isWithoutRowid else { return nil }
    return rowidName(beside: others) ?? identity.first.map { Quoting.quoted($0) }
  }

  /// The columns of the primary key, in its order.
  var primaryKey: [String] { parsed.keyColumns }

  var isAutoincrement: Bool {
    parsed.columns.contains { $0.primaryKey?.isAutoincrement ?? false }
      || parsed.constraints.contains { constraint in
        if case .primaryKey(_, let isAutoincrement, _) = constraint.kind {
          isAutoincrement
        } else {
          false
        }
      }
  }
}
