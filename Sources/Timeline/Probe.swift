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
  /// Unknown, because SQLite refuses the expression with this message. It may call a function of
  /// the application.
  case unknown(String)
}

/// Determines the effects of SQL on rows by running it in a private database.
final class Probe {
  private let application: Application
  private var opened: Connection?
  /// The error that prevented an answer. Earlier answers are invalid then.
  private(set) var fault: DatabaseError?

  init(_ application: Application) {
    self.application = application
  }

  private var connection: Connection {
    get throws(DatabaseError) {
      if let opened { return opened }
      let connection = try Connection(path: nil)
      // `registerStubs` would let a missing function return NULL.
      try application.register(on: connection)
      try connection.execute("CREATE TABLE one_row (a); INSERT INTO one_row VALUES (1)")
      opened = connection
      return connection
    }
  }

  /// Runs `body` and rolls back its changes.
  private func answer<Answer>(
    _ body: (Connection) throws(DatabaseError) -> Answer
  ) -> Result<Answer, DatabaseError> {
    do {
      let connection = try connection
      return .success(
        try connection.rollingBack { () throws(DatabaseError) in try body(connection) })
    } catch {
      if error.isFault { fault = fault ?? error }
      return .failure(error)
    }
  }

  /// How the value of a DEFAULT varies.
  func outcome(ofDefault text: String) -> DefaultOutcome {
    // Literals and names are constants.
    guard text.utf8.contains(UInt8(ascii: "(")) || isTimeOfDay(text) else { return .constant }
    let result = answer { (connection) throws(DatabaseError) in
      // `MissingName` can read the message that SQLite reports for an unknown function in a SELECT,
      // but not the message for an INSERT.
      _ = try connection.prepare("SELECT \(text)")
      try connection.execute("CREATE TABLE two_rows (a, b DEFAULT \(text))")
      // Both times are on one date. A default that uses only the date counts as constant, because
      // no migration depends on its change from day to day.
      return try ["12:00:00", "23:17:41"].map { (time) throws(DatabaseError) in
        try connection.fixClockAndChance(ChanceCounter(), at: time)
        try connection.execute(
          """
          DELETE FROM two_rows;
          INSERT INTO two_rows (a) VALUES (1); INSERT INTO two_rows (a) VALUES (2)
          """)
        return try connection.rows("SELECT b FROM two_rows ORDER BY a").map { $0[0] }
      }
    }
    switch result {
    case .failure(let error): return .unknown(error.message)
    case .success(let values) where values.contains(where: { $0[0] != $0[1] }): return .chance
    case .success(let values): return values[0] == values[1] ? .constant : .time
    }
  }

  private func isTimeOfDay(_ text: String) -> Bool {
    ["current_timestamp", "current_date", "current_time"].contains(text.identifier)
  }

  /// Values that a new CHECK refuses and the table's old CHECKs allow.
  enum Refused {
    /// A condition for some refused values: `status = 2`.
    case values(String)
    /// The CHECK refuses none of the tested values.
    case nothing
    /// The CHECK refuses none of the tested values and has the same result for all of them.
    case never
    /// The CHECKs cannot be evaluated.
    case unknown
  }

  /// Tests a new CHECK with values that the table accepted before: the literals of the CHECKs,
  /// their neighbours and some usual values.
  ///
  /// - Parameters:
  ///   - settled: the values of columns that are the same in every row, as SQL.
  ///   - neverNull: the columns that are not NULL in any row.
  func refused(
    by check: TableShape.Check, of table: TableShape, after old: [TableShape.Check],
    settled: [Identifier: String], neverNull: Set<Identifier>
  ) -> Refused {
    let columns = check.columns.sorted().compactMap(table.column)
    let free = columns.filter { settled[$0.key] == nil }
    guard let most = Self.mostCandidates[free.count] else { return .unknown }
    let candidates = candidates(of: [check] + old).prefix(most).map { "SELECT \($0)" }
      .joined(separator: " UNION ALL ")
    let sources = columns.enumerated().map { index, column in
      "(\(settled[column.key].map { "SELECT \($0)" } ?? candidates)) AS c\(index)"
    }
    let former =
      free.compactMap { $0.condition(in: table, isNeverNull: neverNull.contains($0.key)) }
      + old.filter { $0.columns.isSubset(of: check.columns) }.map { "coalesce((\($0.text)), 1)" }
    let names = columns.map { Quoting.quoted($0.name) }
    let tableName = Quoting.quoted(table.name)
    let result = answer { (connection) throws(DatabaseError) in
      let definitions = zip(names, columns).map { $0 + ($1.type.map { " \($0)" } ?? "") }
      try connection.execute(
        """
        CREATE TABLE \(tableName) (\(definitions.joined(separator: ", ")));
        INSERT INTO \(tableName) SELECT * FROM \(sources.joined(separator: ", "));
        """)
      // Keep the shortest row for each outcome.
      return try connection.rows(
        """
        SELECT coalesce(NOT (\(check.text)), 2) AS outcome,
          \(names.map { "quote(\($0))" }.joined(separator: ", ")),
          min(length(\(names.map { "quote(\($0))" }.joined(separator: " || "))))
        FROM \(tableName) WHERE \((former + ["1"]).joined(separator: " AND ")) GROUP BY outcome
        """)
    }
    guard case .success(let outcomes) = result else { return .unknown }
    guard let row = outcomes.first(where: { $0[0] == .integer(1) }) else {
      return outcomes.count == 1 ? .never : .nothing
    }
    let values = zip(columns, row.dropFirst()).map { column, value in
      "\(column.name) = \((value.text ?? "NULL").shortened)"
    }
    return .values(values.joined(separator: ", "))
  }

  /// The maximum number of candidates per column, by the number of varied columns. All combinations
  /// are tested.
  private static let mostCandidates = [1: 100, 2: 80, 3: 24, 4: 10]

  /// The candidate values. Values from the CHECKs come first.
  private func candidates(of checks: [TableShape.Check]) -> [String] {
    var (named, nearby, lengths): ([String], [String], [String]) = ([], [], [])
    for token in checks.flatMap(\.tokens) {
      let text = String(decoding: token, as: UTF8.self)
      if let number = Int64(text), number < Int64.max - 1 {
        named.append(text)
        nearby += ["\(number - 1)", "\(number + 1)", "\(-number)"]
        // A number in the CHECK of a text is usually a length.
        if (1...5000).contains(number) {
          lengths += [number, number + 1].map { "printf('%.*c', \($0), 'x')" }
        }
      } else if text.hasPrefix("'") || Double(text) != nil {
        named.append(text)
      }
    }
    let usual = ["0", "1", "''", "'x'", "-1", "2", "1.5"]
    let odd = ["-1e18", "1e18", "x'00'", "hex(zeroblob(50000))"]
    var seen: Set<ExactText> = []
    let groups: [[String]] = [
      ["NULL"], Array(named.prefix(40)), usual, odd, Array(lengths.prefix(20)), nearby,
    ]
    return groups.joined().filter { seen.insert($0) }
  }
}

extension TableShape.Column {
  /// A condition that SQLite ensures for every value of the column; nil if it ensures none.
  fileprivate func condition(in table: TableShape, isNeverNull: Bool) -> String? {
    let name = Quoting.quoted(name)
    let type: Identifier = type?.identifier ?? ""
    let isOfType: String? =
      switch type {
      case _ where !table.isStrict, "any": nil
      case "int": "'integer'"
      default: "lower('\(type)')"
      }
    let isNeverNull = isNeverNull || table.isNeverNull(self)
    return switch (isOfType, isNeverNull) {
    case (let type?, true): "typeof(\(name)) = \(type)"
    case (let type?, false): "typeof(\(name)) IN (\(type), 'null')"
    case (nil, true): "\(name) IS NOT NULL"
    case (nil, false): nil
    }
  }
}
