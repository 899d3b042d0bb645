import SchemaApply
import SchemaCopies
import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The effects of `migrate` on a copy of the database. The database itself was only read.
package struct RehearsalReport: Sendable {
  package let run: MigrateReport
  /// The time for the migrations and the inspection, without the copying.
  package let milliseconds: Int64

  package var status: ExitStatus { run.status }
}

extension Project {
  /// Runs the pending migrations on a copy beside the database, and removes the copy.
  ///
  /// The copy has the same journal mode and syncs as the database, so the migrations take as long as on the
  /// database itself.
  ///
  /// - Parameters:
  ///   - readable: nil if the file does not exist.
  ///   - inspect: called with the copy after the migrations.
  package func rehearse(
    _ options: MigrateOptions, for readable: ReadableDatabase?,
    interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in },
    inspecting inspect: ((Connection) throws(Failure) -> Void)? = nil
  ) throws(Failure) -> RehearsalReport {
    let database = options.database
    if let readable {
      let view = try view(of: readable)
      let run = try view.liveReport(
        options, view.checkedTargets(options, for: readable), of: readable
      ).report
      if let run { return RehearsalReport(run: run, milliseconds: 0) }
    }
    let copier = Copier(timeout: options.timeout, interruption: interruption, onEvent: onEvent)
    let file =
      if let readable {
        try trialFile(of: readable, copier)
      } else {
        try copier.makeEmpty(for: database)
      }
    var options = options
    options.trialFile = file.path
    options.backup = nil
    let time = Stopwatch()
    defer { withExtendedLifetime(file) {} }
    let copy = try DatabaseFile.openForReading(
      file.path, timeout: options.timeout, interruption: interruption)
    var report = try migrate(
      options, reading: ReadableDatabase(copy, name: database), interruption: interruption,
      onEvent: onEvent)
    if interruption.isRequested, report.failure != nil {
      report.failure = Failure(
        .interrupted, "interrupted: schemactl removed the copy, and `\(database)` is unchanged")
    } else {
      try inspect?(
        DatabaseFile.openForReading(
          file.path, timeout: options.timeout, interruption: interruption))
    }
    return RehearsalReport(run: report, milliseconds: time.milliseconds)
  }

  /// A copy next to the database, for a trial of the migrations. It is removed with its last reference.
  private func trialFile(
    of readable: ReadableDatabase, _ copier: Copier
  ) throws(Failure) -> TemporaryFile {
    let database = readable.name
    do throws(Failure) {
      // A migration may write a table a second time, and the old pages into a journal.
      return try copier.copy(
        readable.connection, for: database,
        "a copy of `\(database)` to try the migrations on"
      ) { 3 * $0 }
    } catch {
      guard !isWritableFolder(parentFolder(of: database)) else { throw error }
      throw Failure(
        error.status,
        "\(error.message). The copy needs a writable folder: copy the database to another "
          + "folder, and run the command there")
    }
  }
}
