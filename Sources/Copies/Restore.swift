import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Replaces a database by a backup. It works without the history, because the folder of the migrations may be
/// on another machine.
package struct Restore {
  package let database: String
  package let backup: String
  let ledger: Ledger
  /// Whether to accept a backup of another database, with migrations that the history does not contain, or
  /// without a valid ledger.
  package var force = false
  package var timeout = 5.0
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  package init(
    _ database: String, from backup: String, _ ledger: Ledger,
    interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) {
    self.database = database
    self.backup = backup
    self.ledger = ledger
    self.interruption = interruption
    self.onEvent = onEvent
  }

  package struct Report: Sendable {
    package let backup: String
    /// The path of the previous content; nil if the database did not exist.
    package let setAside: String?
    /// The last migration that the restored database has run.
    package let current: String?
  }

  private var copier: Copier {
    Copier(timeout: timeout, interruption: interruption, onEvent: onEvent)
  }

  /// - Parameter project: nil without a history.
  /// - Throws: a failure if the backup or the database cannot be used.
  package func run(_ project: Project?) throws(Failure) -> Report {
    let report = try check(project)
    return Report(backup: backup, setAside: try putBack(), current: report.current)
  }

  /// Checks the backup, and changes nothing.
  ///
  /// - Throws: a failure if the backup cannot be used.
  package func check(_ project: Project?) throws(Failure) -> Report {
    let rows = try examine()
    if !force, let problem = try mismatch(rows, project) {
      throw Failure(
        .finding, "\(problem). Nothing changed", remedy: "`--force` restores it anyway")
    }
    return Report(backup: backup, setAside: nil, current: rows.last?.id)
  }

  // MARK: Checks

  /// Checks that the backup is not damaged, and returns its ledger.
  private func examine() throws(Failure) -> [LedgerRow] {
    guard try DatabaseFile.exists(backup) else {
      throw Failure(.notFound, "backup `\(backup)` does not exist. Nothing changed")
    }
    if let live = FileStatus(database), FileStatus(backup)?.isSameFile(as: live) == true {
      throw Failure(.usage, "`\(backup)` is the database itself. Nothing changed")
    }
    let connection = try copier.openCopy(backup)
    let pages: Value?
    do {
      pages = try connection.value("PRAGMA main.page_count")
    } catch {
      let failure = Failure(error, database: backup).withoutRemedy
      throw unusable(failure.message, failure.status)
    }
    if pages == 0 {
      let size = FreeSpace.size(Double(DatabaseFile.size(backup)))
      throw unusable("`\(backup)` is empty (\(size))", .inputOutput)
    }
    try failing(on: backup) {
      switch try connection.soundness() {
      case .sound: break
      case .damaged(let problem):
        throw unusable("`\(backup)` is damaged: \(problem)", .inputOutput)
      case .unknown(let reason):
        onEvent(.note("cannot check `\(backup)` completely: \(reason)"))
      }
    }
    do throws(Failure) {
      return try LiveDatabase(connection, ledger, path: backup).rows ?? []
    } catch {
      if force, error.status == .brokenHistory { return [] }
      throw error.withoutRemedy
    }
  }

  private func unusable(_ message: String, _ status: ExitStatus) -> Failure {
    Failure(
      status,
      "\(message). Nothing changed. Take another backup (\(restoreCommand(database)) --dry-run` "
        + "lists them)")
  }

  /// The reason why the backup does not belong to this database and this history; nil if it does.
  private func mismatch(
    _ rows: [LedgerRow], _ project: Project?
  ) throws(Failure) -> String? {
    let isOwn = Backups(of: database, ledger, in: parentFolder(of: backup)).contains(backup)
    guard let first = rows.first else {
      return isOwn ? nil : "`\(backup)` has run no migration: it is not a backup of schemactl"
    }
    let live = try liveDatabase()
    let run = "the backup belongs to the database that ran `\(first.id)` at \(first.startedAt)"
    if let own = live?.rows, !own.isEmpty {
      guard isSameDatabase(rows, own) else {
        return
          "`\(backup)` is a backup of another database: it ran `\(first.id)` at \(first.startedAt), and "
          + "`\(database)` ran `\(own[0].id)` at \(own[0].startedAt)"
      }
    } else if !isOwn {
      if let live, live.rows == nil, !live.schema.objects.isEmpty {
        return "`\(database)` has tables and no ledger: \(run)"
      }
      onEvent(
        .note(
          "`\(database)` has no readable ledger, so schemactl cannot check whether the backup belongs to it: "
            + run))
    }
    guard let project else { return nil }
    let replaced = project.squash?.manifest.squashed ?? []
    let unknown = project.compareLedger(rows)
      .filter { $0.state == .unknown && !replaced.contains($0.id) }.map(\.id)
    return unknown.isEmpty
      ? nil
      : "`\(backup)` has run migrations that the history does not contain: "
        + unknown.map { "`\($0)`" }.joined(separator: ", ")
  }

  /// The content of the database; nil if it is missing or damaged.
  ///
  /// - Throws: a failure if the database cannot be read at the moment.
  private func liveDatabase() throws(Failure) -> LiveDatabase? {
    guard DatabaseFile.isFile(database) else { return nil }
    // A single failed read looks like damage.
    for _ in 0..<2 {
      do throws(Failure) {
        return try LiveDatabase(
          DatabaseFile.openForReading(database, timeout: timeout), ledger, path: database)
      } catch {
        guard [.inputOutput, .brokenHistory].contains(error.status) else {
          throw Failure(error.status, error.message + ". Nothing changed")
        }
      }
    }
    return nil
  }

  // MARK: Replacing the database

  private func putBack() throws(Failure) -> String? {
    let replacement = Replacement(
      database: database, copy: backup, keptName: database + ".before-restore",
      copier: copier)
    guard try DatabaseFile.exists(database) else { return try replacement.install() }
    // A single failed read looks like damage: SQLite reports CORRUPT where Linux reports EIO. So two
    // connections must find the damage before schemactl replaces the file.
    guard try damage(replacement.copier) != nil, let damage = try damage(replacement.copier) else {
      return try replacement.overwrite()
    }
    onEvent(.note("\(damage): schemactl sets it aside as a file"))
    return try replacement.install()
  }

  /// The reason why the file must be replaced: it is empty, or SQLite cannot lock or read it; nil without
  /// one.
  private func damage(_ copier: Copier) throws(Failure) -> String? {
    guard DatabaseFile.size(database) > 0 else { return "`\(database)` is empty" }
    let connection = try copier.open(database)
    do {
      try connection.execute("BEGIN IMMEDIATE")
      _ = try connection.value("SELECT count(*) FROM main.sqlite_schema")
      try connection.execute("ROLLBACK")
      return nil
    } catch {
      switch error.code {
      case .corrupt: return "`\(database)` is damaged (\(error.message))"
      case .notADatabase:
        return "`\(database)` is not an SQLite database, or its beginning is damaged"
      default:
        let failure = Failure(error, database: database)
        throw Failure(failure.status, failure.message + ". Nothing changed")
      }
    }
  }
}
