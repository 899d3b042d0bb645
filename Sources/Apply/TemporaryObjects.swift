import SchemaHistory
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Upgrade {
  /// On a borrowed connection, a temporary trigger would fire on the rows that a migration writes, or be
  /// dropped with its table, a temporary view would keep a table from being renamed, and a temporary table
  /// would hide one of the database.
  func refuseTemporaryObjects() throws {
    guard connection.isBorrowed else { return }
    let objects = try connection.temporaryObjects()
    guard !objects.isEmpty else { return }
    let known = Set(try project.ledger.rows(in: connection)?.map(\.id.exact) ?? [])
    for step in replay.steps where !known.contains(step.migration.id) {
      for object in objects {
        let tokens = TokenizedSQL(object.sql)
        let isMentioned = tokens.significant.contains {
          [.word, .quotedIdentifier, .string].contains($0.kind)
            && step.touched.contains(Quoting.unquoted(tokens.text($0)).identifier)
        }
        guard isMentioned else { continue }
        throw Failure(
          .usage,
          "the connection has the temporary object \(object.name), which names a table that "
            + "\(step.migration.id) changes. Nothing was changed",
          remedy:
            "Migrate before the connection is prepared with its temporary triggers and views",
          migration: Failure.FailedMigration(id: step.migration.id))
      }
    }
  }
}
