import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

extension Connection {
  /// The problem of a column that a statement has added. ADD COLUMN accepts a default of any type for a
  /// STRICT table (SQLite 3.40.1), and `integrity_check` then reports the existing rows. So the default is
  /// tried on a scratch table, and `integrity_check` decides.
  ///
  /// - Parameter events: of the statement.
  /// - Returns: nil where the default has the column's type, and for every other statement.
  func mistypedDefault(
    addedBy events: [AuthorizerEvent], _ application: Application
  ) throws(DatabaseError) -> String? {
    let isRenaming = events.contains { event in
      event.action == .function && event.second?.hasPrefix("sqlite_rename_") == true
    }
    // The event has a third name when a column is dropped.
    let altered = events.first {
      $0.action == .alterTable && $0.first == "main" && $0.database == nil
    }
    guard !isRenaming, let name = altered?.second else { return nil }
    let tokens = TokenizedSQL(try sql(ofTable: name) ?? "")
    guard case .createTable(let table)? = try? parseCreate(tokens), table.isStrict,
      let column = table.columns.last, let type = column.type,
      let value = column.defaultExpression.map({ tokens.text($0.outerRange) })
    else { return nil }
    let definition = "\(tokens.text(type.range)) DEFAULT \(value)"
    guard try !isOfItsType(definition, application) else { return nil }
    return
      "the default \(value) of \(name).\(column.name.text) is not of the type \(type.text), which the "
      + "STRICT table \(name) requires: existing rows would hold an invalid value. Write a default "
      + "of that type"
  }

  private func isOfItsType(
    _ definition: String, _ application: Application
  ) throws(DatabaseError) -> Bool {
    let scratch = try Connection(path: nil)
    try application.registerStubs(on: scratch)
    try scratch.execute("CREATE TABLE one (a INTEGER) STRICT; INSERT INTO one VALUES (1)")
    do {
      try scratch.execute("ALTER TABLE one ADD COLUMN b \(definition)")
    } catch {
      // No table with rows can have such a default.
      if error.isFault { throw error }
      return true
    }
    return try scratch.value("PRAGMA integrity_check") == "ok"
  }
}
