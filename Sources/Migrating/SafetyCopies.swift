import History
import Planning
import SQLText
import SQLite
import SchemaModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What has to be there before a migration begins: the backup, the copy from before the drafts.
struct SafetyCopies {
  enum Purpose: Sendable {
    case backup, draftCopy
  }

  struct Copy {
    let purpose: Purpose
    let partial: PartialCopy
    let rows: [LedgerRow]
    let fingerprint: String
  }

  /// Not named yet.
  var copies: [Copy] = []
  /// What `PRAGMA data_version` said when they were begun: it changes when another connection
  /// commits.
  var version: Int64?
  var tries = 0
  /// What the backup that was kept has run.
  var kept: [LedgerRow] = []
  /// Why the run has failed.
  var hasFullDisk = false
}

extension Upgrade {
  private func purposes(before next: Int, _ batch: Batch) -> [SafetyCopies.Purpose] {
    var purposes: [SafetyCopies.Purpose] = []
    if destination != nil, report.backup == nil { purposes.append(.backup) }
    let isDue = DraftCopy.isDue(
      before: replay.steps[next].migration, known: batch.known, in: project)
    if isDue, !options.isRehearsal, report.draftCopy == nil { purposes.append(.draftCopy) }
    return purposes
  }

  /// Makes the copies that have to be there before the next migration. True when the transaction
  /// was given up for it, and has to be begun again.
  func makeCopies(before next: Int, _ batch: Batch) throws(Failure) -> Bool {
    let purposes = purposes(before: next, batch)
    let version = try dataVersion()
    guard purposes != safety.copies.map(\.purpose) || version != safety.version else {
      return false
    }
    safety.copies = []
    safety.version = version
    safety.tries += 1
    guard safety.tries <= 5 else {
      throw Failure(
        .busy,
        "\(options.database) cannot be copied before its next migration: others keep writing to "
          + "it. Stop what writes to it and try again")
    }
    // At first nobody is shut out. Who keeps writing has to wait in the end.
    if safety.tries <= 2 { rollBack() }
    for purpose in purposes {
      guard let copy = try copy(for: purpose) else {
        safety.copies = []
        rollBack()
        return true
      }
      safety.copies.append(copy)
    }
    if purposes.contains(.backup) { warnOfLittleRoom(batch) }
    return !connection.isInTransaction
  }

  /// Whether the copies are of what the transaction begins with.
  func copiesAreCurrent() throws(Failure) -> Bool {
    guard !safety.copies.isEmpty else { return true }
    return try dataVersion() == safety.version
  }

  /// Gives the copies their names: from now on the migration may begin.
  func keepCopies(_ batch: Batch) throws(Failure) {
    for copy in safety.copies {
      guard copy.rows.map(\.id) == batch.known,
        copy.fingerprint == batch.live.fingerprint()
      else {
        throw Failure(
          .inputOutput,
          "\(name(copy.purpose)) does not hold the schema and the ledger that \(options.database) "
            + "holds: the file that was read is damaged, or is not the one that was opened. "
            + "Nothing was changed")
      }
      copy.partial.admitReaders(of: options.database)
      switch copy.purpose {
      case .backup:
        report.backup = try keepBackup(copy.partial)
        safety.kept = copy.rows
      case .draftCopy:
        let path = DraftCopy(of: options.database).path
        try copy.partial.replace(path)
        report.draftCopy = path
      }
    }
    safety.copies = []
  }

  private func keepBackup(_ partial: PartialCopy) throws(Failure) -> String? {
    switch destination {
    case nil: return nil
    case .series(let backups): return try partial.keep(as: backups.nextPath(at: .now))
    case .file(let path):
      guard try partial.take(path) else {
        throw Failure(
          .inputOutput, "\(path) was made by somebody else meanwhile. Nothing was changed")
      }
      return path
    }
  }

  /// When all is done, the oldest backups go. What cannot be removed is no failure of the run.
  func removeOldBackups() {
    guard case .series(let backups) = destination, let made = report.backup,
      let keep = options.backup?.keep
    else { return }
    do {
      let rows = try Ledger.rows(in: connection) ?? []
      for problem in try backups.prune(keeping: keep, made, ledger: rows) {
        onEvent(.note(problem))
      }
    } catch let failure as Failure {
      onEvent(.note("older backups were not removed: \(failure.message)"))
    } catch {
      onEvent(.note("older backups were not removed: \(error)"))
    }
  }

  /// A run that committed nothing needs no way back, and its backup would push out older ones that
  /// somebody may need. It stays where anything is in doubt.
  func removeNeedlessBackup() {
    guard let backup = report.backup, let failure = report.failure else { return }
    let size = FreeSpace.size(DatabaseFile.size(backup))
    if isNeedless(failure), unlink(backup) == 0 {
      report.backup = nil
      onEvent(
        .note(
          "the backup \(backup) (\(size)) was removed again: no migration was applied, so it held "
            + "nothing that \(options.database) does not hold"))
    }
    guard safety.hasFullDisk else { return }
    report.failure = Failure(
      failure.status,
      "\(failure.message). The backup took \(size) of the disk that holds "
        + "\(parentFolder(of: backup)): with --backup=FOLDER it can be on another one",
      place: failure.place, migration: failure.migration)
  }

  private func isNeedless(_ failure: Failure) -> Bool {
    guard report.applied.isEmpty, report.uncertain.isEmpty, !connection.hasMoved,
      !connection.isInTransaction, failure.status != .inputOutput || safety.hasFullDisk,
      let rows = try? Ledger.rows(in: connection) ?? []
    else { return false }
    return rows == safety.kept
  }

  /// What rewrites rows writes them a second time, into the file or its log, and what was there
  /// into a journal.
  private func warnOfLittleRoom(_ batch: Batch) {
    let bytes = DatabaseFile.size(options.database)
    let folder = parentFolder(of: options.database)
    guard batch.pending.contains(where: { replay.steps[$0].writesRows(in: batch.expected) }),
      let free = FreeSpace.left(in: folder), free < bytes
    else { return }
    onEvent(
      .note(
        "after the backup only \(FreeSpace.size(free, .down)) are free in \(folder), and a "
          + "migration that rewrites rows may need as much as \(options.database) has, "
          + FreeSpace.size(bytes)))
  }

  private func name(_ purpose: SafetyCopies.Purpose) -> String {
    switch purpose {
    case .backup: "a backup of \(options.database)"
    case .draftCopy: "the copy of \(options.database) from before its drafts"
    }
  }

  // MARK: One copy

  /// Nil when somebody wrote meanwhile.
  private func copy(for purpose: SafetyCopies.Purpose) throws(Failure) -> SafetyCopies.Copy? {
    let base = purpose == .backup ? destination?.base ?? options.database : options.database
    let made = try Copier(timeout: options.timeout, interruption: interruption, onEvent: onEvent)
      .copy(options.database, as: base, name(purpose))
    guard let partial = made?.partial else { return nil }
    let connection = try DatabaseFile.openStill(
      partial.path, timeout: options.timeout, interruption: interruption)
    try check(connection, name(purpose))
    let held = try LiveDatabase(connection, path: partial.path)
    return SafetyCopies.Copy(
      purpose: purpose, partial: partial, rows: held.rows ?? [],
      fingerprint: held.schema.fingerprint())
  }

  private func check(_ connection: Connection, _ name: String) throws(Failure) {
    do {
      // What the schema calls is not called for this; it only has to be there.
      try project.application.registerStubs(on: connection)
      switch try connection.soundness() {
      case .sound: break
      case .unknown(let reason): onEvent(.note("\(name) could not be checked: \(reason)"))
      case .damaged(let problem):
        throw Failure(
          .inputOutput,
          "\(name) does not pass `PRAGMA quick_check`, so the database itself is damaged: "
            + "\(problem). Nothing was changed\(Failure.restoring(options.database))")
      }
    } catch {
      throw Failure(of: error, database: connection.path)
    }
  }
}
