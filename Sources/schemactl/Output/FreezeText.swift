import SchemaAuthoring
import SchemaHistory
import SchemaSQLText

extension TextReporter {
  func show(_ report: FreezeReport, _ release: String?, _ file: String) {
    switch report.repair {
    case .joined?:
      mention(
        "\(file.visible) now has the lines of both sides: "
          + "\(counted(report.lock.entries.count, "migration")) frozen. Run `schemactl verify`, then "
          + "`git add \(shellQuoted(file).visible)`.")
    case .converted?: mention("Converted \(file.visible) to version 2 of the format: commit it.")
    case nil: break
    }
    if !report.inserted.isEmpty {
      mention(
        "Drafts come before frozen migrations: run `\(rebaseCommand(report.inserted).visible)`.")
    }
    guard !report.frozen.isEmpty else {
      if report.repair != nil { return }
      if report.isChanged {
        return mention(
          "Computed fingerprints in \(file.visible) again, which earlier migrations have changed: "
            + "commit it.")
      }
      let release = release.map { " Release \($0.visible) was not recorded." } ?? ""
      return mention(
        report.isHistoryEmpty
          ? "Nothing to freeze: there are no migrations yet.\(release)"
          : "Nothing to freeze: every migration is frozen already.\(release)")
    }
    for id in report.frozen { mention("Froze \(id.visible).") }
    let name = release.map { " for release \($0.visible)" } ?? ""
    mention(
      "\(counted(report.frozen.count, "migration")) frozen\(name) in \(file.visible): commit it, "
        + "and change these manifests no more.")
  }

  func showAccepted(_ id: String, _ reason: String, _ file: String) {
    mention("Accepted the edit of \(id.visible): \(reason.visible).")
    mention("\(file.visible) records it, and every `schemactl verify` shows it: commit it.")
  }

  func show(_ renamings: [Renaming], _ isRehearsal: Bool) {
    if renamings.isEmpty { return mention("Nothing to rename: they come last already.") }
    for renaming in renamings {
      mention(
        "\(isRehearsal ? "Would rename" : "Renamed") \(renaming.from.visible) to "
          + "\(renaming.to.visible).")
    }
    guard !isRehearsal else { return mention("Nothing was changed.") }
    mention("A database that has run one under its old name does not know the new one.")
  }
}
