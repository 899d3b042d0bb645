import SchemaSQLText
import SchemaSQLite

/// Rows of `sqlite_schema` in order.
struct SchemaRows: Sendable {
  var objects: [SchemaObject] = []
  /// The rowids of the objects.
  var rowids: [Int64] = []

  /// Reads rows of the main database.
  ///
  /// - Parameters:
  ///   - condition: selects the rows.
  ///   - known: the schema from an earlier read. Unchanged objects are reused, which is faster than
  ///     creating them again.
  init(
    of connection: Connection, where condition: String = "TRUE", _ values: [Value] = [],
    knowing known: Schema = Schema()
  ) throws(DatabaseError) {
    let statement = try connection.prepare(
      "SELECT type, name, tbl_name, sql, rootpage, rowid FROM main.sqlite_schema "
        + "WHERE \(condition) ORDER BY rowid")
    try statement.bind(values)
    objects.reserveCapacity(known.objects.count + 8)
    rowids.reserveCapacity(known.objects.count + 8)
    var rest = known.objects[...]
    while try statement.step() {
      if let index = try rest.place(of: statement) {
        objects.append(rest[index])
        rest = rest[(index + 1)...]
      } else if let object = try SchemaObject(statement) {
        objects.append(object)
      } else {
        continue
      }
      rowids.append(statement.integer(5))
    }
  }
}

extension ArraySlice<SchemaObject> {
  /// The index of the object in the current row of `sqlite_schema`: usually the first.
  fileprivate func place(of statement: Statement) throws(DatabaseError) -> Int? {
    for index in indices where try self[index].stands(in: statement) { return index }
    return nil
  }
}

extension SchemaObject {
  /// Nil for a row of an unknown kind.
  fileprivate convenience init?(_ statement: Statement) throws(DatabaseError) {
    guard let kind = try statement.text(0).flatMap(Kind.init(rawValue:)) else { return nil }
    self.init(
      kind: kind, name: try statement.text(1) ?? "", table: try statement.text(2) ?? "",
      sql: try statement.text(3), rootPage: statement.integer(4))
  }

  /// Whether the current row of `sqlite_schema` is equal to this object.
  fileprivate func stands(in statement: Statement) throws(DatabaseError) -> Bool {
    // Compare the most frequently changed values first.
    guard statement.integer(4) == rootPage, try statement.holds(sql, in: 3) else { return false }
    guard try statement.holds(name, in: 1), try statement.holds(table, in: 2) else { return false }
    return try statement.holds(kind.rawValue, in: 0)
  }
}
