import History
import SQLText
import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Puts a backup in a database's place. It needs no history: at night the folder of the migrations
/// may be elsewhere.
package struct Restore {
  package let database: String
  package let backup: String
  /// Also a backup of another database, or one that the history does not know.
  package var force = false
  package var timeout = 5.0
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  package init(
    _ database: String, from backup: String, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) {
    self.database = database
    self.backup = backup
    self.interruption = interruption
    self.onEvent = onEvent
  }

  package struct Report: Sendable {
    /// What was put back.
    package let backup: String
    /// What the database was before; nil when there was nothing.
    package let setAside: String?
    /// The last migration that the database has run now.
    package let current: String?
  }

  /// - Parameter project: nil when the history is not at hand.
  /// - Throws: what is wrong with the backup, with the database before, or with the result.
  package func run(_ project: Project?) throws(Failure) -> Report {
    let rows = try examine()
    try requireFitting(rows, project)
    let setAside = try putBack()
    try examineResult(setAside)
    return Report(backup: backup, setAside: setAside, current: rows.last?.id)
  }

  private var copier: Copier {
    Copier(timeout: timeout, interruption: interruption, onEvent: onEvent)
  }

  // MARK: Before

  /// The ledger of a backup that is whole.
  private func examine() throws(Failure) -> [LedgerRow] {
    try requireOtherFile()
    let connection = try DatabaseFile.openStill(
      backup, timeout: timeout, interruption: interruption)
    do {
      if try connection.value("PRAGMA main.page_count") == 0 {
        let size = FreeSpace.size(DatabaseFile.size(backup))
        throw unusable("\(backup) is empty (\(size))", .inputOutput)
      }
    } catch let error as DatabaseError {
      throw unusable(
        Failure(error, database: backup).withoutRestoring(backup).message, error.status)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.bug, "\(error)")
    }
    try check(connection, backup) { unusable("\(backup) is damaged: \($0)", .inputOutput) }
    do throws(Failure) {
      return try LiveDatabase(connection, path: backup).rows ?? []
    } catch {
      if force, error.status == .brokenHistory { return [] }
      throw error.withoutRestoring(backup)
    }
  }

  private func unusable(_ message: String, _ status: ExitStatus) -> Failure {
    let isBeside = parentFolder(of: backup) == parentFolder(of: database)
    let backups = Backups(of: database, in: isBeside ? nil : parentFolder(of: backup))
    return Failure(
      status,
      message + ". Nothing was changed. " + backups.advice(insteadOf: backup, timeout: timeout))
  }

  private func check(
    _ connection: Connection, _ path: String, _ damaged: (String) -> Failure
  ) throws(Failure) {
    do {
      switch try connection.soundness() {
      case .sound: return
      case .damaged(let problem): throw damaged(problem)
      case .unknown(let reason):
        onEvent(.note("\(path) could not be checked as a whole: \(reason)"))
      }
    } catch {
      throw Failure(of: error, database: path)
    }
  }

  private func requireOtherFile() throws(Failure) {
    guard try DatabaseFile.exists(backup) else {
      throw Failure(.notFound, "there is no backup \(backup). Nothing was changed")
    }
    var live = stat()
    var kept = stat()
    guard stat(database, &live) == 0, stat(backup, &kept) == 0 else { return }
    guard live.st_ino != kept.st_ino || live.st_dev != kept.st_dev else {
      throw Failure(.usage, "\(backup) is the database itself. Nothing was changed")
    }
  }

  private func requireFitting(_ rows: [LedgerRow], _ project: Project?) throws(Failure) {
    guard !force, let problem = try misfit(rows, project) else { return }
    throw Failure(
      .finding, "\(problem). Nothing was changed; --force puts it back all the same")
  }

  private func misfit(
    _ rows: [LedgerRow], _ project: Project?
  ) throws(Failure) -> String? {
    guard let first = rows.first else {
      let isOurs = (try? Backups(of: database).all())?.contains { $0.path == backup } ?? false
      return isOurs ? nil : "\(backup) has run no migration: schemactl has not made it"
    }
    let own = try DatabaseFile.knownLedger(of: database, timeout: timeout)
    if own.isEmpty, parentFolder(of: backup) != parentFolder(of: database) {
      onEvent(
        .note(
          "\(database) has no ledger to tell by whether the backup is its own: it is of the one that "
            + "ran \(first.id) at \(first.startedAt)"))
    }
    if areOfOneDatabase(rows, own) == false {
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
    let isThere = try DatabaseFile.exists(database)
    if isThere, let problem = try reasonNotToWrite() {
      onEvent(.note("\(problem): it is set aside as a file"))
    } else if isThere {
      return try copier.replace(database, by: backup, keepingAs: database + ".before-restore")
    }
    return try Installation(database: database, copier: copier).run(backup)
  }

  /// Why SQLite cannot write to what is there, be it that it is no database any more.
  ///
  /// A read that fails may look like damage: SQLite says CORRUPT where Linux says EIO. So it is
  /// asked twice, by two connections, before a file is put in a database's place.
  private func reasonNotToWrite() throws(Failure) -> String? {
    try problem() == nil ? nil : problem()
  }

  private func problem() throws(Failure) -> String? {
    // It has no counter that would tell who writes to it meanwhile.
    guard DatabaseFile.size(database) > 0 else { return "\(database) is empty" }
    do {
      let connection = try copier.open(database, .readWrite)
      try connection.execute("BEGIN IMMEDIATE")
      _ = try connection.value("SELECT count(*) FROM main.sqlite_schema")
      try connection.execute("ROLLBACK")
      return nil
    } catch {
      guard error.code == .notADatabase || error.code == .corrupt else {
        let failure = Failure(error, database: database)
        throw Failure(failure.status, failure.message + ". Nothing was changed")
      }
      return error.code == .corrupt
        ? "\(database) is damaged (\(error.message))"
        : "\(database) is not an SQLite database, or its beginning is damaged"
    }
  }

  private func examineResult(_ setAside: String?) throws(Failure) {
    let kept = setAside.map { ". What it held is in \($0)" } ?? ""
    do throws(Failure) {
      // It is there: a signal that comes now comes too late.
      let connection = try DatabaseFile.openForReading(database, timeout: timeout)
      try check(connection, database) { problem in
        Failure(
          .inputOutput,
          "it is damaged, so the disk may be failing: \(problem)")
      }
    } catch {
      throw Failure(
        error.status,
        "\(backup) was put back into \(database), which was not found sound then: "
          + error.message + kept)
    }
  }
}
