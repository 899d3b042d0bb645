import SchemaSQLText
import SchemaSQLite

/// The properties of a compiled statement, as SQLite reports them.
struct CompiledStatement {
  /// The functions that the statement calls, including those in a DEFAULT, a CHECK, an index or a trigger.
  /// SQLite does not report these to the authorizer, but EXPLAIN lists them (The SQLite Bytecode Engine).
  let functions: Set<Identifier>
  /// A trigger that the statement fires.
  let trigger: String?
  /// The tables whose rows a loop may read, possibly again for each row of another loop. The names come from
  /// EXPLAIN QUERY PLAN, which uses the aliases of the statement.
  let loops: [Identifier]
  let changesSchema: Bool
  /// The maximum number of indexes that the statement changes. The rows of a WITHOUT ROWID table count as an
  /// index.
  let indexes: Int64
  /// Whether the statement may remove rows.
  let removesRows: Bool
  /// The functions whose result is not always the same for the same arguments.
  private let changingFunctions: Set<Identifier>
  /// The tables that the statement opens for reading. If it copies a whole table, SQLite reports none of its
  /// columns to the authorizer.
  private let opened: Set<Identifier>
  /// The authorizer events of the statement and of the triggers that it fires.
  private let events: [AuthorizerEvent]

  init(_ sql: String, on connection: Connection) throws(DatabaseError) {
    var events: [AuthorizerEvent] = []
    connection.setAuthorizer { event in
      events.append(event)
      return .allow
    }
    defer { connection.setAuthorizer(nil) }
    let instructions = try connection.rows("EXPLAIN " + sql)
    connection.setAuthorizer(nil)
    let program = instructions.map { ($0[1].text, $0[5].text) }
    // P2 is the root page, and P3 is the index of the database.
    let roots = instructions.filter { $0[1] == "OpenRead" && $0[4] == 0 }.compactMap {
      $0[3].integer
    }
    functions = Set(
      program.filter { $0.0 == "Function" || $0.0 == "PureFunc" }
        .compactMap { $0.1?.split(separator: "(").first.map { Identifier($0) } })
    changesSchema = program.contains { $0.0 == "SetCookie" }
    indexes = Int64(
      program.count { opcode, detail in
        opcode == "OpenWrite" && detail?.hasPrefix("k(") == true || opcode == "Clear"
          || opcode == "Destroy"
      })
    removesRows = program.contains { $0.0 == "Delete" }
    func names(_ query: String) throws(DatabaseError) -> Set<Identifier> {
      Set(try connection.rows(query).compactMap { $0[0].text?.identifier })
    }
    let triggers = try names("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    trigger = events.lazy.compactMap(\.trigger).first { triggers.contains($0.identifier) }
    opened = try names(
      "SELECT tbl_name FROM sqlite_schema WHERE rootpage IN (\(roots.map(\.description).joined(separator: ", ")))"
    )
    loops = try Self.loops(sql, on: connection)
    self.events = events
    // The bit 0x800 is SQLITE_DETERMINISTIC.
    changingFunctions = try names("SELECT name FROM pragma_function_list WHERE flags & 0x800 = 0")
  }

  private static func loops(
    _ sql: String, on connection: Connection
  ) throws(DatabaseError) -> [Identifier] {
    connection.set(.explainsTriggers, to: true)
    defer { connection.set(.explainsTriggers, to: false) }
    let plan = try connection.rows("EXPLAIN QUERY PLAN " + sql)
    var loops: [Identifier] = []
    for words in plan.compactMap({ $0.last?.text?.split(separator: " ") }) {
      guard words.count > 1, ["SCAN", "SEARCH"].contains(words[0]), !words.contains("CONSTANT"),
        words.last != "(rowid=?)", try !findsOneRow(words, on: connection)
      else { continue }
      let name = Identifier(words[1])
      guard !name.isInternal else { continue }
      loops.append(name)
    }
    return loops
  }

  /// Whether a step of a plan finds at most one row in a unique index.
  private static func findsOneRow(
    _ words: [Substring], on connection: Connection
  ) throws(DatabaseError) -> Bool {
    guard words[0] == "SEARCH", let index = words.firstIndex(of: "INDEX"),
      words.indices.contains(index + 1)
    else { return false }
    let columns =
      try connection.rows(
        "SELECT count(*) FROM sqlite_schema AS s JOIN pragma_index_list(s.tbl_name) AS l "
          + "JOIN pragma_index_info(s.name) WHERE s.name = ?1 AND l.name = s.name AND l.\"unique\"",
        [.text(String(words[index + 1]))]
      ).first?[0].integer ?? 0
    return columns > 0
      && words[(index + 2)...].count { $0.hasSuffix("=?") || $0.hasSuffix("=?)") } >= columns
  }

  /// Returns the tables that the statement reads or changes, directly or through views and triggers.
  func tables(of actions: [AuthorizerAction]) -> Set<Identifier> {
    Set(
      events.filter { actions.contains($0.action) && $0.database == "main" }
        .compactMap { $0.first?.identifier }
    ).union(actions.contains(.read) ? opened : []).filter { !$0.isInternal }
  }

  /// Returns the form of the statement for a large table; nil if it must run as one statement.
  ///
  /// The statement must have the same effect if it runs for one range of rowids after the other. A trigger
  /// could write other rows of the table. A changed rowid could move a row into the next range. Each range
  /// would have its own random numbers.
  ///
  /// - Parameter connection: a private database with the schema in which the statement runs.
  func ranged(
    _ sql: String, on connection: Connection
  ) throws(DatabaseError) -> RangedStatement? {
    guard let divided = DividedStatement(sql), trigger == nil,
      functions.isDisjoint(with: changingFunctions),
      divided.assigned.isDisjoint(with: ["rowid", "oid", "_rowid_"])
    else { return nil }
    let columns = try connection.rows(
      "SELECT c.name, c.type, c.pk FROM pragma_table_list AS l JOIN pragma_table_xinfo(l.name) AS c "
        + "WHERE l.schema = 'main' AND l.type = 'table' AND NOT l.wr AND l.name = ?1 COLLATE NOCASE",
      [.text(divided.table)])
    let names = Set(columns.compactMap { $0[0].text?.identifier })
    let keys = columns.filter { $0[2] != 0 }
    // A single INTEGER key is an alias of the rowid.
    let key = keys.count == 1 && keys[0][1].text?.identifier == "integer" ? keys[0][0].text : nil
    guard !columns.isEmpty, !divided.assigned.contains(key?.identifier ?? "rowid"),
      let rowid = ["rowid", "oid", "_rowid_"].first(where: { !names.contains($0.identifier) })
    else { return nil }
    return RangedStatement(
      table: divided.table, rowid: rowid, sql: divided.ranged(by: rowid))
  }
}

/// A statement that can run for one range of rowids after the other.
struct RangedStatement {
  let table: String
  /// A name of the rowid that no column of the table hides.
  let rowid: String
  /// The statement for the rows from rowid ?1 to rowid ?2.
  let sql: String
}
