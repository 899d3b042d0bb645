import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaSQLText

extension TextReporter {
  func show(_ entries: [Backups.Entry], _ database: String) {
    list(entries, "backup") { entry in
      let backup = entry.backup
      say(
        "\(backup.path.visible)  \(backup.madeAt)  \(FreeSpace.size(backup.bytes))  "
          + entry.lastMigration.visible + entry.owner.visible)
    }
    mention("Found \(counted(entries.count, "backup")) of \(database.visible).")
  }

  func show(
    _ report: Restore.Report, _ state: Result<StatusReport, Failure>?, _ database: String
  ) {
    switch state {
    case .success(let status)?:
      for entry in status.ledger where entry.state.stops {
        note("\(entry.id): \(entry.state.rawValue). \(entry.detail)")
      }
    case .failure(let failure)?: note(failure.message)
    case nil: break
    }
    mention("Restored \(database.visible) from \(report.backup.visible).")
    let pending = state?.success?.pending ?? []
    mention(
      "Its last migration is \(report.current?.visible ?? "none")"
        + (pending.isEmpty ? "." : "; \(counted(pending.count, "migration")) pending."))
  }
}

extension Backups.Entry {
  /// For lists: an unreadable backup does not end the list.
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
