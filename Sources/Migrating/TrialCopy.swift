import History
import Planning
import SQLText
import SQLite
import SchemaModel

/// A copy of a database to try migrations on, which stands beside it and goes with the last reference.
/// The database itself is only read.
package final class TrialCopy {
  package let database: String
  package let connection: Connection
  package let calls: CallRecord
  /// The migrations that its ledger has.
  package let known: Set<ExactText>
  private let file: PartialCopy

  fileprivate init(
    of database: String, _ file: PartialCopy, _ known: Set<ExactText>, _ application: Application
  ) throws(Failure) {
    self.database = database
    self.file = file
    self.known = known
    do {
      connection = try Connection(path: file.path, mode: .readWrite)
      // Nobody needs what is written there.
      try connection.execute("PRAGMA main.synchronous = OFF")
      calls = try application.register(on: connection)
    } catch {
      throw Failure(error, database: file.path).said(of: file.path, copiedFrom: database)
    }
  }

  /// In words that make sense once the copy is gone.
  package func said(_ failure: Failure) -> Failure {
    guard failure.status != .interrupted else {
      return Failure(
        .interrupted, "interrupted: the copy is gone, and \(database) was not changed")
    }
    return failure.naming(file.path).said(of: file.path, copiedFrom: database)
  }

  /// Lets what the schema names do what it did on a device: the schema is what the history promises.
  ///
  /// - Parameter expected: the schema after the migrations that the database has run.
  /// - Returns: how the database differs from it.
  package func trustIfUnchanged(
    _ expected: Schema, _ project: Project
  ) throws(Failure) -> [SchemaChange] {
    let live = try LiveDatabase(connection, path: file.path).schema
    let drift = compareSchemas(
      expected: expected, actual: project.comparable(live, with: expected))
    connection.set(
      .trustedSchema, to: drift.isEmpty && !project.holdsCode(live, beside: expected))
    return drift
  }
}

extension Project {
  /// Copies a database to try on it what it has not run yet.
  ///
  /// - Throws: when it is not there (66), is not ours (1), or its ledger and the history disagree (4, 2
  ///   or 1); the message says what to do.
  package func trialCopy(
    of database: String, timeout: Double, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> TrialCopy {
    try DatabaseFile.require(database)
    let live = try LiveDatabase(
      DatabaseFile.openForReading(database, timeout: timeout, interruption: interruption),
      path: database)
    try live.requireOurs(self, path: database)
    _ = try requireUsableLedger(live.rows, of: database)
    var options = MigrateOptions(database: database)
    options.timeout = timeout
    return try TrialCopy(
      of: database, copy(options, interruption, onEvent), Set((live.rows ?? []).map(\.id.exact)),
      application)
  }
}

extension Failure {
  fileprivate func said(of copy: String, copiedFrom database: String) -> Failure {
    Failure(
      status,
      message.replacing(Self.restoring(copy), with: Self.restoring(database))
        .replacing(copy, with: "the copy of \(database)"),
      place: place, migration: migration)
  }
}
