import History
import Migrating

extension TextReporter {
  func show(_ backups: [Backups.Backup], _ database: String) {
    if backups.isEmpty { mention("There is no backup of \(database.visible) there.") }
    for backup in backups {
      say(
        "\(backup.path.visible)  \(backup.madeAt)  \(FreeSpace.size(backup.bytes))  "
          + backup.lastMigration.visible)
    }
  }

  func show(
    _ report: Restore.Report, _ state: Result<StatusReport, Failure>?, _ database: String
  ) {
    let database = database.visible
    mention("Restored \(database) from \(report.backup.visible).")
    mention("Its last migration is \(report.current?.visible ?? "none").")
    switch state {
    case .success(let status)?:
      let stops = status.ledger.filter(\.state.stops)
      for entry in stops {
        note("\(entry.id): \(entry.state.rawValue). \(entry.detail)")
      }
      guard !status.pending.isEmpty else { return }
      mention(
        "Pending: \(counted(status.pending.count, "migration")), the next one is "
          + "\(status.pending[0].visible).")
    case .failure(let failure)?: note(failure.message)
    case nil: break
    }
  }
}

extension Backups.Backup {
  /// Of a list: what cannot be read does not end it.
  var lastMigration: String {
    do {
      let rows = try ledger()
      return rows.last?.id ?? "no migration"
    } catch {
      return "cannot be read: \(error.message)"
    }
  }
}
