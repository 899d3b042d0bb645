import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// CHECKs that migrations add. Generated rows must meet them if the migrations fail on other rows.
struct NewChecks {
  /// The tables before the migrations, with the new CHECKs.
  private var tables: [(object: SchemaObject, sql: String)] = []
  /// Each CHECK over columns without an older one, with its table.
  private var checks: [(table: Identifier, check: TableShape.Check)] = []

  private let text: StepText

  var isEmpty: Bool { tables.isEmpty }

  /// - Parameters:
  ///   - changes: the changes of tables by the migrations.
  ///   - schema: the schema before the migrations.
  ///   - text: the text of the migrations.
  init(
    _ changes: [TableChange] = [], in schema: Schema = Schema(), _ text: StepText = StepText([])
  ) {
    self.text = text
    for change in changes {
      guard let before = change.before, let after = change.after,
        !tables.contains(where: { $0.object.name.isSameName(as: before.name) }),
        let object = schema.table(before.key), let table = object.createTable,
        // A later migration may change another table of this name.
        table.columns.map(\.name.text.identifier) == before.columns.map(\.key),
        let end = table.columns.last?.range.upperBound
      else { continue }
      let new = after.checks.filter { check in
        !before.checks.contains(check)
          && check.columns.allSatisfy { before.column($0).map { !$0.isGenerated } ?? false }
      }
      guard !new.isEmpty else { continue }
      let text = new.map { " CHECK (\($0.text))" }.joined()
      tables.append((object, object.tokens.replacing([(end..<end, text)])))
      // Values that the old table limits are valid, even if the migration limits them further.
      let limited = before.checks.reduce(into: Set()) { $0.formUnion($1.columns) }
      checks += new.filter { limited.isDisjoint(with: $0.columns) }.map { (before.key, $0) }
    }
  }

  /// Runs `fill` with the CHECKs in force. If it fails, the connection keeps them.
  func enforce(on connection: Connection, _ fill: () throws(DatabaseError) -> Void)
    throws(DatabaseError)
  {
    try write(tables.map { ($0.object.name, $0.sql) }, to: connection)
    try fill()
    try write(tables.map { ($0.object.name, $0.object.sql ?? "") }, to: connection)
  }

  /// Whether a row violates a CHECK that reads the column. The text may convert a value that it names to one
  /// that the CHECK accepts, so that such values count as valid.
  ///
  /// - Parameters:
  ///   - value: the row's value in the column.
  ///   - address: the condition that selects the row.
  func refuse(
    _ value: Value, in column: String, of table: String, at address: String,
    on connection: Connection
  ) throws(DatabaseError) -> Bool {
    guard !text.names(value) else { return false }
    for (name, check) in checks
    where name == table.identifier && check.columns.contains(column.identifier) {
      let violation = "\(address) AND NOT (\(check.text))"
      let query = "SELECT 1 FROM main.\(Quoting.quoted(table)) WHERE \(violation)"
      if try connection.value(query) != nil { return true }
    }
    return false
  }

  private func write(
    _ texts: [(table: String, sql: String)], to connection: Connection
  ) throws(DatabaseError) {
    guard !texts.isEmpty else { return }
    connection.set(.defensive, to: false)
    try connection.execute("PRAGMA writable_schema = ON")
    for (table, sql) in texts {
      try connection.execute(SchemaEdit(table: table, sql: sql).statement)
    }
    try connection.execute("PRAGMA writable_schema = RESET")
  }
}
