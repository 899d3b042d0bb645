import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension Project {
  /// Checks that the frozen migrations are unchanged, that the history can be replayed and, with a
  /// database, that its schema matches the history.
  ///
  /// - Parameter base: a revision; the lock of its merge base with HEAD is compared, too.
  /// - Throws: failures with exit status 64 and above; the report contains all other problems.
  package func verify(
    _ database: ReadableDatabase?, base: String?, interruption: Interruption = Interruption()
  ) throws(Failure) -> VerifyReport {
    let (history, others) = try verifyHistory(base: base)
    var report = try verify(database, continuing: history, interruption: interruption)
    try showEdits(in: &report, others)
    return report
  }

  /// Compares the manifests with the lock, and the lock with other revisions, without a replay.
  ///
  /// - Parameter base: a revision; the lock of its merge base with HEAD is compared, too.
  /// - Returns: the report, and the revisions that can show edits.
  package func verifyHistory(
    base: String?
  ) throws(Failure) -> (VerifyReport, OtherRevisions?) {
    var notes: [String] = []
    let others = try otherRevisions(base, noting: &notes)
    var report = VerifyReport(
      history: folder.compare(migrations, with: lock), notes: notes)
    report.lock = others?.differences(in: folder) ?? []
    if lock == nil, report.lock.isEmpty {
      report.notes.append("no migration is frozen yet: `history.lock` does not exist")
    } else if let others, others.locks.isEmpty, others.problems.isEmpty {
      report.notes.append(
        "schemactl did not compare `history.lock` with git: no other revision has it yet")
    }
    return (report, others)
  }
}

extension Project {
  /// The other revisions that protect this history; nil if git is not available.
  ///
  /// - Throws: a failure (66) if a requested base cannot be compared: a check that cannot run must
  ///   fail.
  package func otherRevisions(
    _ base: String?, noting problems: inout [String]
  ) throws(Failure) -> OtherRevisions? {
    do throws(Failure) {
      let others = try OtherRevisions(of: folder, lock: lock, base: base)
      problems += others.problems
      return others
    } catch {
      if let base {
        throw Failure(.notFound, "cannot compare the history with `\(base)`: \(error.message)")
      }
      if lock != nil {
        problems.append(
          "schemactl did not compare `history.lock` with git: \(error.message)")
      }
      return nil
    }
  }

  /// Fails if the lock, or a draft's line in it, is missing, and another revision has it. A new line must not
  /// replace one that was deleted: it would accept every edit.
  package func requireNoLostLines() throws(Failure) {
    let drafts = migrations.filter { !isFrozen($0) }.map(\.id)
    guard !drafts.isEmpty else { return }
    var problems: [String] = []
    guard let others = try otherRevisions(nil, noting: &problems) else { return }
    if lock == nil, let difference = others.differences(in: folder).first {
      throw Failure(.brokenHistory, "\(difference.message). schemactl froze nothing")
    }
    let kept = others.keptIDs
    guard let lost = drafts.first(where: { kept.contains($0.exact) }) else { return }
    throw Failure(
      .brokenHistory,
      "another revision has frozen `\(lost)`, and its line is missing in `\(folder.lockFile)`. schemactl "
        + "froze nothing",
      remedy: "Restore the line (`git log -p -- \(shellQuoted(folder.lockFile))`)")
  }
}

// MARK: Edits

extension Project {
  /// Adds the differences of edited and removed manifests to a report.
  ///
  /// - Throws: an error of the environment during a replay, which does not depend on the edit.
  package func showEdits(
    in report: inout VerifyReport, _ others: OtherRevisions?
  ) throws(Failure) {
    guard let others else { return }
    var frozen: [ExactText: Migration] = [:]
    var ids: [ExactText: [String]] = [:]
    for (index, entry) in report.history.enumerated()
    where [.edited, .removed].contains(entry.state) {
      var diff = ManifestDiff()
      do throws(Failure) {
        if let text = try text(of: entry.id, others, &diff) {
          let command = restore(text, entry.id, others)
          diff.restore = command
          // The replay does not run a migration that a squash replaces.
          let line = lock?.entry(entry.id)
          if let line {
            report.history[index] = folder.found(
              line, migrations.first { $0.id == entry.id }, restore: command)
            frozen[entry.id] = try? Migration(
              id: entry.id, file: folder.file(ofMigration: entry.id), reading: text.bytes)
          }
          let isInPlace = line != nil && text.path == others.git.prefix + entry.id + ".yaml"
          if entry.state == .edited, isInPlace {
            ids[text.commit, default: []].append(entry.id)
          } else if entry.state == .edited {
            diff.problem = showing("\(shortened(commit: text.commit)):\(text.path)", entry.id)
          }
        }
      } catch {
        diff.problem = error.message
      }
      report.edits[entry.id] = diff
    }
    showTexts(ids, others, in: &report)
    try compareSchemas(frozen, in: &report)
  }

  /// - Returns: nil if no frozen text can be shown. The reason is then added to `diff`.
  private func text(
    of id: String, _ others: OtherRevisions, _ diff: inout ManifestDiff
  ) throws(Failure) -> FrozenText? {
    guard let digests = lock?.anyEntry(id)?.digests else { return nil }
    guard migrations.first(where: { $0.id == id })?.rawDigest != digests.raw else {
      diff.problem = "the file has the frozen text, byte by byte"
      return nil
    }
    guard let text = try others.text(ofMigration: id, rawDigest: digests.raw) else {
      diff.problem =
        "no revision has the frozen text"
        + (others.git.isShallow ? ", and the clone is shallow: fetch more of it" : "")
      return nil
    }
    diff.commit = text.commit
    return text
  }

  private func restore(_ text: FrozenText, _ id: String, _ others: OtherRevisions) -> String {
    let file = shellQuoted(file(ofMigration: id))
    let commit = shortened(commit: text.commit)
    return lock?.entry(id) != nil && text.path == others.git.prefix + id + ".yaml"
      ? "git checkout \(commit) -- \(file)"
      : "git show \(shellQuoted("\(commit):\(text.path)")) > \(file)"
  }

  /// Shows the edits since the commit that most of them share, as one `git diff`. For the others, gives the
  /// command that shows them.
  private func showTexts(
    _ edited: [ExactText: [String]], _ others: OtherRevisions, in report: inout VerifyReport
  ) {
    guard
      let (commit, ids) = edited.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) })
    else { return }
    do throws(Failure) {
      let names = ids.map { $0 + ".yaml" }
      let text = String(decoding: try others.git.diff(names, from: commit.text), as: UTF8.self)
      let parts = "\n\(text)".parts(separatedBy: "\ndiff --git ")
      for (id, name) in zip(ids, names) {
        let part = parts.first { $0.prefix { $0 != "\n" }.contains("/\(name)") }
        report.edits[id]?.text =
          part.map { "diff --git \($0)" + ($0.last == "\n" ? "" : "\n") } ?? ""
      }
    } catch {
      for id in ids { report.edits[id]?.problem = error.message }
    }
    for (other, ids) in edited where other != commit {
      for id in ids { report.edits[id]?.problem = showing(shortened(commit: other.text), id) }
    }
  }

  private func showing(_ old: String, _ id: String) -> String {
    "`git diff \(shellQuoted(old)) -- \(shellQuoted(file(ofMigration: id)))` shows the edit"
  }

  /// Replays the frozen form of each manifest, and compares the result with that of its current
  /// form.
  private func compareSchemas(
    _ frozen: [ExactText: Migration], in report: inout VerifyReport
  ) throws(Failure) {
    guard !frozen.isEmpty else { return }
    let present = Dictionary(
      migrations.map { ($0.id.exact, $0) }, uniquingKeysWith: { first, _ in first })
    let ids = Set(migrations.map(\.id.exact)).union(frozen.keys).map(\.text)
      .sorted { MigrationNumber(id: $0) < MigrationNumber(id: $1) }
    let old = try ScratchDatabase(application)
    old.isReleased = isFrozen
    for id in ids {
      do throws(Failure) {
        guard let form = frozen[id] else {
          if let migration = present[id] { try old.apply(migration) }
          continue
        }
        // Without rows: only the schemas are compared.
        let new = try ScratchDatabase(application, from: old.schema, isTrusted: true)
        new.isReleased = isFrozen
        try old.apply(form)
        if let migration = present[id] { try new.apply(migration) }
        report.edits[id]?.schema = SchemaModel.compareSchemas(
          expected: old.schema, actual: new.schema)
      } catch  where !error.isEnvironmental {
        let problem = "schemactl did not compare the schemas: \(error.message)"
        for id in ids where frozen[id] != nil {
          guard var diff = report.edits[id], diff.schema.isEmpty, diff.problem == nil else {
            continue
          }
          diff.problem = problem
          report.edits[id] = diff
        }
        return
      }
    }
  }
}
