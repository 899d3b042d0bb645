import SchemaCopies
import SchemaHistory
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The copies that must exist before a migration begins: the backup, and the copy from before the drafts.
struct SafetyCopies {
  enum Purpose: Sendable {
    case backup, draftCopy

    func name(of database: String) -> String {
      switch self {
      case .backup: "a backup of `\(database)`"
      case .draftCopy: "the copy of `\(database)` from before its drafts"
      }
    }
  }

  struct Copy {
    let purpose: Purpose
    let file: TemporaryFile
  }

  /// The copies that do not have their final names yet.
  var copies: [Copy] = []
  /// `PRAGMA data_version` at the time of the copies. It changes when another connection commits.
  var version: Int64?
  /// How often the copies were made again because another process had committed.
  var repetitions = 0
  /// The copies that have their final names, but belong to a transaction that is not committed yet.
  var published: [(purpose: Purpose, path: String)] = []
}

extension Upgrade {
  /// Makes the copies that must exist before the next migration, each of them once. The transaction keeps
  /// other writers out, so the copies contain exactly the state in which it begins.
  func makeCopies(before next: Int, _ batch: Batch) throws {
    safety.copies = []
    safety.version = batch.version
    for purpose in purposes(before: next, batch) {
      safety.copies.append(try copy(for: purpose))
    }
  }

  private func purposes(before next: Int, _ batch: Batch) -> [SafetyCopies.Purpose] {
    var purposes: [SafetyCopies.Purpose] = []
    if destination != nil, report.backup == nil { purposes.append(.backup) }
    let isDue = DraftCopy.isDue(
      before: replay.steps[next].migration, known: batch.known, in: project)
    // An in-memory database has no folder, and SchemaKit opens no second connection to a borrowed database.
    if isDue, !connection.isBorrowed, options.trialFile == nil, report.draftCopy == nil {
      purposes.append(.draftCopy)
    }
    return purposes
  }

  private func copy(for purpose: SafetyCopies.Purpose) throws -> SafetyCopies.Copy {
    let name = purpose.name(of: options.database)
    let copier = Copier(timeout: options.timeout, interruption: interruption, onEvent: onEvent)
    let base = purpose == .backup ? destination?.base ?? options.database : options.database
    guard !reading.connection.hasMoved else { throw moved }
    let file = try copier.copy(reading.connection, for: base, name)
    let copy = try copier.openCopy(file.path)
    try failing(on: copy.path) { try requireSound(copy, name) }
    return SafetyCopies.Copy(purpose: purpose, file: file)
  }

  private func requireSound(_ copy: Connection, _ name: String) throws {
    // The check calls none of the functions that the schema names, but they must exist.
    try project.application.registerStubs(on: copy)
    switch try copy.soundness() {
    case .sound: break
    case .unknown(let reason): onEvent(.note("cannot check \(name): \(reason)"))
    case .damaged(let problem):
      throw Failure(
        .inputOutput,
        "\(name) does not pass `PRAGMA quick_check`, so the database itself is damaged: \(problem)",
        remedy: Failure.restoring(options.database))
    }
  }

  /// The maximum number of times that the copies are made again.
  private static let mostRepetitions = 5

  /// Whether the copies contain the state in which the transaction begins.
  ///
  /// - Throws: a failure (75) if other processes have committed since the copies again and again.
  func areCopiesCurrent() throws -> Bool {
    guard try !safety.copies.isEmpty && transaction.version != safety.version else { return true }
    guard safety.repetitions < Self.mostRepetitions else {
      throw Failure(
        .busy, "another process has written to `\(options.database)` since the copy: try again")
    }
    safety.repetitions += 1
    return false
  }

  /// Gives the copies their final names, immediately before the transaction is committed. So a migration that
  /// fails leaves no backup.
  func keepCopies() throws {
    for copy in safety.copies {
      copy.file.admitReaders(of: options.database)
      switch copy.purpose {
      case .backup:
        guard let destination else { continue }
        let path = try destination.publish(copy.file)
        report.backup = path
        safety.published.append((.backup, path))
      case .draftCopy:
        let path = DraftCopy(of: options.database, project).path
        try copy.file.publish(replacing: path)
        report.draftCopy = path
        safety.published.append((.draftCopy, path))
      }
    }
    safety.copies = []
  }

  // MARK: After the run

  /// Removes the oldest backups after a run without a failure. A backup that cannot be removed does not fail
  /// the run.
  func removeOldBackups() {
    guard case .series(let backups) = destination, let made = report.backup,
      let keep = options.backup?.keep
    else { return }
    do {
      for problem in try backups.prune(keeping: keep, made) {
        onEvent(.note(problem))
      }
    } catch {
      let failure = Failure(of: error, database: options.database)
      onEvent(.note("cannot remove older backups: \(failure.message)"))
    }
  }

  /// Removes the copies of a transaction that has certainly not been committed, because an unnecessary backup
  /// replaces an older one. A file that the user named remains, except after a busy COMMIT or on a full disk: the
  /// disk may be faulty. All copies remain if the database was moved or removed, because they may be the last
  /// ones.
  ///
  /// - Parameter error: the error of COMMIT; nil before it.
  func withdrawCopies(after error: DatabaseError? = nil) {
    guard !connection.hasMoved else { return }
    for (purpose, path) in safety.published {
      let isHarmless = error.map { $0.code == .busy || $0.isFullDisk } ?? false
      if purpose == .backup, case .file = destination, !isHarmless { continue }
      guard (try? removeFile(path)) != nil else { continue }
      switch purpose {
      case .backup: report.backup = nil
      case .draftCopy: report.draftCopy = nil
      }
    }
    safety.published = []
  }
}
