import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// A device's actions in one test: it inserts a row after the parents of the row, and changes it.
struct Scenario: Sendable {
  var parents: [Insertion]
  var row: Insertion
  /// The changes of columns of the row.
  var edits: [Edit] = []
  /// The column that the scenario tests.
  var column: Identifier?

  typealias Edit = (column: DeviceTable.Column, value: Value)

  var insertions: [Insertion] { parents + [row] }

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
  var receiver: Device
  var delivery: Delivery
  /// Whether the rows of a table are synced; its name is folded.
  let syncs: (Identifier) -> Bool

  /// The harm that the receiver does to the rows of a table. Nil if there is none, or if the sender
  /// itself cannot perform the scenario.
  func outcome(
    of scenario: Scenario, on table: DeviceTable
  ) throws(DatabaseError) -> Counterexample? {
    guard let sent = try send(scenario, table),
      var found = try receive(sent), found.table.identifier == table.key
    else { return nil }
    if case .changed = found.harm {
      // Triggers may change received rows intentionally.
      receiver.connection.set(.triggers, to: false)
      defer { receiver.connection.set(.triggers, to: true) }
      guard let again = try receive(sent), again.table.identifier == table.key else { return nil }
      found = again
      if case .changed(let value, let kept) = found.harm,
        try goesBack(value, from: kept, found.column, scenario, table)
      {
        return nil
      }
    }
    found.table = table.name
    found.column = found.column ?? scenario.column
    return found
  }

  /// Whether the sender performs the scenario and the receiver accepts all of it unchanged.
  func isFine(_ scenario: Scenario, on table: DeviceTable) throws(DatabaseError) -> Bool {
    guard let sent = try send(scenario, table) else { return false }
    return try receive(sent) == nil
  }

  /// Whether the sender can perform the scenario.
  func isPossible(_ scenario: Scenario, on table: DeviceTable) throws(DatabaseError) -> Bool {
    try send(scenario, table) != nil
  }

  // MARK: Sending

  struct Sent {
    var actions: String
    var records: [ServerRecord] = []
    var steps: [Step] = []

    func counterexample(
      _ table: DeviceTable, _ column: Identifier?, _ harm: Harm, after steps: [Step] = []
    ) -> Counterexample {
      Counterexample(
        table: table.name, column: column, harm: harm, actions: actions,
        steps: self.steps + steps, tables: Set(records.map(\.table)))
    }
  }

  /// The records that the scenario sends, in order; nil if the sender refuses it.
  private func send(
    _ scenario: Scenario, _ table: DeviceTable
  ) throws(DatabaseError) -> Sent? {
    try sender.trying { () throws(DatabaseError) in try perform(scenario, table) }
  }

  /// Like `send`, within a transaction of the sender.
  func perform(_ scenario: Scenario, _ table: DeviceTable) throws(DatabaseError) -> Sent? {
    guard case .rows(let rows) = try sender.insert(scenario.insertions) else { return nil }
    var sent = Sent(actions: scenario.words)
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
      record.values[column.key] = value
    }
    sent.records.append(record)
    sent.steps.append(Step(role: .sender, sql: update))
    return sent
  }

  // MARK: Receiving

  private func receive(_ sent: Sent) throws(DatabaseError) -> Counterexample? {
    try receiver.trying { () throws(DatabaseError) -> Counterexample? in
      var steps: [Step] = []
      for record in sent.records where syncs(record.table) {
        // A missing table is a separate finding, which causes all other differences.
        guard let table = try receiver.table(record.table) else { return nil }
        let sql = delivery.statement(record, into: table)
        steps.append(Step(role: .receiver, sql: sql))
        let refusal = try receiver.refusal(of: sql)
        let violation = refusal == nil ? try receiver.violation(in: table) : nil
        if let message = refusal ?? violation {
          return sent.counterexample(
            table, table.column(in: message), .refused(message), after: steps)
        }
      }
      return try firstLoss(of: sent, after: steps)
    }
  }

  /// The first missing or changed row.
  private func firstLoss(
    of sent: Sent, after steps: [Step]
  ) throws(DatabaseError) -> Counterexample? {
    // The last record of a row is its current state.
    var rows: [RowIdentity: ServerRecord] = [:]
    var order: [RowIdentity] = []
    for record in sent.records where syncs(record.table) {
      guard let table = try receiver.table(record.table),
        let row = table.identity({ record.values[$0] })
      else { continue }
      if rows.updateValue(record, forKey: row) == nil { order.append(row) }
    }
    for row in order {
      guard let table = try receiver.table(row.table), let record = rows[row] else { continue }
      let name = Quoting.identifier(table.name)
      guard let stored = try receiver.stored(row) else {
        let count = Step(role: .receiver, sql: "SELECT count(*) FROM \(name)")
        return sent.counterexample(table, nil, .missingRow, after: steps + [count])
      }
      for column in table.columns {
        guard let value = record.values[column.key], let kept = stored[column.key], value != kept
        else { continue }
        let look = Step(
          role: .receiver,
          sql: "SELECT \(Quoting.identifier(column.name)) FROM \(name) WHERE \(row.condition)")
        return sent.counterexample(
          table, column.key, .changed(sent: value, kept: kept), after: steps + [look])
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
      guard case .rows(let rows) = try sender.insert(scenario.insertions), let row = rows.last,
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

  func update(_ changes: [Scenario.Edit], of row: RowIdentity) -> String {
    let list = changes.map { "\(Quoting.identifier($0.column.name)) = \($0.value.literal)" }
    return "UPDATE \(Quoting.identifier(name)) SET \(list.joined(separator: ", "))"
      + " WHERE \(row.condition)"
  }
}
