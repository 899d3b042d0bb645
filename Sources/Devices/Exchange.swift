import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// The actions of a device in one test.
struct Scenario: Sendable {
  /// The rows to insert, parents first.
  var insertions: [Insertion]
  /// Then the changes of columns in the last row.
  var edits: [(column: DeviceTable.Column, value: Value)] = []
  /// The folded name of the column that the scenario tests.
  var column: Identifier?

  var words: String {
    let rows = insertions.map(\.words)
    let list =
      rows.count > 1
      ? "\(rows.dropLast().joined(separator: ", ")) and \(rows[rows.count - 1])"
      : rows.joined()
    guard !edits.isEmpty else { return "creates \(list)" }
    let changes = edits.map { "\($0.column.name)=\($0.value.shortLiteral)" }
    return "creates \(list) and then sets \(changes.joined(separator: ", "))"
  }
}

/// Two devices that exchange records through a server.
struct Exchange {
  let sender: Device
  let receiver: Device
  var delivery: Delivery
  /// Whether the rows of a table are synced; its name is folded.
  let syncs: (Identifier) -> Bool

  /// The harm that the receiver does to the rows of a table. Nil if there is none, or if the sender
  /// itself cannot perform the scenario.
  func outcome(
    of scenario: Scenario, on table: DeviceTable
  ) throws(DatabaseError) -> Counterexample? {
    guard let sent = try send(scenario, table),
      var problem = try receive(sent.records), problem.table == table.key
    else { return nil }
    if case .changed = problem.harm {
      // Triggers may change received rows intentionally.
      receiver.connection.set(.triggers, to: false)
      defer { receiver.connection.set(.triggers, to: true) }
      guard let again = try receive(sent.records), again.table == table.key else { return nil }
      problem = again
      if case .changed(let value, let kept) = problem.harm,
        try goesBack(value, from: kept, problem.column, scenario, table)
      {
        return nil
      }
    }
    return Counterexample(
      table: table.name, column: problem.column ?? scenario.column, harm: problem.harm,
      actions: scenario.words, steps: sent.steps + problem.steps,
      tables: Set(sent.records.map(\.table)))
  }

  /// Whether the sender performs the scenario and the receiver accepts all of it unchanged.
  func isFine(_ scenario: Scenario, on table: DeviceTable) throws(DatabaseError) -> Bool {
    guard let sent = try send(scenario, table) else { return false }
    return try receive(sent.records) == nil
  }

  /// Whether the sender can perform the scenario.
  func isPossible(_ scenario: Scenario, on table: DeviceTable) throws(DatabaseError) -> Bool {
    try send(scenario, table) != nil
  }

  // MARK: Sending

  private struct Sent {
    var records: [ServerRecord] = []
    var steps: [Step] = []
  }

  /// The records that the scenario sends, in order; nil if the sender refuses it.
  private func send(
    _ scenario: Scenario, _ table: DeviceTable
  ) throws(DatabaseError) -> Sent? {
    try sender.trying { () throws(DatabaseError) -> Sent? in
      guard let rows = try create(scenario.insertions) else { return nil }
      var sent = Sent()
      sent.steps = scenario.insertions.map { Step(role: .sender, sql: $0.sql) }
      for row in rows {
        guard let values = try sender.stored(row) else { return nil }
        sent.records.append(ServerRecord(table: row.table, row: values))
      }
      guard !scenario.edits.isEmpty, let row = rows.last, var record = sent.records.last else {
        return sent
      }
      let update = table.update(scenario.edits, of: row)
      guard try sender.refusal(of: update) == nil, try sender.violation(in: table) == nil,
        let stored = try sender.stored(row)
      else { return nil }
      for (column, _) in scenario.edits {
        guard let value = stored[column.key], value != .null else { return nil }
        record.set(column.key, to: value)
      }
      sent.records.append(record)
      sent.steps.append(Step(role: .sender, sql: update))
      return sent
    }
  }

  /// Nil if the sender refuses a row.
  private func create(
    _ insertions: [Insertion]
  ) throws(DatabaseError) -> [RowIdentity]? {
    var rows: [RowIdentity] = []
    for insertion in insertions {
      guard try sender.refusal(of: insertion.sql) == nil,
        let row = try sender.identity(of: insertion)
      else { return nil }
      rows.append(row)
    }
    for key in Set(rows.map(\.table)).sorted() {
      if let table = try sender.table(key), try sender.violation(in: table) != nil { return nil }
    }
    return rows
  }

  // MARK: Receiving

  private struct Problem {
    let table: Identifier
    let column: Identifier?
    let harm: Harm
    let steps: [Step]
  }

  private func receive(_ records: [ServerRecord]) throws(DatabaseError) -> Problem? {
    try receiver.trying { () throws(DatabaseError) -> Problem? in
      var steps: [Step] = []
      for record in records where syncs(record.table) {
        // A missing table is a separate finding, which causes all other differences.
        guard let table = try receiver.table(record.table) else { return nil }
        let sql = delivery.statement(record, into: table)
        steps.append(Step(role: .receiver, sql: sql))
        let refusal = try receiver.refusal(of: sql)
        let violation = refusal == nil ? try receiver.violation(in: table) : nil
        if let message = refusal ?? violation {
          return Problem(
            table: table.key, column: table.column(in: message), harm: .refused(message),
            steps: steps)
        }
      }
      return try firstLoss(of: records, after: steps)
    }
  }

  /// The first missing or changed row.
  private func firstLoss(
    of records: [ServerRecord], after steps: [Step]
  ) throws(DatabaseError) -> Problem? {
    // The last record of a row is its current state.
    var rows: [RowIdentity: ServerRecord] = [:]
    var order: [RowIdentity] = []
    for record in records where syncs(record.table) {
      guard let table = try receiver.table(record.table), let row = table.identity(of: record)
      else { continue }
      if rows.updateValue(record, forKey: row) == nil { order.append(row) }
    }
    for row in order {
      guard let table = try receiver.table(row.table), let record = rows[row] else { continue }
      guard let stored = try receiver.stored(row) else {
        let count = "SELECT count(*) FROM \(Quoting.identifier(table.name))"
        return Problem(
          table: table.key, column: nil, harm: .missingRow,
          steps: steps + [Step(role: .receiver, sql: count)])
      }
      for column in table.columns {
        guard let sent = record.values[column.key], let kept = stored[column.key], sent != kept
        else { continue }
        let look =
          "SELECT \(Quoting.identifier(column.name)) FROM \(Quoting.identifier(table.name))"
          + " WHERE \(row.condition)"
        return Problem(
          table: table.key, column: column.key, harm: .changed(sent: sent, kept: kept),
          steps: steps + [Step(role: .receiver, sql: look)])
      }
    }
    return nil
  }

  /// Whether the sender gets its value back when it receives the value that the receiver stores.
  private func goesBack(
    _ value: Value, from kept: Value, _ column: Identifier?, _ scenario: Scenario,
    _ table: DeviceTable
  ) throws(DatabaseError) -> Bool {
    guard let column = column.flatMap({ table.column($0) }) else { return false }
    return try sender.trying { () throws(DatabaseError) in
      guard let row = try create(scenario.insertions)?.last,
        try sender.refusal(of: table.update([(column, kept)], of: row)) == nil
      else { return false }
      return try sender.stored(row)?[column.key] == value
    }
  }
}

extension DeviceTable {
  /// The only column that SQLite's message names, folded.
  func column(in message: String) -> Identifier? {
    guard let name = message.split(separator: " ").last, !message.utf8.contains(UInt8(ascii: ","))
    else { return nil }
    return columns.first { name == "\(self.name).\($0.name)" }?.key
  }

  func update(
    _ changes: [(column: Column, value: Value)], of row: RowIdentity
  ) -> String {
    let list = changes.map { "\(Quoting.identifier($0.column.name)) = \($0.value.literal)" }
    return "UPDATE \(Quoting.identifier(name)) SET \(list.joined(separator: ", "))"
      + " WHERE \(row.condition)"
  }

  /// Nil if the record lacks the table's key.
  func identity(of record: ServerRecord) -> RowIdentity? {
    let conditions = primaryKey.compactMap { column in
      record.values[column.key].map { "\(Quoting.quoted(column.name)) = \($0.literal)" }
    }
    guard !conditions.isEmpty, conditions.count == primaryKey.count else { return nil }
    return RowIdentity(table: key, condition: conditions.joined(separator: " AND "))
  }
}
