import SchemaSQLText

/// The kind of work on the rows of a table.
package enum MigrationPhase: String, Sendable, CaseIterable {
  case check, copy, index, update, verify
}

/// The progress of one phase of a migration.
package struct PhaseProgress: Sendable, Equatable {
  package let phase: MigrationPhase
  /// The table, or the index that is built.
  package let object: String
  /// The number of rows that SQLite has read.
  package let done: Int64
  /// The total number of rows. Nil if it does not show how long the phase will take.
  package let all: Int64?
}

/// The events of migrating a database, in order.
package enum MigrateEvent: Sendable {
  case created(database: String)
  /// The database is being copied. Both numbers are in bytes.
  case copying(done: Int64, of: Int64)
  /// Information that is neither a result nor an error.
  case note(String)
  /// Another process holds the lock, or a cluster has no leader. `seconds` is the time waited so far.
  case waiting(seconds: Double, isOnCluster: Bool = false)
  case began
  case started(id: String, number: Int, of: Int)
  case ran(statement: String)
  /// The progress of the work on a table's rows.
  case phase(PhaseProgress)
  case willCommit
  case committed(ids: [String])
}
