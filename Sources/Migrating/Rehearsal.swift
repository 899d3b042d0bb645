import History
import SQLText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What `migrate` did to a copy of the database. The database itself was only read.
package struct RehearsalReport: Sendable {
  package let run: MigrateReport
  /// Of the migrations alone, without the copying.
  package let milliseconds: Int64

  package var status: ExitStatus { run.status }
}

extension Project {
  /// Runs what is pending on a copy beside the database, which goes afterwards.
  ///
  /// Nothing is switched off on the copy: with the journal and the syncs that the database itself
  /// will have, the times are those that it will take.
  package func rehearse(
    _ options: MigrateOptions, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> RehearsalReport {
    let database = options.database
    let exists = try DatabaseFile.exists(database)
    if !exists, options.existing { throw Failure(.notFound, "there is no database \(database)") }
    if exists {
      let live = try LiveDatabase(
        DatabaseFile.openForReading(database, timeout: options.timeout), path: database)
      try requireIntactHistory()
      guard try isBehind(live, targets(options), options) else {
        var run = MigrateReport()
        run.beyond = beyond(database, live.rows, options)
        return RehearsalReport(run: run, milliseconds: 0)
      }
    }
    let copy = exists ? try copy(options, interruption, onEvent) : try PartialCopy(as: database)
    var options = options
    options.database = copy.path
    options.backup = nil
    options.isRehearsal = true
    let start = ContinuousClock.now
    do throws(Failure) {
      var report = try migrate(options, interruption: interruption, onEvent: onEvent)
      report.failure = report.failure.map { said($0, of: copy, interruption, database) }
      return RehearsalReport(
        run: report, milliseconds: (ContinuousClock.now - start).milliseconds)
    } catch {
      throw said(error, of: copy, interruption, database)
    }
  }

  func copy(
    _ options: MigrateOptions, _ interruption: Interruption,
    _ onEvent: @escaping (MigrateEvent) -> Void
  ) throws(Failure) -> PartialCopy {
    let copier = Copier(timeout: options.timeout, interruption: interruption, onEvent: onEvent)
    for _ in 0..<5 {
      do throws(Failure) {
        // A migration may write a table a second time, and its journal the first one's pages.
        let copy = try copier.copy(
          options.database, as: options.database,
          "a copy of \(options.database) to try the migrations on"
        ) { $0.saturatingTimes(3) }
        if let copy { return copy.partial }
      } catch {
        guard access(parentFolder(of: options.database), W_OK) != 0 else { throw error }
        throw Failure(
          error.status,
          "\(error.message). The copy goes beside the database, so the folder must be writable: "
            + "copy the database to one that is, and try the migrations there")
      }
    }
    throw Failure(
      .busy,
      "\(options.database) cannot be copied: others keep writing to it. Nothing was changed; try "
        + "again when less is written")
  }

  /// The copy is gone when the message is read.
  private func said(
    _ failure: Failure, of copy: PartialCopy, _ interruption: Interruption, _ database: String
  ) -> Failure {
    let message =
      interruption.isRequested
      ? "interrupted: the copy is gone, and \(database) was not changed"
      : failure.message
        .replacing(Failure.restoring(copy.path), with: Failure.restoring(database))
        .replacing(copy.path, with: "the copy of \(database)")
    return Failure(
      failure.status, message, place: failure.place, migration: failure.migration)
  }
}
