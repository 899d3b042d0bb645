import SchemaSQLText

/// What a migration is doing to the rows of a table.
package enum MigrationPhase: String, Sendable, CaseIterable {
  case check, copy, index, update, verify
}

/// How far one phase of a migration is.
package struct PhaseProgress: Sendable, Equatable {
  package let phase: MigrationPhase
  /// The table, or the index that is built.
  package let object: String
  /// Rows that SQLite has read so far.
  package let done: Int64
  /// The rows in all; nil when their number does not tell how long the rest takes.
  package let all: Int64?
}

/// What happens while a database is migrated, in order.
package enum MigrateEvent: Sendable {
  case created(database: String)
  /// The database is copied; bytes so far, and in all.
  case copying(done: Int64, of: Int64)
  /// Something to know that is neither a result nor wrong.
  case note(String)
  /// Another process holds the lock, or a cluster has no leader; seconds waited so far.
  case waiting(seconds: Double, isOnCluster: Bool = false)
  case began
  case started(id: String, number: Int, of: Int)
  case ran(statement: String)
  /// How far the work on a table's rows is.
  case phase(PhaseProgress)
  /// A statement runs.
  case working
  case willCommit
  case committed(ids: [String])
}

extension MigrateEvent {
  package var isWorking: Bool {
    if case .working = self { true } else { false }
  }
}
