import History
import ManifestFormat
import SQLText
import SQLite
import SchemaModel

/// What an edit of a frozen or merged manifest changed, and what that means.
package struct EditReport: Sendable {
  package var changes: [ManifestChange] = []
  /// What devices that ran the old form have and new installs have not, in sentences.
  package var devices = ""
  /// The commit that holds the old form.
  package var commit: String?
  /// The command that brings the old form back.
  package var restore: String?
  /// Why the edit cannot be shown.
  package var problem: String?

  init(problem: String? = nil) {
    self.problem = problem
  }
}

extension Project {
  /// With more edits than these the replays would take too long.
  private static let effectLimit = 10

  /// - Throws: when the machine fails under a replay, which says nothing about an edit.
  func explainEdits(
    _ git: GitRepository, _ merged: MergedHistory?, _ result: inout GitComparison
  ) throws(Failure) {
    var old: [ExactText: Migration] = [:]
    let entries = result.history.filter { [.edited, .removed].contains($0.state) }
    for entry in entries {
      do throws(GitError) {
        let (report, migration) = try edit(of: entry.id, git, merged)
        result.edits[entry.id] = report
        old[entry.id] = migration
      } catch {
        result.edits[entry.id] = EditReport(problem: error.message)
      }
    }
    for index in result.history.indices {
      let id = result.history[index].id
      guard let restore = result.edits[id]?.restore, let entry = lock?.effectiveEntry(id) else {
        continue
      }
      result.history[index].detail =
        result.history[index].detail.replacing(
          folder.guessedRestore(of: entry), with: "`\(restore)`")
    }
    for (index, entry) in entries.enumerated() where old[entry.id] != nil {
      let verb = lock?.contains(entry.id) == true ? "frozen" : "merged"
      let changes = result.edits[entry.id]?.changes ?? []
      result.edits[entry.id]?.devices =
        index < Self.effectLimit
        ? try EditEffect(project: self, old: old, id: entry.id, verb: verb).sentences(changes)
        : "what it means for devices is worked out for the first \(Self.effectLimit) edits alone"
    }
  }

  /// Explains the edits that only a replay finds.
  func explainSchemaEdits(
    in report: inout VerifyReport, _ control: VersionControl
  ) throws(Failure) {
    let found = report.history.filter { $0.state == .edited && report.edits[$0.id] == nil }
    guard control != .ignored, !found.isEmpty else { return }
    var result = GitComparison(history: found)
    do {
      try explainEdits(GitRepository(containing: folder.path), nil, &result)
    } catch let failure as Failure {
      throw failure
    } catch {
      for entry in found {
        result.edits[entry.id] = EditReport(problem: (error as? GitError)?.message ?? "\(error)")
      }
    }
    report.edits.merge(result.edits) { $1 }
    for entry in result.history {
      guard let index = report.history.firstIndex(where: { $0.id == entry.id }) else { continue }
      report.history[index] = entry
    }
  }

  /// The edit, and the form that was frozen or merged.
  private func edit(
    of id: String, _ git: GitRepository, _ merged: MergedHistory?
  ) throws(GitError) -> (EditReport, Migration?) {
    var report = EditReport()
    let new = migrations.first { $0.id == id }
    let file = folder.file(ofMigration: id)
    let old: Migration
    if let digests = lock?.effectiveEntry(id)?.digests {
      guard new?.rawDigest != digests.raw else {
        return (EditReport(problem: "the file holds what was frozen, byte by byte"), nil)
      }
      guard let text = try git.text(ofFile: id + ".yaml", withRawDigest: [digests.raw.exact]) else {
        let depth = git.isShallow ? ", and the clone is shallow: fetch more of it" : ""
        return (EditReport(problem: "no commit holds the frozen text\(depth)"), nil)
      }
      report.commit = text.commit
      let commit = shortened(commit: text.commit)
      report.restore =
        text.path == git.prefix + id + ".yaml"
        ? "git checkout \(commit) -- \(shellQuoted(file))"
        : "git show \(shellQuoted("\(commit):\(text.path)")) > \(shellQuoted(file))"
      do throws(InvalidInput) {
        let manifest = try decodeManifest(text.bytes, file: file)
        old = Migration(id: id, file: file, bytes: text.bytes, manifest: manifest)
      } catch {
        report.problem = "the frozen text is no manifest that can be read"
        return (report, nil)
      }
    } else if let migration = merged?.migrations.first(where: { $0.id == id }) {
      old = migration
      report.commit = merged?.commit
    } else {
      return (EditReport(problem: "its old text is not known"), nil)
    }
    report.changes = compareManifests(old.manifest, new?.manifest ?? .empty)
    return (report, old)
  }
}

extension Manifest {
  /// A manifest that does nothing: what a removed one is compared with.
  fileprivate static let empty = Manifest(
    file: "", description: nil, operations: [], before: [], after: [], foreignKeys: .deferred,
    requires: Requirements(), waivers: [], canonicalForm: Array("{}".utf8))
}

/// What one edit does to devices that ran the old form: both forms are replayed after the same
/// migrations, and what follows after each.
private struct EditEffect {
  let project: Project
  /// The forms that were frozen or merged, of every edited migration.
  let old: [ExactText: Migration]
  let id: String
  /// `frozen` or `merged`.
  let verb: String

  func sentences(_ changes: [ManifestChange]) throws(Failure) -> String {
    let number = MigrationNumber(id: id)
    var before: [Migration] = project.migrations.filter { $0.number < number && old[$0.id] == nil }
    before += old.values.filter { $0.number < number }
    before.sort { $0.number < $1.number }
    let now = project.migrations.first { $0.id == id }
    let rest = project.migrations.filter { $0.number > number }
    let device: Shadow
    let install: Shadow
    do throws(Failure) {
      device = try replay(before + [old[id]].compactMap { $0 })
    } catch  where !error.isOfEnvironment {
      return "the \(verb) form cannot be replayed here: \(error.message)"
    }
    do throws(Failure) {
      install = try replay(before + [now].compactMap { $0 })
    } catch  where !error.isOfEnvironment {
      return "a new install would stop in it: \(error.message)"
    }
    let differences = compareSchemas(expected: device.schema, actual: install.schema)
    guard !differences.isEmpty else { return sameSchema(changes, now) }
    let listed = differences.prefix(5).map(sentence).joined(separator: "; ")
    let more = differences.count > 5 ? "; and \(differences.count - 5) more" : ""
    return listed + more + ". " + (try ending(device, install, rest))
  }

  private func replay(_ migrations: [Migration]) throws(Failure) -> Shadow {
    try project.requireEngine(for: migrations)
    return try project.replay(migrations)
  }

  private func sentence(_ change: SchemaChange) -> String {
    let device = "a device that ran the \(verb) form has"
    let kind = change.kind == .constraint ? "" : "\(change.kind.rawValue) "
    let what = change.kind == .constraint ? "in \(change.object) a constraint" : change.object
    // A trigger's text says less than the keys that changed in it.
    let isShort = [.column, .constraint, .columnOrder, .spelling].contains(change.kind)
    func shown(_ text: String?) -> String { isShort ? text.map { " (`\($0)`)" } ?? "" : "" }
    return switch change.change {
    case .missing:
      "\(device) \(kind)\(what)\(shown(change.expected)), a new install would not"
    case .unexpected:
      "\(device) no \(kind)\(what)\(shown(change.actual)), a new install would"
    case .changed where !isShort:
      "\(device) another \(change.kind.rawValue) \(what) than a new install would"
    case .changed:
      "\(device) \(what) as `\(change.expected ?? "nothing")`, a new install would have "
        + "`\(change.actual ?? "nothing")`"
    }
  }

  /// Whether what comes after brings both together.
  private func ending(
    _ device: Shadow, _ install: Shadow, _ rest: [Migration]
  ) throws(Failure) -> String {
    for migration in rest {
      do throws(Failure) {
        try install.apply(migration)
      } catch  where !error.isOfEnvironment {
        return "On a new install \(migration.id) would then fail: \(error.message)"
      }
      do throws(Failure) {
        try device.apply(migration)
      } catch  where !error.isOfEnvironment {
        return "On such a device \(migration.id) would then fail: \(error.message)"
      }
    }
    return compareSchemas(expected: device.schema, actual: install.schema).isEmpty
      ? "Migrations that come later make the schemas equal again; what stood in the rows may be lost"
      : "Nothing will ever bring them together"
  }

  private func sameSchema(_ changes: [ManifestChange], _ now: Migration?) -> String {
    let checks = ["assert", "before", "after", "requires"]
    if changes.allSatisfy({ checks.contains($0.name) }) {
      return
        "the schema and the rows are the same either way: only what is checked before or after "
        + "differs, and devices that ran the \(verb) form will not be asked again"
    }
    if let old = old[id]?.manifest, let new = now?.manifest, treatRowsAlike(old, new) {
      return
        "the schema and the rows are the same either way: the edit says in another way what the "
        + "\(verb) form does"
    }
    return
      "the schema is the same either way, the rows are not: a device that ran the \(verb) form "
      + "keeps what that made of its rows, and a new install "
      + (now == nil ? "would never do it" : "would get what the edited form makes of them")
  }
}
