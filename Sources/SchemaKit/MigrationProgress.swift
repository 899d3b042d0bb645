import SchemaReplay
import SchemaSQLText

/// The progress of a migration.
public enum MigrationProgress: Sendable, Hashable {
  /// The run waits for a lock that another connection holds; the time so far.
  case waiting(seconds: Double)
  /// The database is being copied; sizes in bytes.
  case backingUp(done: Int64, of: Int64)
  /// A migration begins: its number in the history, and the number of migrations.
  case started(migration: String, number: Int, of: Int)
  /// A migration is running. This is reported after each statement, before work on the rows of a table
  /// and, on a connection that SchemaKit opened, about every 50 ms while a statement reads rows.
  case working(migration: String)
  /// Rows of a table are being copied.
  case copyingRows(table: String, done: Int64, of: Int64)
  /// Migrations were committed. They remain applied.
  case committed([String])
  /// The run has ended.
  case finished(MigrationReport)
}

/// Converts the engine's events into progress.
final class ProgressReader {
  private let report: ((MigrationProgress) -> Void)?
  private var migration = ""

  init(_ report: ((MigrationProgress) -> Void)?) {
    self.report = report
  }

  func note(_ event: MigrateEvent) {
    guard let report else { return }
    switch event {
    case .waiting(let seconds, _): report(.waiting(seconds: seconds))
    case .copying(let done, let all): report(.backingUp(done: done, of: all))
    case .started(let id, let number, let count):
      migration = id
      report(.started(migration: id, number: number, of: count))
    case .phase(let progress):
      if progress.phase == .copy, let all = progress.all {
        report(.copyingRows(table: progress.object, done: progress.done, of: all))
      } else {
        report(.working(migration: migration))
      }
    case .ran: report(.working(migration: migration))
    case .committed(let ids): report(.committed(ids))
    case .created, .note, .began, .willCommit: break
    }
  }
}
