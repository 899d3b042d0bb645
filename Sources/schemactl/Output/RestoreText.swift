import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaSQLText

extension TextReporter {
  func show(_ entries: [Backups.Entry], _ database: String) {
    if entries.isEmpty { mention("There is no backup of \(database.visible) there.") }
    for entry in entries {
      let backup = entry.backup
      say(
        "\(backup.path.visible)  \(backup.madeAt)  \(FreeSpace.size(backup.bytes))  "
          + entry.lastMigration.visible + entry.owner.visible)
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

extension Backups.Entry {
  /// Of a list: what cannot be read does not end it.
  fileprivate var lastMigration: String {
    switch ledger {
    case .success(let rows): rows.last?.id ?? "no migration"
    case .failure(let failure): "cannot be read: \(failure.message)"
    }
  }

  fileprivate var owner: String {
    switch isOwn {
    case true?: ""
    case false?: "  of another database"
    case nil: rows?.first.map { "  first run at \($0.startedAt)" } ?? ""
    }
  }
}
