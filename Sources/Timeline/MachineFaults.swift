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
  /// Whether the machine, or a limit of the scratch database, is at fault. On a private database in memory everything else is an answer: a
  /// virtual table that a trigger writes may say that it is corrupt, or read-only.
  package var isOfMachine: Bool {
    exceeded != nil || [.outOfMemory, .interrupted, .ioError, .full, .cannotOpen].contains(code)
  }
}
