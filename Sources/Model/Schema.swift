import SchemaSQLText
import SchemaSQLite

/// One row of `sqlite_schema`. It is a class because each step of a history copies the whole
/// schema, and the copies share nearly all objects.
package final class SchemaObject: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case table, index, view, trigger
  }

  package let kind: Kind
  package let name: String
  /// The table of an index or a trigger; for tables and views their own name.
  package let table: String
  /// `table` as an identifier.
  package let holder: Identifier
  /// Nil for the indexes that SQLite creates for UNIQUE and PRIMARY KEY.
  package let sql: String?
  /// The first page of the b-tree, which does not change when a table is renamed. 0 for views,
  /// triggers and virtual tables.
  package let rootPage: Int64
  /// Identifies the object within a schema. Stored, because it is used often.
  package let key: SchemaDelta.Key
  package let isVirtualTable: Bool

  package init(kind: Kind, name: String, table: String, sql: String?, rootPage: Int64 = 0) {
    self.kind = kind
    self.name = name
    self.table = table
    self.sql = sql
    self.rootPage = rootPage
    key = SchemaDelta.Key(kind, name.identifier)
    holder = table.identifier
    // SQLite always stores exactly these words, regardless of the statement.
    isVirtualTable = sql?.utf8.starts(with: "CREATE VIRTUAL TABLE".utf8) ?? false
  }

  package static func == (a: SchemaObject, b: SchemaObject) -> Bool {
    a === b || a.rootPage == b.rootPage && a.saysTheSame(as: b)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// The object without its root page, for comparisons between databases.
  package var unplaced: SchemaObject {
    SchemaObject(kind: kind, name: name, table: table, sql: sql)
  }

  /// SQLite's own objects: `sqlite_sequence`, `sqlite_stat1`, automatic indexes.
  package var isInternal: Bool { key.name.isInternal }

  /// The definition as tokens; none without SQL.
  package var tokens: TokenizedSQL { TokenizedSQL(sql ?? "") }

  /// The definition of a table; nil for a virtual table and for other objects.
  package var createTable: CreateTable? {
    guard kind == .table, case .createTable(let table)? = try? parseCreate(tokens) else {
      return nil
    }
    return table
  }

  /// The definition of a trigger; nil for other objects.
  package var createTrigger: CreateTrigger? {
    if case .createTrigger(let trigger)? = try? parseCreate(tokens) { trigger } else { nil }
  }

  /// Whether two objects are equal except for quoting, case, white space and comments.
  package func readsLike(_ other: SchemaObject) -> Bool {
    guard key == other.key, holder == other.holder else { return false }
    if sql == other.sql { return true }
    guard sql != nil, other.sql != nil else { return false }
    return tokens.normalTokens == other.tokens.normalTokens
  }

  /// Compares byte by byte, except for the root page.
  package func saysTheSame(as other: SchemaObject) -> Bool {
    key == other.key && name == other.name && table == other.table && sql == other.sql
  }
}

/// The whole schema of a database, as stored in `sqlite_schema`.
package struct Schema: Sendable, Equatable {
  /// In stored order.
  package var objects: [SchemaObject]

  package init(objects: [SchemaObject] = []) {
    self.objects = objects
  }

  /// Reads the main database's schema.
  ///
  /// - Parameter known: the schema from an earlier read. Unchanged objects are reused, which is
  ///   faster than creating them again.
  package init(
    of connection: Connection, knowing known: Schema = Schema()
  ) throws(DatabaseError) {
    objects = try SchemaRows(of: connection, knowing: known).objects
  }

  /// Reads one table or view of the main database, with its indexes and triggers.
  package init(of connection: Connection, table: String) throws(DatabaseError) {
    objects = try SchemaRows(
      of: connection, where: "tbl_name = ?1 COLLATE NOCASE", [.text(table)]
    ).objects
  }

  /// The schema without SQLite's own objects, and without objects whose name or table is foreign.
  package func ours(except isForeign: (String) -> Bool = { _ in false }) -> Schema {
    Schema(
      objects: objects.filter { object in
        !object.isInternal && !isForeign(object.name) && !isForeign(object.table)
      })
  }

  package func object(_ kind: SchemaObject.Kind, _ name: Identifier) -> SchemaObject? {
    let key = SchemaDelta.Key(kind, name)
    return objects.first { $0.key == key }
  }

  package func object(_ kind: SchemaObject.Kind, _ name: String) -> SchemaObject? {
    object(kind, name.identifier)
  }

  package func table(_ name: Identifier) -> SchemaObject? { object(.table, name) }

  package func table(_ name: String) -> SchemaObject? { object(.table, name) }

  package func objects(_ kind: SchemaObject.Kind, on table: String) -> [SchemaObject] {
    let table = table.identifier
    return objects.filter { $0.kind == kind && $0.holder == table }
  }

  package var tables: [SchemaObject] { objects.filter { $0.kind == .table } }
}

extension Schema {
  /// The schema without shadow tables of virtual tables. Only their modules create and change
  /// those, and each version of SQLite may do so differently.
  package func withoutShadowTables() -> Schema {
    let shadows = Set(tables.flatMap(\.shadowTables).map { SchemaDelta.Key(.table, $0.identifier) })
    guard !shadows.isEmpty else { return self }
    return Schema(
      objects: objects.filter { object in
        object.kind == .view || !shadows.contains(SchemaDelta.Key(.table, object.table.identifier))
      })
  }
}

extension SchemaObject {
  /// The possible names of a virtual table's shadow tables.
  package var shadowTables: [String] {
    guard isVirtualTable, let sql else { return [] }
    return shadowTableNames(ofVirtualTable: sql)
  }
}

/// The possible names of a virtual table's shadow tables.
///
/// - Parameter sql: a `CREATE VIRTUAL TABLE` statement.
package func shadowTableNames(ofVirtualTable sql: String) -> [String] {
  guard case .createVirtualTable(let table)? = try? parseCreate(TokenizedSQL(sql)) else {
    return []
  }
  return (shadowSuffixes[table.module.text.identifier] ?? []).map { "\(table.name.text)_\($0)" }
}

/// The modules of full-text tables.
package let fullTextModules: [Identifier] = ["fts3", "fts4", "fts5"]

/// The suffixes that the `xShadowName` functions of SQLite's own modules accept.
private let shadowSuffixes: [Identifier: [String]] = [
  "fts3": fts3, "fts4": fts3, "fts5": ["config", "content", "data", "docsize", "idx"],
  "rtree": rtree, "rtree_i32": rtree, "geopoly": rtree,
]
private let fts3 = ["content", "docsize", "segdir", "segments", "stat"]
private let rtree = ["node", "parent", "rowid"]

// MARK: Reading

/// The schema of a connection's main database, which is read again after statements. Only the rows that the
/// statements may have changed are read.
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
  /// The tables whose SQL may have changed.
  private(set) var tables: [String] = []
  /// The removed indexes, views and triggers.
  private(set) var removed: [SchemaDelta.Key] = []
  /// Whether there may be rows after the last one.
  private(set) var addsRows = false
  /// Whether any row may have changed.
  private(set) var isAnywhere = false

  package init() {}

  package mutating func spread() { isAnywhere = true }

  /// Records a statement. CREATE appends rows, ADD COLUMN changes the SQL of one table (ALTER TABLE, section
  /// 4), and DROP of an index, a view or a trigger removes one row. All other statements, such as CREATE
  /// VIRTUAL TABLE and DROP TABLE, may change any row.
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
