import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

extension Runner {
  /// Whether an UPDATE reads, row by row, values of its own table that it may have changed already.
  ///
  /// SQLite is asked on a scratch database, with a table of its own in the place of the one that is
  /// written: then each mention of the real one is a subquery's or a view's.
  ///
  /// - Parameter events: of the statement.
  func readsItself(
    _ sql: String, _ events: [AuthorizerEvent]
  ) throws(DatabaseError) -> Bool {
    let own = events.filter { $0.trigger == nil && $0.database == "main" && $0.action == .update }
    guard let table = own.first?.first, let substituted = substituting("schemactl_row", in: sql)
    else { return false }
    let written = Set(own.compactMap(\.second?.identifier))
    let schema = try Schema(of: connection)
    guard schema.table(table) != nil else { return false }
    let scratch = try schema.scratch(application)
    do {
      try scratch.execute(
        "CREATE TABLE main.schemactl_row AS SELECT * FROM main.\(Quoting.quoted(table)) WHERE 0")
      var readsWritten = false
      scratch.setAuthorizer { event in
        if event.action == .read, event.first?.identifier == table.identifier,
          written.contains(event.second?.identifier ?? "")
        {
          readsWritten = true
        }
        return .allow
      }
      // A subquery that is not correlated is answered once, before the first row is written.
      let plan = try scratch.rows("EXPLAIN QUERY PLAN " + substituted)
      return readsWritten
        && plan.contains { $0.last?.text?.contains("CORRELATED") ?? false }
    } catch {
      if error.isFault { throw error }
      // A temporary table, for one, is not known there.
      return false
    }
  }
}

/// The UPDATE with another table in the place of the one that it writes; nil for another statement, and
/// for UPDATE … FROM, which reads all rows before it writes one (UPDATE, section 2.3).
private func substituting(_ other: String, in sql: String) -> String? {
  let tokens = TokenizedSQL(sql)
  guard let statement = WritingStatement(tokens), statement.kind == .update,
    !statement.otherClauses.contains("FROM")
  else { return nil }
  let isRenamed = statement.target != statement.nameRange
  let alias = isRenamed ? "" : " AS \(tokens.text(statement.table.name.range))"
  var bytes = tokens.bytes
  bytes.replaceSubrange(statement.nameRange, with: "main.\(other)\(alias)".utf8)
  return String(decoding: bytes, as: UTF8.self)
}
