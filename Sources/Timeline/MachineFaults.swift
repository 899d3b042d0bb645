import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Connection {
  /// SQLite's message if it refuses the statement; nil if the statement runs.
  package func refusal(of sql: String) throws(DatabaseError) -> String? {
    do {
      try execute(sql)
      return nil
    } catch {
      guard !error.isEnvironmentalFault else { throw error }
      return error.message
    }
  }
}

extension DatabaseError {
  /// Whether the machine or a limit of the scratch database caused the error. Every other error on
  /// a private in-memory database is a result of the statement: for example, a virtual table that a
  /// trigger writes to may report that it is corrupt or read-only.
  package var isEnvironmentalFault: Bool {
    exceeded != nil || [.outOfMemory, .interrupted, .ioError, .full, .cannotOpen].contains(code)
  }
}

/// Runs `body`, and converts an error of SQLite to a failure.
///
/// - Parameter subject: the failing action, for the message.
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
