import SchemaAuthoring
import SchemaHistory
import SchemaSQLText

extension TextReporter {
  func show(_ report: FreezeReport, _ release: String?, _ file: String) {
    let lock = file.visible
    switch report.repair {
    case .joined?:
      mention(
        "\(lock) now has the lines of both sides: \(counted(report.lock.entries.count, "migration")) "
          + "frozen. Run `schemactl verify`, then `git add \(shellQuoted(file).visible)`.")
    case .converted?: mention("Converted \(lock) to version 2 of the format. Commit it.")
    case nil: break
    }
    if !report.inserted.isEmpty {
      mention(
        "Drafts come before frozen migrations: run `\(renumberCommand(report.inserted).visible)`.")
    }
    guard report.frozen.isEmpty else {
      list(report.frozen, "migration") { mention("Froze \($0.visible).") }
      let name = release.map { " for release \($0.visible)" } ?? ""
      return mention(
        "\(counted(report.frozen.count, "migration")) frozen\(name). Commit \(lock), and do not change "
          + "these manifests any more.")
    }
    if report.repair != nil { return }
    if report.isChanged {
      return mention(
        "Updated fingerprints in \(lock), because earlier migrations changed. Commit it.")
    }
    let reason = report.isHistoryEmpty ? "the history is empty" : "every migration is frozen"
    let release = release.map { " Release \($0.visible) was not recorded." } ?? ""
    mention("Nothing to freeze: \(reason).\(release)")
  }

  func showAccepted(_ id: String, _ reason: String, _ file: String) {
    mention("Accepted the edit of \(id.visible): \(reason.visible).")
    mention("\(file.visible) records it, and `schemactl verify` reports it. Commit the file.")
  }

  func show(_ renamings: [Renaming], _ isRehearsal: Bool) {
    if renamings.isEmpty { return mention("Nothing to renumber: these drafts come last.") }
    for renaming in renamings {
      mention(
        "\(isRehearsal ? "Would rename" : "Renamed") \(renaming.from.visible) to "
          + "\(renaming.to.visible).")
    }
    mention(
      isRehearsal
        ? "Nothing was changed."
        : "A database that has run a draft under its old name does not know the new name: run `schemactl migrate --reset-drafts` there."
    )
  }
}
