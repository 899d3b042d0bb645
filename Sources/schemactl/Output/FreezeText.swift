import History
import Migrating
import SQLText

extension TextReporter {
  func show(_ report: FreezeReport, _ release: String?, _ file: String) {
    guard !report.frozen.isEmpty else {
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
    mention("It stands in \(file.visible), and every `schemactl verify` shows it: commit it.")
  }

  func show(_ report: ResolveReport?, _ file: String) {
    guard let report else {
      return mention("There is no merge conflict in \(file.visible).")
    }
    mention(
      "\(file.visible) holds both branches: \(counted(report.lock.entries.count, "migration")) "
        + "frozen. Run `schemactl verify`, then `git add \(shellQuoted(file).visible)`.")
    if !report.toRebase.isEmpty {
      mention(
        "Drafts now come before frozen ones: run `\(rebaseCommand(report.toRebase).visible)`.")
    }
    for text in report.notes { note(text) }
  }

  func showAttributes(_ added: [String], _ file: String) {
    if added.isEmpty { return mention("\(file.visible) has the lines already.") }
    for line in added { mention("\(file.visible): \(line)") }
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
