import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
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
        .interrupted, "interrupted: schemactl removed the copy, and \(database) is unchanged")
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
  /// - Throws: when it is not ours (1), or its ledger and the history disagree (4, 2
  ///   or 1); the message says what to do.
  package func trialCopy(
    of readable: ReadableDatabase, timeout: Double, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> TrialCopy {
    let database = readable.name
    let live = try live(in: readable)
    try requireUsableLedger(live.rows, of: database)
    let copier = Copier(timeout: timeout, interruption: interruption, onEvent: onEvent)
    return try TrialCopy(
      of: database, trialFile(of: readable, copier), live.known, application)
  }
}
