import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// The properties of a compiled statement, as SQLite reports them.
struct CompiledStatement {
  /// The functions that it calls, also in a DEFAULT, a CHECK, an index or a trigger. SQLite reports these to no
  /// authorizer, and lists them with EXPLAIN (The SQLite Bytecode Engine).
  let functions: Set<Identifier>
  /// A trigger that it fires.
  let trigger: String?
  /// Whether it may read the rows of a table again for each row.
  let hasNestedLoops: Bool
  let changesSchema: Bool
  /// The functions that do not always give the same result for the same arguments.
  private let changingFunctions: Set<Identifier>
  /// The authorizer events of the statement itself, without those of its triggers.
  private let events: [AuthorizerEvent]

  init(_ sql: String, on connection: Connection) throws(DatabaseError) {
    var events: [AuthorizerEvent] = []
    connection.setAuthorizer { event in
      events.append(event)
      return .allow
    }
    defer { connection.setAuthorizer(nil) }
    let program = try connection.rows("EXPLAIN " + sql).map { ($0[1].text, $0[5].text) }
    connection.setAuthorizer(nil)
    functions = Set(
      program.filter { $0.0 == "Function" || $0.0 == "PureFunc" }
        .compactMap { $0.1?.split(separator: "(").first.map { Identifier($0) } })
    changesSchema = program.contains { $0.0 == "SetCookie" }
    hasNestedLoops =
      try connection.rows("EXPLAIN QUERY PLAN " + sql).count { row in
        let step = row.last?.text ?? ""
        return step.hasPrefix("SCAN ") || step.hasPrefix("SEARCH ")
      } > 1
    func names(_ query: String) throws(DatabaseError) -> Set<Identifier> {
      Set(try connection.rows(query).compactMap { $0[0].text?.identifier })
    }
    let triggers = try names("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    trigger = events.lazy.compactMap(\.trigger).first { triggers.contains($0.identifier) }
    self.events = events.filter { !($0.trigger.map { triggers.contains($0.identifier) } ?? false) }
    // Bit 11 is SQLITE_DETERMINISTIC.
    changingFunctions = try names("SELECT name FROM pragma_function_list WHERE flags & 0x800 = 0")
  }

  /// The tables that it reads or changes itself or through views.
  func tables(of actions: [AuthorizerAction]) -> Set<Identifier> {
    Set(
      events.filter { actions.contains($0.action) && $0.database == "main" }
        .compactMap { $0.first?.identifier }.filter { !$0.isInternal })
  }

  /// Whether it has the same effect for one range of rowids after the other. A trigger may write other rows of the
  /// table, a changed rowid may move a row into the next range, and each range has its own random numbers.
  func divides(_ statement: DividedStatement) -> Bool {
    trigger == nil && functions.isDisjoint(with: changingFunctions)
      && statement.assigned.isDisjoint(with: ["rowid", "oid", "_rowid_"])
  }
}
