import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A copy of a database to try migrations on. It is beside the database, and removed with the last
/// reference. The database itself is only read.
package final class TrialCopy {
  package let database: String
  package let connection: Connection
  package let calls: CallRecord
  /// The migrations in its ledger.
  package let known: Set<ExactText>
  private let file: TemporaryFile

  fileprivate init(
    of database: String, _ file: TemporaryFile, _ known: Set<ExactText>,
    _ application: Application
  ) throws(Failure) {
    self.database = database
    self.file = file
    self.known = known
    do {
      connection = try Connection(path: file.path, mode: .readWrite)
      // The copy need not survive a power cut.
      try connection.execute("PRAGMA main.synchronous = OFF")
      calls = try application.register(on: connection)
    } catch {
      throw Failure(error, database: "the copy of \(database)")
    }
  }

  /// The failure without the path of the copy, which is removed before anybody reads the message.
  package func reported(_ failure: Failure) -> Failure {
    guard failure.status != .interrupted else {
      return Failure(
        .interrupted, "interrupted: the copy was removed, and \(database) was not changed")
    }
    let isOfDatabase = [.corrupt, .notADatabase].contains(failure.fault?.code)
    return failure.naming(isOfDatabase ? database : "the copy of \(database)")
  }

  /// Lets functions that the schema names have the effects that they had on a device, where the schema is
  /// the one that the history promises.
  ///
  /// - Parameter expected: the schema after the migrations that the database has run.
  /// - Returns: how the database differs from it.
  package func trustIfUnchanged(
    _ expected: Schema, _ project: Project
  ) throws(Failure) -> [SchemaChange] {
    let live = try LiveDatabase(connection, project.ledger, path: database).schema
    let drift = project.drift(of: live, from: expected)
    connection.set(
      .trustedSchema, to: drift.isEmpty && !project.holdsCode(live, beside: expected))
    return drift
  }
}

extension Project {
  /// Copies a database to try its pending migrations on the copy.
  ///
  /// - Throws: when it does not exist (66), is not ours (1), or its ledger and the history disagree (4, 2
  ///   or 1); the message says what to do.
  package func trialCopy(
    of database: String, timeout: Double, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> TrialCopy {
    try DatabaseFile.require(database)
    let live = try live(
      on: DatabaseFile.openForReading(database, timeout: timeout, interruption: interruption),
      path: database)
    _ = try requireUsableLedger(live.rows, of: database)
    let copier = Copier(timeout: timeout, interruption: interruption, onEvent: onEvent)
    return try TrialCopy(
      of: database, trialFile(of: database, copier), live.known,
      application)
  }

  package func trialFile(
    of database: String, _ copier: Copier
  ) throws(Failure) -> TemporaryFile {
    do throws(Failure) {
      // A migration may write a table a second time, and the old pages into a journal.
      return try copier.copy(
        copier.openForCopying(database), for: database,
        "a copy of \(database) to try the migrations on"
      ) { $0.saturatingTimes(3) }
    } catch {
      guard !isWritableFolder(parentFolder(of: database)) else { throw error }
      throw Failure(
        error.status,
        "\(error.message). The copy needs a writable folder: copy the database to another "
          + "folder, and run the command there")
    }
  }
}

/// The effects of `migrate` on a copy of the database. The database itself was only read.
package struct RehearsalReport: Sendable {
  package let run: MigrateReport
  /// Of the migrations alone, without the copying.
  package let milliseconds: Int64

  package var status: ExitStatus { run.status }
}

extension Project {
  /// Runs the pending migrations on a copy beside the database, and removes the copy.
  ///
  /// Nothing is switched off on the copy: with the journal and the syncs that the database itself has, the
  /// times are those that it will take.
  package func rehearse(
    _ options: MigrateOptions, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> RehearsalReport {
    let database = options.database
    let exists = try DatabaseFile.exists(database)
    if !exists, options.existing { throw Failure(.notFound, "database \(database) does not exist") }
    if exists, let run = try liveReport(options, checkedTargets(options), interruption).report {
      return RehearsalReport(run: run, milliseconds: 0)
    }
    let copier = Copier(timeout: options.timeout, interruption: interruption, onEvent: onEvent)
    let file = try exists ? trialFile(of: database, copier) : copier.makeEmpty(for: database)
    var options = options
    options.trialFile = file.path
    options.backup = nil
    let time = Stopwatch()
    defer { withExtendedLifetime(file) {} }
    var report = try migrate(options, interruption: interruption, onEvent: onEvent)
    if interruption.isRequested, report.failure != nil {
      report.failure = Failure(
        .interrupted, "interrupted: the copy was removed, and \(database) was not changed")
    }
    return RehearsalReport(run: report, milliseconds: time.milliseconds)
  }
}
