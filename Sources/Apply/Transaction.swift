import SchemaCopies
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The transaction of a run. It can begin and roll back in any state in which SQLite left the last
/// transaction.
final class Transaction {
  private let connection: Connection
  /// Whether the transaction contains part of a migration that could not be rolled back. It must not be
  /// committed.
  private(set) var hasPartialMigration = false

  init(_ connection: Connection) {
    self.connection = connection
  }

  /// - Parameter mode: `IMMEDIATE` or `EXCLUSIVE`.
  func begin(_ mode: String) throws(DatabaseError) {
    // The last transaction is still open if memory was too low to end it.
    if connection.isInTransaction { try connection.execute("ROLLBACK") }
    hasPartialMigration = false
    connection.set(.foreignKeys, to: false)
    try connection.execute("BEGIN \(mode)")
  }

  /// The value changes when another connection commits, and never because of this connection.
  var version: Int64? {
    get throws(DatabaseError) { try connection.value("PRAGMA data_version")?.integer }
  }

  var isWAL: Bool {
    get throws(DatabaseError) { try connection.value("PRAGMA journal_mode") == "wal" }
  }

  func rollBackToSavepoint() {
    guard connection.isInTransaction else { return }
    // In WAL mode, after a cache spill, SQLite (3.40.1) computes wrong checksums after ROLLBACK TO: a power
    // failure then loses a later commit, completely or in part.
    let isSafe = (try? isWAL) == false || connection.cacheSpills == 0
    let isUndone =
      isSafe
      && (try? connection.execute(
        "ROLLBACK TO schemactl_migration; RELEASE schemactl_migration")) != nil
    guard !isUndone else { return forgetSchema() }
    rollBack()
    hasPartialMigration = connection.isInTransaction
  }

  /// Makes the connection read the schema again. If a migration has run `PRAGMA writable_schema = RESET`, SQLite
  /// keeps the schema of that moment after a rollback. Its root pages would belong to other tables as soon as
  /// another connection gives the schema the same version.
  private func forgetSchema() {
    _ = try? connection.execute("PRAGMA writable_schema = RESET")
  }

  func rollBack() {
    // If memory is too low for the rollback, the next BEGIN or closing the connection rolls back.
    connection.rollBack()
    forgetSchema()
    // When the disk is full, SQLite leaves its journal to the next reader. This read rolls the journal back
    // now, so that nobody deletes it to free space: it contains the old pages.
    _ = try? connection.value("PRAGMA main.schema_version")
    connection.set(.foreignKeys, to: false)
    connection.set(.trustedSchema, to: false)
  }
}

/// The state of one transaction.
struct Batch {
  /// `PRAGMA data_version` inside the transaction. It changes when another connection commits, and never
  /// because of this connection.
  let version: Int64?
  /// The ids in the ledger.
  var known: [String]
  /// The number of ids in `known` that another tool has run. Their rows are written in this transaction.
  var adopted: Int
  var pending: [Int]
  var isExclusive: Bool
  /// The schema that the history promises at this point.
  var expected: Schema
  var drift: [SchemaChange]
  /// Whether the history contains all SQL that runs implicitly, such as triggers.
  let isTrusted: Bool
  /// The current schema of the database.
  var live: Schema
  var keys: ForeignKeyGraph
  var isAlone = false
  var done: [AppliedMigration] = []

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

  /// Whether the migration writes rows of tables that existed before it.
  func writesRows(in schema: Schema) -> Bool { existing(writeSet.written, in: schema) }

  /// Whether the migration may overwrite pages that were in use before it.
  func reusesPages(in schema: Schema) -> Bool { writesRows(in: schema) || writeSet.dropsIndexes }

  /// Whether the migration needs a transaction of its own.
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
