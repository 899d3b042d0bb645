import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Puts a backup in a database's place. It works without the history: the folder of the migrations may be
/// elsewhere.
package struct Restore {
  package let database: String
  package let backup: String
  let ledger: Ledger
  /// Also a backup of another database, or one that the history does not know.
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
    /// The last migration that the database has run now.
    package let current: String?
  }

  /// - Parameter project: nil without a history.
  /// - Throws: when the backup or the database cannot be used.
  package func run(_ project: Project?) throws(Failure) -> Report {
    let rows = try examine()
    if !force, let problem = try misfit(rows, project) {
      throw Failure(
        .finding, "\(problem). Nothing was changed; --force restores it anyway")
    }
    return Report(backup: backup, setAside: try putBack(), current: rows.last?.id)
  }

  // MARK: Before

  /// The ledger of a backup that is not damaged.
  private func examine() throws(Failure) -> [LedgerRow] {
    guard try DatabaseFile.exists(backup) else {
      throw Failure(.notFound, "backup \(backup) does not exist. Nothing was changed")
    }
    if let live = FileStatus(database), FileStatus(backup)?.isSameFile(as: live) == true {
      throw Failure(.usage, "\(backup) is the database itself. Nothing was changed")
    }
    let connection = try DatabaseFile.openCopy(
      backup, timeout: timeout, interruption: interruption)
    let pages: Value?
    do {
      pages = try connection.value("PRAGMA main.page_count")
    } catch {
      let failure = Failure(error, database: backup).withoutRemedy
      throw unusable(failure.message, failure.status)
    }
    if pages == 0 {
      let size = FreeSpace.size(DatabaseFile.size(backup))
      throw unusable("\(backup) is empty (\(size))", .inputOutput)
    }
    do {
      switch try connection.soundness() {
      case .sound: break
      case .damaged(let problem):
        throw unusable("\(backup) is damaged: \(problem)", .inputOutput)
      case .unknown(let reason):
        onEvent(.note("\(backup) could not be checked completely: \(reason)"))
      }
    } catch {
      throw Failure(of: error, database: backup)
    }
    do throws(Failure) {
      return try LiveDatabase(connection, ledger, path: backup).rows ?? []
    } catch {
      if force, error.status == .brokenHistory { return [] }
      throw error.withoutRemedy
    }
  }

  private func unusable(_ message: String, _ status: ExitStatus) -> Failure {
    let isBeside = parentFolder(of: backup) == parentFolder(of: database)
    let backups = Backups(
      of: database, ledger, in: isBeside ? nil : parentFolder(of: backup))
    return Failure(
      status,
      message + ". Nothing was changed. " + backups.advice(insteadOf: backup, timeout: timeout))
  }

  /// Why the backup is not one of this database and this history.
  private func misfit(
    _ rows: [LedgerRow], _ project: Project?
  ) throws(Failure) -> String? {
    guard let first = rows.first else {
      let isNamedSo =
        (try? Backups(of: database, ledger).all())?.contains { $0.path == backup } ?? false
      return isNamedSo ? nil : "\(backup) has run no migration: it is not a backup of schemactl"
    }
    let own = try DatabaseFile.knownLedger(of: database, ledger, timeout: timeout)
    if own.isEmpty, parentFolder(of: backup) != parentFolder(of: database) {
      onEvent(
        .note(
          "\(database) has no ledger, so schemactl cannot check whether the backup belongs to "
            + "it: the backup is of the database that ran \(first.id) at \(first.startedAt)"))
    }
    if isSameDatabase(rows, own) == false {
      return "\(backup) is of another database: it ran \(first.id) at \(first.startedAt), and "
        + "\(database) ran \(own[0].id) at \(own[0].startedAt)"
    }
    guard let project else { return nil }
    let unknown = compareLedger(rows, with: project.migrations, project.lock)
      .filter { $0.state == .unknown }.map(\.id)
    return unknown.isEmpty
      ? nil
      : "\(backup) has run migrations that \(project.folder.path) does not hold: "
        + unknown.joined(separator: ", ")
  }

  // MARK: In its place

  private func putBack() throws(Failure) -> String? {
    let replacement = Replacement(
      database: database, copy: backup, keptName: database + ".before-restore",
      copier: Copier(timeout: timeout, interruption: interruption, onEvent: onEvent))
    guard try DatabaseFile.exists(database) else { return try replacement.install() }
    // A read that fails once looks like damage: SQLite reports CORRUPT where Linux reports EIO. Two
    // connections have to find it before a file is put in a database's place.
    guard try damage(replacement.copier) != nil, let damage = try damage(replacement.copier) else {
      return try replacement.overwrite()
    }
    onEvent(.note("\(damage): it is set aside as a file"))
    return try replacement.install()
  }

  /// Why SQLite cannot write to the database, or cannot tell who else does.
  private func damage(_ copier: Copier) throws(Failure) -> String? {
    guard DatabaseFile.size(database) > 0 else { return "\(database) is empty" }
    let connection = try copier.open(database)
    do {
      try connection.execute("BEGIN IMMEDIATE")
      _ = try connection.value("SELECT count(*) FROM main.sqlite_schema")
      try connection.execute("ROLLBACK")
      return nil
    } catch {
      switch error.code {
      case .corrupt: return "\(database) is damaged (\(error.message))"
      case .notADatabase:
        return "\(database) is not an SQLite database, or its beginning is damaged"
      default:
        let failure = Failure(error, database: database)
        throw Failure(failure.status, failure.message + ". Nothing was changed")
      }
    }
  }
}
