import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

package struct VerifyReport: Sendable {
  package var history: [HistoryEntry]
  /// The lines of other revisions' locks that the current lock lacks or changes.
  package var lock: [LockDifference] = []
  /// The differences of edited and removed manifests, by id.
  package var edits: [ExactText: ManifestDiff] = [:]
  /// The comparison with the ledger; nil without a database.
  package var ledger: [LedgerEntry]?
  package var drift: [SchemaChange]?
  /// Skipped checks, and the reasons.
  package var notes: [String] = []
  /// The failure that ended the replay, or prevented the comparison of a database.
  package var failure: Failure?

  package init(history: [HistoryEntry], notes: [String] = []) {
    self.history = history
    self.notes = notes
  }

  package var isHistoryBroken: Bool { !lock.isEmpty || history.contains(where: \.state.isBroken) }

  package var status: ExitStatus {
    var statuses: [ExitStatus] = history.map { entry in
      entry.state.isBroken ? .brokenHistory : entry.state == .engineDiffers ? .finding : .success
    }
    if !lock.isEmpty { statuses.append(.brokenHistory) }
    statuses += (ledger ?? []).map(\.state.status)
    if !(drift ?? []).isEmpty { statuses.append(.finding) }
    if let failure { statuses.append(failure.status) }
    return ExitStatus.worst(statuses)
  }
}

extension VerifyReport {
  /// Compares the manifests with the lock.
  package init(comparing project: Project) {
    self.init(
      history: project.comparison,
      notes: project.lock == nil
        ? [
          "no migration is frozen yet: `history.lock` does not exist"
        ] : [])
  }
}

extension Project {
  /// Replays the history and, with a database, compares the database with its history.
  ///
  /// - Parameter history: the report of earlier comparisons: of the manifests with the lock, and of the lock
  ///   with other revisions; nil compares only the manifests with the lock.
  /// - Throws: failures with exit status 64 and above; the report contains all other problems.
  package func verify(
    _ database: ReadableDatabase?, continuing history: VerifyReport? = nil,
    interruption: Interruption = Interruption()
  ) throws(Failure) -> VerifyReport {
    var report = history ?? VerifyReport(comparing: self)
    var replayed: PendingReplay?
    if report.isHistoryBroken {
      report.notes.append("schemactl skipped the replay, because the frozen history is broken")
    } else {
      let all = try replay(noting: &report.history, interruption)
      report.failure = all.failure ?? report.failure
      replayed = all
    }
    try verifySquashed(into: &report, interruption)
    guard let database else { return report }
    let view = try view(of: database)
    if view.migrations.count != migrations.count {
      replayed = try view.replay(view.migrations, interruption: interruption)
    }
    try view.compare(database, with: replayed, into: &report)
    return report
  }

  /// Compares one of many databases with a history that was replayed for all of them.
  ///
  /// - Throws: failures with exit status 64 and above; the report contains all other problems.
  package func verify(
    _ database: ReadableDatabase, with replay: PendingReplay
  ) throws(Failure) -> VerifyReport {
    var report = VerifyReport(history: [])
    try compare(database, with: replay, into: &report)
    return report
  }

  /// - Parameter replay: nil if the history is broken.
  private func compare(
    _ database: ReadableDatabase, with replay: PendingReplay?, into report: inout VerifyReport
  ) throws(Failure) {
    let compared = try DatabaseComparison(database, with: self, mayBeEmpty: migrations.isEmpty)
    report.ledger = compared.ledger
    if let failure = compared.failure {
      report.failure = report.failure ?? failure
      return
    }
    report.drift =
      compared.unknown.isEmpty ? replay.flatMap { compared.drift(from: $0) } : nil
    if report.drift == nil {
      report.notes.append(
        "cannot compare the schema: the replay does not reach the latest migration of the database")
    }
  }
}

extension Project {
  /// Verifies that the migrations which the squash replaces are unchanged, and that they create the same
  /// schema as the squash.
  package func verifySquashed(
    into report: inout VerifyReport, _ interruption: Interruption
  ) throws(Failure) {
    guard let squash else { return }
    guard let old = try squashedMigrations() else {
      report.notes.append(
        "cannot verify the migrations that `\(squash.id)` replaces: `\(folder.squashed.path)` does "
          + "not exist"
      )
      return
    }
    let names = squash.replacedMigrations
    let chain = names.compactMap { id in old.first { $0.id == id } }
    var states = (chain + old.filter { squash.olderSquashes.contains($0.id) }).map { migration in
      lock?.anyEntry(migration.id).map { folder.squashed.compare(migration, with: $0) }
        ?? HistoryEntry(id: migration.id, frozen: false, state: .draft)
    }
    let known = Set(chain.map(\.id.exact))
    states += names.filter { !known.contains($0) }.map { id in
      HistoryEntry(
        id: id, frozen: true, state: .removed,
        detail: "`\(folder.squashed.file(ofMigration: id))` is missing: restore it from git")
    }
    guard report.failure == nil, !report.isHistoryBroken,
      !states.contains(where: \.state.isBroken), chain.count == names.count
    else {
      report.history += states
      return
    }
    let last: ScratchDatabase = try unsquashed(chain).replay(chain, interruption: interruption)
    let first: ScratchDatabase = try replay([squash], interruption: interruption)
    if last.fingerprint != first.fingerprint {
      let differences = compareSchemas(expected: last.schema, actual: first.schema)
      report.failure = Failure(
        .brokenHistory,
        "`\(squash.id)` does not create the schema of the migrations that it replaces:",
        details: differences.map(\.sentence).abridged(to: 20))
    }
    report.history += states
  }
}

/// The differences between an edited or removed manifest and its frozen form.
package struct ManifestDiff: Sendable {
  /// The commit that contains the frozen text.
  package var commit: String?
  /// The command that restores the frozen text.
  package var restore: String?
  /// The text difference, in the form of `git diff`.
  package var text = ""
  /// The differences from the schema of the frozen form to the schema of the current form.
  package var schema: [SchemaChange] = []
  /// The reason why some of these values are missing.
  package var problem: String?

  package init() {}
}
