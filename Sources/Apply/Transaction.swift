import SchemaHistory
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The transaction of a run: begins and rolls back, in any state in which SQLite has left the last one.
final class Transaction {
  private let connection: Connection
  /// Half a migration is in it and could not be taken back: it must not be committed.
  private(set) var isTorn = false

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// - Parameter mode: `IMMEDIATE` or `EXCLUSIVE`.
  func begin(_ mode: String) throws(DatabaseError) {
    // Where there was no memory to end the last one.
    if connection.isInTransaction { try connection.execute("ROLLBACK") }
    isTorn = false
    connection.set(.foreignKeys, to: false)
    try connection.execute("BEGIN \(mode)")
  }

  /// Changes when another connection commits, and never by what this one does.
  var version: Int64? {
    get throws(DatabaseError) { try connection.value("PRAGMA data_version")?.integer }
  }

  var isWAL: Bool {
    get throws(DatabaseError) { try connection.value("PRAGMA journal_mode") == "wal" }
  }

  func rollBackToSavepoint() {
    guard connection.isInTransaction else { return }
    // In WAL mode, once the cache has spilled, SQLite (3.40.1) computes wrong checksums after
    // ROLLBACK TO: a power cut then loses a later commit, completely or in part.
    let isSafe = (try? isWAL) == false || connection.cacheSpills == 0
    let isUndone =
      isSafe
      && (try? connection.execute(
        "ROLLBACK TO schemactl_migration; RELEASE schemactl_migration")) != nil
    guard !isUndone else { return }
    rollBack()
    isTorn = connection.isInTransaction
  }

  func rollBack() {
    // Without memory for it, the next transaction or closing the connection does it.
    connection.rollBack()
    // After a full disk SQLite leaves its journal to the next reader. A read rolls it back now, so that nobody
    // removes the journal to make room, and with it the old content.
    _ = try? connection.value("PRAGMA main.schema_version")
    connection.set(.foreignKeys, to: false)
    connection.set(.trustedSchema, to: false)
  }
}

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
