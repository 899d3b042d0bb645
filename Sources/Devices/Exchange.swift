import SchemaManifest
import SchemaModel
import SchemaPlanning
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
    let list = listed(insertions.map(\.words), "and")
    guard !edits.isEmpty else { return "creates \(list)" }
    let changes = edits.map { "\($0.column.name)=\($0.value.shortLiteral)" }
    return "creates \(list) and then sets \(changes.joined(separator: ", "))"
  }
}

/// Two devices that exchange records through a server. Each test runs in transactions that are rolled
/// back.
struct Exchange {
  let sender: Device
  var receiver: Device
  var delivery: Delivery
  /// Whether the rows of a table are synced; its name is folded.
  let syncs: (Identifier) -> Bool

  /// The harm that the receiver does to the rows of a table. Nil if it does none, or if the sender
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
        try isRestored(value, from: kept, found.column, scenario, table)
      {
        return nil
      }
    }
    found.table = table.name
    found.column = found.column ?? scenario.column
    return found
  }

  // MARK: Sending

  /// The statements so far, and the records that they sent to the server.
  struct Run {
    var actions: String
    var records: [ServerRecord] = []
    var steps: [Step] = []

    func counterexample(
      _ table: DeviceTable, _ column: Identifier?, _ harm: Harm, at step: Step? = nil
    ) -> Counterexample {
      Counterexample(
        table: table.name, column: column, harm: harm, actions: actions,
        steps: steps + [step].compactMap { $0 }, tables: Set(records.map(\.table)))
    }
  }

  /// The records that the scenario sends, in order; nil if the sender refuses it.
  func send(_ scenario: Scenario, _ table: DeviceTable) throws(DatabaseError) -> Run? {
    try sender.connection.rollingBack { () throws(DatabaseError) in try perform(scenario, table) }
  }

  /// The same as `send`, but within a transaction that the caller has opened on the sender.
  private func perform(_ scenario: Scenario, _ table: DeviceTable) throws(DatabaseError) -> Run? {
    guard case .rows(let rows) = try sender.insert(scenario.insertions) else { return nil }
    var run = Run(actions: scenario.words)
    run.steps = scenario.insertions.map { Step(role: .sender, sql: $0.sql) }
    for row in rows {
      guard let values = try sender.stored(row) else { return nil }
      run.records.append(ServerRecord(table: row.table, row: values))
    }
    guard !scenario.edits.isEmpty, let row = rows.last, var record = run.records.last else {
      return run
    }
    let update = table.update(scenario.edits, of: row)
    guard try sender.connection.refusal(of: update) == nil, try sender.violation(in: table) == nil,
      let stored = try sender.stored(row)
    else { return nil }
    for (column, _) in scenario.edits {
      guard let value = stored[column.key], value != .null else { return nil }
      record.values[column.key] = value
    }
    run.records.append(record)
    run.steps.append(Step(role: .sender, sql: update))
    return run
  }

  // MARK: Receiving

  /// Writes a record to a device's table, and returns SQLite's message if it refuses it.
  private func deliver(
    _ record: ServerRecord, to role: Step.Role, _ table: DeviceTable,
    pending: Set<Identifier> = [], _ run: inout Run
  ) throws(DatabaseError) -> String? {
    let device = role == .sender ? sender : receiver
    let sql = delivery.statement(record, into: table, pending: pending)
    run.steps.append(Step(role: role, sql: sql))
    if let refusal = try device.connection.refusal(of: sql) { return refusal }
    return try device.violation(in: table)
  }

  private func receive(_ sent: Run) throws(DatabaseError) -> Counterexample? {
    try receiver.connection.rollingBack { () throws(DatabaseError) -> Counterexample? in
      var run = sent
      for record in sent.records where syncs(record.table) {
        // A missing table is a separate finding. It would cause all other differences.
        guard let table = receiver.tables[record.table] else { return nil }
        if let message = try deliver(record, to: .receiver, table, &run) {
          return run.counterexample(table, table.column(in: message), .refused(message))
        }
      }
      return try firstLoss(of: run)
    }
  }

  /// The harm to the first row that is missing or changed.
  private func firstLoss(of run: Run) throws(DatabaseError) -> Counterexample? {
    // The last record of a row is its current state.
    var rows: [RowIdentity: ServerRecord] = [:]
    var order: [RowIdentity] = []
    for record in run.records where syncs(record.table) {
      guard let row = receiver.tables[record.table]?.identity({ record.values[$0] }) else {
        continue
      }
      if rows.updateValue(record, forKey: row) == nil { order.append(row) }
    }
    for row in order {
      guard let table = receiver.tables[row.table], let record = rows[row] else { continue }
      let name = Quoting.identifier(table.name)
      guard let stored = try receiver.stored(row) else {
        let count = Step(role: .receiver, sql: "SELECT count(*) FROM \(name)")
        return run.counterexample(table, nil, .missingRow, at: count)
      }
      for column in table.columns {
        guard let value = record.values[column.key], let kept = stored[column.key], value != kept
        else { continue }
        let look = Step(
          role: .receiver,
          sql: "SELECT \(Quoting.identifier(column.name)) FROM \(name) WHERE \(row.condition)")
        return run.counterexample(
          table, column.key, .changed(sent: value, kept: kept), at: look)
      }
    }
    return nil
  }

  /// Whether the sender stores its original value again when it receives the value that the
  /// receiver stores.
  private func isRestored(
    _ value: Value, from kept: Value, _ column: Identifier?, _ scenario: Scenario,
    _ table: DeviceTable
  ) throws(DatabaseError) -> Bool {
    guard let column = column.flatMap({ table.column($0) }) else { return false }
    return try sender.connection.rollingBack { () throws(DatabaseError) in
      guard case .rows(let rows) = try sender.insert(scenario.insertions), let row = rows.last,
        try sender.connection.refusal(of: table.update([(column, kept)], of: row)) == nil
      else { return false }
      return try sender.stored(row)?[column.key] == value
    }
  }

  // MARK: Changes on both devices

  private typealias Side = (
    role: Step.Role, device: Device, table: DeviceTable, row: RowIdentity, edit: Scenario.Edit
  )

  /// The harm if both devices have a row and change different columns of it while offline.
  ///
  /// - Parameter senderFirst: whether the sender goes online first.
  func outcome(
    of scenario: Scenario, on tables: (sender: DeviceTable, receiver: DeviceTable),
    mine: Scenario.Edit, theirs: Scenario.Edit, senderFirst: Bool
  ) throws(DatabaseError) -> Counterexample? {
    try sender.connection.rollingBack { () throws(DatabaseError) -> Counterexample? in
      try receiver.connection.rollingBack { () throws(DatabaseError) -> Counterexample? in
        guard var run = try share(scenario, tables.sender), var record = run.records.last,
          let mineRow = tables.sender.identity({ record.values[$0] }),
          let theirRow = tables.receiver.identity({ record.values[$0] })
        else { return nil }
        run.actions =
          "creates \(scenario.row.words), sets \(mine.column.name)=\(mine.value.shortLiteral) "
          + "while the other one sets \(theirs.column.name)=\(theirs.value.shortLiteral)"
        let sides: [Side] = [
          (.sender, sender, tables.sender, mineRow, mine),
          (.receiver, receiver, tables.receiver, theirRow, theirs),
        ]
        for side in sides {
          let sql = side.table.update([side.edit], of: side.row)
          run.steps.append(Step(role: side.role, sql: sql))
          guard try side.device.connection.refusal(of: sql) == nil else { return nil }
        }
        let order = senderFirst ? sides : sides.reversed()
        for (index, (from, to)) in zip(order, order.reversed()).enumerated() {
          record.values[from.edit.column.key] = from.edit.value
          // Only the device that goes online second still has an unsent change when it receives a
          // record.
          let pending: Set<Identifier> = index == 0 ? [to.edit.column.key] : []
          if let message = try deliver(record, to: to.role, to.table, pending: pending, &run) {
            return run.counterexample(tables.sender, from.edit.column.key, .refused(message))
          }
        }
        guard let left = try sender.stored(mineRow), let right = try receiver.stored(theirRow)
        else { return nil }
        for column in tables.sender.columns where record.values[column.key] != nil {
          guard let a = left[column.key], let b = right[column.key], a != b else { continue }
          return run.counterexample(tables.sender, column.key, .changed(sent: a, kept: b))
        }
        return nil
      }
    }
  }

  /// Creates the row on both devices; nil if one of them refuses it.
  private func share(_ scenario: Scenario, _ table: DeviceTable) throws(DatabaseError) -> Run? {
    guard let sent = try perform(scenario, table) else { return nil }
    var run = sent
    run.steps = []
    for (step, record) in zip(sent.steps, sent.records) {
      run.steps.append(step)
      guard syncs(record.table), let target = receiver.tables[record.table] else { continue }
      guard try deliver(record, to: .receiver, target, &run) == nil else { return nil }
    }
    return run
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
    let list = changes.map { "\(Quoting.identifier($0.column.name)) = \($0.value.sql)" }
    return "UPDATE \(Quoting.identifier(name)) SET \(list.joined(separator: ", "))"
      + " WHERE \(row.condition)"
  }
}
