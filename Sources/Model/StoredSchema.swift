import SchemaSQLText
import SchemaSQLite

/// The schema of a connection's main database, which changes statement by statement. It reads only
/// the rows again that statements may have changed.
package struct StoredSchema: Sendable {
  package var schema: Schema { Schema(objects: rows.objects) }
  private var rows: SchemaRows
  private var version: Int64?

  package init(of connection: Connection) throws(DatabaseError) {
    version = try connection.schemaVersion
    rows = try SchemaRows(of: connection)
  }

  /// - Parameter reach: the invalidation by all statements since the last read.
  /// - Returns: whether the schema has changed.
  package mutating func refresh(
    on connection: Connection, after reach: SchemaInvalidation
  ) throws(DatabaseError) -> Bool {
    // Every change of the schema increases its version, which is cheap to read. Only a manual edit
    // of sqlite_schema, which requires defensive mode to be off, does not.
    let now = try connection.schemaVersion
    let isGuarded = connection.isOn(.defensive)
    guard now != version || !isGuarded else { return false }
    let isNext = isGuarded && !reach.isAnywhere && now == version.map { $0 + reach.count }
    // If reading fails, the stored version must not match.
    version = nil
    let isRead = isNext ? try readAgain(reach, on: connection) : false
    if !isRead { rows = try SchemaRows(of: connection, knowing: schema) }
    version = now
    return true
  }

  /// - Returns: false if the rows do not match the expectation.
  private mutating func readAgain(
    _ reach: SchemaInvalidation, on connection: Connection
  ) throws(DatabaseError) -> Bool {
    for name in reach.tables {
      let key = SchemaDelta.Key(.table, name.identifier)
      guard let index = rows.objects.firstIndex(where: { $0.key == key }) else { continue }
      let row = try SchemaRows(
        of: connection, where: "rowid = ?1", [.integer(rows.rowids[index])])
      guard let object = row.objects.first, object.key == key else { return false }
      rows.objects[index] = object
    }
    guard reach.addsRows || !reach.removed.isEmpty else { return true }
    if reach.addsRows {
      let new = try SchemaRows(
        of: connection, where: "rowid > ?1", [.integer(rows.rowids.last ?? .min)])
      rows.objects += new.objects
      rows.rowids += new.rowids
    }
    for key in reach.removed {
      guard let index = rows.objects.firstIndex(where: { $0.key == key }) else { return false }
      rows.objects.remove(at: index)
      rows.rowids.remove(at: index)
    }
    // After the largest rowid, SQLite inserts new rows at unused rowids.
    let count = try connection.value("SELECT count(*) FROM main.sqlite_schema")
    guard count == .integer(Int64(rows.rowids.count)) else { return false }
    // With auto_vacuum, SQLite moves the last page into the place of a dropped one.
    guard !reach.removed.isEmpty else { return true }
    let pages = rows.objects.reduce(0) { $0 + $1.rootPage }
    return try connection.value("SELECT sum(rootpage) FROM main.sqlite_schema")?.integer ?? 0
      == pages
  }
}

extension Connection {
  fileprivate var schemaVersion: Int64 {
    get throws(DatabaseError) { try value("PRAGMA main.schema_version")?.integer ?? 0 }
  }
}

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

/// The parts of `sqlite_schema` that statements may have changed, judged by their keywords.
package struct SchemaInvalidation: Sendable {
  /// The number of statements. Each increases the schema version, unless it changes nothing.
  private(set) var count: Int64 = 0
  /// The tables whose text may have changed.
  private(set) var tables: [String] = []
  /// The removed indexes, views and triggers.
  private(set) var removed: [SchemaDelta.Key] = []
  /// Whether there may be rows after the last one.
  private(set) var addsRows = false
  /// Whether any row may have changed.
  private(set) var isAnywhere = false

  package init() {}

  package mutating func spread() { isAnywhere = true }

  /// Records a statement. CREATE appends rows, ADD COLUMN changes one text (ALTER TABLE, section 4),
  /// and DROP removes a row, unless it drops a table with all that belongs to it. All other
  /// statements, and modules of virtual tables, may change any row.
  package mutating func note(_ statement: TokenizedSQL) {
    count += 1
    let words = statement.significant.prefix(7).map { statement.text($0) }
    let keywords = words.map(\.identifier) + ["", "", "", "", ""]
    func name(at index: Int) -> String {
      let place = keywords[index + 1] == "." ? index + 2 : index
      return place < words.count ? Quoting.unquoted(words[place]) : ""
    }
    switch keywords[0] {
    case "CREATE" where keywords[1] != "VIRTUAL": addsRows = true
    case "ALTER" where keywords[3] == "ADD" || keywords[3] == "." && keywords[5] == "ADD":
      tables.append(name(at: 2))
    case "DROP":
      guard let kind = SchemaObject.Kind(rawValue: keywords[1].text.lowercased()), kind != .table
      else {
        return spread()
      }
      removed.append(.init(kind, name(at: keywords[2] == "IF" ? 4 : 2).identifier))
    default: spread()
    }
  }
}
