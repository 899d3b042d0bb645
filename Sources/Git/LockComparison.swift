import SchemaHistory
import SchemaSQLText

extension OtherRevisions {
  /// The differences by which the current lock does not continue those of the other revisions. Each
  /// line is reported once, for the first revision that contains it.
  package func differences(in folder: MigrationFolder) -> [LockDifference] {
    var seen: Set<LockEntry> = []
    var differences: [LockDifference] = []
    var compared: Set<ExactText> = []
    for other in locks where compared.insert(other.content).inserted {
      let command =
        "git show \(shellQuoted("\(other.shortRevision):\(other.folder)\(HistoryLock.fileName)"))"
      guard let lock else {
        differences.append(
          LockDifference(
            kind: .removed, older: other.name,
            message: "\(other.name) has the lock, and it is missing here: frozen migrations stay "
              + "frozen; restore it (`\(command) > \(shellQuoted(folder.lockFile))`)"))
        return differences
      }
      for entry in other.lock.all where lock.anyEntry(entry.id)?.continues(entry) != true {
        guard !(isDisputed(other) && wasRenumbered(entry, other)), seen.insert(entry).inserted
        else { continue }
        differences.append(
          lock.anyEntry(entry.id).map { difference($0, entry, other, command) }
            ?? LockDifference(
              kind: .missing, older: other.name,
              message:
                "the line of `\(entry.id)` in \(other.name) is missing here (\(entry.summary)): "
                + "frozen migrations stay frozen; copy it from `\(command)` to any line"))
      }
    }
    return differences
  }

  private func difference(
    _ entry: LockEntry, _ older: LockEntry, _ other: OtherLock, _ command: String
  ) -> LockDifference {
    let isAccepted = entry.acceptances.contains { $0.canonical == older.digests.canonical }
    let changes = [
      entry.release == older.release
        ? nil : "release \(entry.release ?? "-") instead of \(older.release ?? "-")",
      isAccepted || entry.digests.canonical == older.digests.canonical
        ? nil : "another canonical digest",
      isAccepted || entry.digests.raw == older.digests.raw ? nil : "another raw digest",
      older.acceptances.allSatisfy(entry.acceptances.contains)
        ? nil : "a missing `accepted=`",
    ].compactMap { $0 }
    let isEdited = entry.digests.canonical != older.digests.canonical
    if !isEdited, entry.release != older.release, isChosen(entry, over: other) {
      return LockDifference(
        kind: .changed, older: other.name,
        message: "both sides of the merge froze `\(entry.id)` in the same form, for release "
          + "\(entry.release ?? "-") here and \(older.release ?? "-") in \(other.name). Keep the "
          + "line of the release that shipped it first, and commit the merge")
    }
    return LockDifference(
      kind: .changed, older: other.name,
      message: "the line of `\(entry.id)` differs from that in \(other.name), with "
        + "\(changes.joined(separator: " and ")): restore the line from `\(command)`"
        + (isEdited
          ? "; accept an edit with `schemactl freeze --accept \(shellQuoted(entry.id)) --reason …`"
          : ""))
  }

  /// Whether both sides of an open merge froze the same form for different releases, and the current lock has
  /// the line of the other side.
  private func isChosen(_ entry: LockEntry, over other: OtherLock) -> Bool {
    operation != nil && [.head, .parent].contains(other.kind)
      && locks.contains { side in
        [.head, .parent].contains(side.kind) && side.content != other.content
          && side.lock.anyEntry(entry.id).map(entry.continues) ?? false
      }
  }

  /// Whether the lock contains the same manifest under another id. If both sides of an open merge
  /// froze the same number, one side is renumbered.
  private func wasRenumbered(_ entry: LockEntry, _ other: OtherLock) -> Bool {
    (lock?.all ?? []).contains { now in
      !other.lock.contains(now.id) && now.digests.canonical == entry.digests.canonical
    }
  }
}

extension OtherLock {
  /// Abbreviated like git's own output.
  fileprivate var shortRevision: String {
    revision.utf8.count >= 40 ? shortened(commit: revision) : revision
  }
}
