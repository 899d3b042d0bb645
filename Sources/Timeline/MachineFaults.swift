import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Connection {
  /// What SQLite says when it refuses the statement; nil when it runs.
  package func refusal(of sql: String) throws(DatabaseError) -> String? {
    do {
      try execute(sql)
      return nil
    } catch {
      guard !error.isOfMachine else { throw error }
      return error.message
    }
  }
}

extension DatabaseError {
  /// Whether the machine, or a limit of the scratch database, is at fault. On a private database in memory
  /// every other error is an answer: a
  /// virtual table that a trigger writes may report that it is corrupt or read-only.
  package var isOfMachine: Bool {
    exceeded != nil || [.outOfMemory, .interrupted, .ioError, .full, .cannotOpen].contains(code)
  }
}

/// Runs `body`, and reports an error of SQLite as a failure.
///
/// - Parameter subject: what failed, for the message.
package func reportingFailure<Result>(
  of subject: String, _ body: () throws -> Result
) throws(Failure) -> Result {
  do {
    return try body()
  } catch let failure as Failure {
    throw failure
  } catch let error as DatabaseError {
    throw Failure(error.status, "\(subject) failed: \(error.inWords)")
  } catch {
    throw Failure(.bug, "\(error)")
  }
}
