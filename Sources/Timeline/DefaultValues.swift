import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// How a DEFAULT's value varies when SQLite evaluates it for several rows.
package enum DefaultOutcome: Sendable, Equatable {
  /// The same value in each row.
  case constant
  /// A value that depends on the time but is the same in rows that are inserted together.
  case time
  /// A different value in each row.
  case chance
  /// Unknown, because it calls a function of the application.
  case unknown
}

/// Evaluates DEFAULTs in private databases with a fixed clock.
struct DefaultValues {
  private let connections: [Connection]
  private var known: [ExactText: DefaultOutcome] = [:]

  init(_ application: Application) throws(DatabaseError) {
    // A value that uses only the date differs between days, and no migration depends on that.
    connections = try ["12:00:00", "23:17:41"].map { (time) throws(DatabaseError) in
      let connection = try Connection(path: nil)
      _ = try application.register(on: connection)
      try connection.fixClockAndChance(ChanceCounter(), at: time)
      return connection
    }
  }

  /// - Parameter text: the text after DEFAULT.
  mutating func outcome(of text: String) throws(DatabaseError) -> DefaultOutcome {
    if let outcome = known[text] { return outcome }
    let outcome = try evaluated(text)
    known[text] = outcome
    return outcome
  }

  private func evaluated(_ text: String) throws(DatabaseError) -> DefaultOutcome {
    var values: [[Value]] = []
    for connection in connections {
      do {
        try connection.execute("CREATE TABLE one (a, b DEFAULT \(text))")
        defer { try? connection.execute("DROP TABLE one") }
        try connection.execute("INSERT INTO one (a) VALUES (1); INSERT INTO one (a) VALUES (2)")
        values.append(try connection.rows("SELECT b FROM one ORDER BY a").map { $0[0] })
      } catch {
        if error.isFault { throw error }
        return .unknown
      }
    }
    if values.contains(where: { $0[0] != $0[1] }) { return .chance }
    return values[0] == values[1] ? .constant : .time
  }
}
