import SchemaPlanning
import SchemaReplay
import SchemaSQLText

/// The progress of a migration.
public enum MigrationProgress: Sendable, Hashable {
  /// Another connection holds the lock; seconds so far.
  case waiting(seconds: Double)
  /// The database is copied, in bytes.
  case backingUp(done: Int64, of: Int64)
  /// A migration begins: its place in the history, and the number of migrations.
  case started(migration: String, number: Int, of: Int)
  /// A migration is running. Comes at least every 100 ms on a connection that SchemaKit has opened, and
  /// after each statement on one that it was given. `migration` is empty while SchemaKit plans the migrations
  /// on a private database, before the first one begins.
  case working(migration: String)
  /// Rows of a table are copied.
  case copyingRows(table: String, done: Int64, of: Int64)
  /// Migrations are committed, and stay.
  case committed([String])
  /// The end.
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
    case .ran, .working: report(.working(migration: migration))
    case .phase(let progress):
      guard progress.phase == .copy, let all = progress.all else { return }
      report(.copyingRows(table: progress.object, done: progress.done, of: all))
    case .committed(let ids): report(.committed(ids))
    case .created, .note, .began, .willCommit: break
    }
  }
}
