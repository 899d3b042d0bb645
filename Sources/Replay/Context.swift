import SchemaHistory
import SchemaManifest
import SchemaSQLText
import SchemaSQLite

/// What a message needs to say where it comes from: the migration and the operation that runs.
package struct Context {
  package let migration: Migration
  /// Counted from 0.
  package let index: Int
  package let operation: Operation
  private let name: String?

  package init(migration: Migration, index: Int, operation: Operation) {
    self.migration = migration
    self.index = index
    self.operation = operation
    name = "\(index + 1) \(operation.name)"
  }

  package init(migration: Migration, assertion: Assertion) {
    self.migration = migration
    index = 0
    operation = Operation(name: "assert", kind: .assert(assertion), position: assertion.position)
    name = "assertion"
  }

  package init(migration: Migration) {
    self.migration = migration
    index = 0
    operation = Operation(name: "sql", kind: .sql([]), position: Position(line: 1, column: 1))
    name = nil
  }

  package func failure(
    _ status: ExitStatus, _ message: String, key: String? = nil, position: Position? = nil,
    statement: String? = nil, remedy: String? = nil
  ) -> Failure {
    let place = position ?? key.flatMap { operation.keys[$0] } ?? operation.position
    return Failure(
      status, message, remedy: remedy, place: Failure.Place(file: migration.file, position: place),
      migration: Failure.FailedMigration(id: migration.id, operation: name, statement: statement))
  }

  /// The failure for SQLite's error in a statement. A fault of disk, lock or memory is not the migration's; a
  /// scratch database, which has no file, has only its memory and temporary files.
  ///
  /// - Returns: for any other error, a bug; for a failure, the failure itself.
  package func failure(
    _ error: any Error, position: Position? = nil, statement: String? = nil,
    onScratch: Bool = false
  ) -> Failure {
    if let failure = error as? Failure { return failure }
    guard let error = error as? DatabaseError else { return failure(.bug, "\(error)") }
    if let exceeded = error.exceeded {
      var failure = failure(
        .migrationFailed, exceeded.inWords, position: position, statement: statement ?? error.sql)
      failure.exceeded = exceeded
      return failure
    }
    let ofShadows: [ResultCode] = [.interrupted, .outOfMemory, .ioError, .cannotOpen]
    let isFault = onScratch ? ofShadows.contains(error.code) : error.isFault
    var failure = failure(
      isFault ? error.status : .migrationFailed, error.message + advice(on: error),
      position: position, statement: statement ?? error.sql)
    failure.fault = isFault ? error : nil
    failure.cause = error
    return failure
  }

  /// SQLite does not rewrite what reads a renamed column from a view.
  private func advice(on error: DatabaseError) -> String {
    error.message.hasPrefix("error in ") && error.message.contains(" after rename: ")
      ? ". Drop it first, and create it again afterwards" : ""
  }
}

extension DatabaseError {
  /// What SQLite said, or which limit of a scratch database stopped it.
  package var inWords: String { exceeded?.inWords ?? message }
}

extension WorkLimit.Exceeded {
  package var inWords: String {
    switch self {
    case .seconds(let seconds):
      "this statement exceeded the replay time limit of \(counted(seconds)) s. If it does end, raise "
        + "`replay: { seconds: … }` in schemactl.yaml"
    case .megabytes(let megabytes):
      "this statement exceeded the replay size limit of \(megabytes) MB. If it needs more, raise "
        + "`replay: { megabytes: … }` in schemactl.yaml"
    }
  }

  private func counted(_ seconds: Double) -> String {
    Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
  }
}
