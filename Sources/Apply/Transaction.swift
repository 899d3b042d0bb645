import SchemaCopies
import SchemaHistory
import SchemaManifest
import SchemaModel
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

/// What one transaction knows and has done.
struct Batch {
  /// What `PRAGMA data_version` said inside the transaction: it changes when another connection
  /// commits, and never by what this one does.
  let version: Int64?
  /// The ids in the ledger.
  var known: [String]
  /// How many of them another tool has run: their rows are written in this transaction.
  var adopted: Int
  var pending: [Int]
  var isExclusive: Bool
  /// The schema that the history promises here.
  var expected: Schema
  var drift: [SchemaChange]
  /// Whether the history contains all SQL that runs by itself, such as triggers.
  let isTrusted: Bool
  /// The present schema of the database.
  var live: Schema
  var keys: ForeignKeyGraph
  var isAlone = false
  var done: [Done] = []

  struct Done {
    let index: Int
    let applied: AppliedMigration
  }

  var next: Int? { pending.first }

  /// Whether the next migration may share the transaction.
  func mayGoOn(_ replay: PendingReplay, in project: Project) -> Bool {
    guard let next else { return false }
    let step = replay.steps[next]
    guard !DraftCopy.isDue(before: step.migration, known: known, in: project) else {
      return false
    }
    return !step.isAlone(in: expected) && (isExclusive || !step.writesRows(in: expected))
  }
}

extension ScratchDatabase.Step {
  private func existing(_ tables: Set<Identifier>, in schema: Schema) -> Bool {
    tables.contains { schema.table($0) != nil }
  }

  /// Whether the migration writes rows of tables that were there before it.
  func writesRows(in schema: Schema) -> Bool { existing(writeSet.written, in: schema) }

  /// Whether the migration may write over pages that were in use before it.
  func reusesPages(in schema: Schema) -> Bool { writesRows(in: schema) || writeSet.dropsIndexes }

  /// Whether the migration has a transaction of its own.
  func isAlone(in schema: Schema) -> Bool {
    migration.manifest.foreignKeys == .enforced || existing(writeSet.rewritten, in: schema)
      || canEndTransaction(in: schema)
  }

  /// Whether a conflict clause or a RAISE may roll back the whole transaction: in the migration's own SQL,
  /// or in a table that it writes and that table's triggers.
  private func canEndTransaction(in schema: Schema) -> Bool {
    writeSet.namesRollback
      || schema.objects.contains { object in
        [.table, .trigger].contains(object.kind)
          && writeSet.written.contains(object.table.identifier)
          && object.sql.map { TokenizedSQL($0).namesRollback } ?? false
      }
  }
}
