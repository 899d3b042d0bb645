import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// A test in which both devices have a row and change different columns of it while offline.
struct BothEdit {
  let exchange: Exchange
  let plan: RowPlan
  let mine: (column: DeviceTable.Column, value: Value)
  let theirs: (column: DeviceTable.Column, value: Value)

  /// - Parameter senderFirst: whether the sender goes online first.
  func outcome(
    on table: DeviceTable, senderFirst: Bool
  ) throws(DatabaseError) -> Counterexample? {
    let (sender, receiver) = (exchange.sender, exchange.receiver)
    return try sender.trying { () throws(DatabaseError) -> Counterexample? in
      try receiver.trying { () throws(DatabaseError) -> Counterexample? in
        guard var meeting = try begin(table) else { return nil }
        let changes: [(Step.Role, DeviceTable.Column, Value)] = [
          (.sender, mine.column, mine.value), (.receiver, theirs.column, theirs.value),
        ]
        for (role, column, value) in changes {
          guard try meeting.edit(role, column, value) else { return nil }
        }
        for (index, change) in (senderFirst ? changes : changes.reversed()).enumerated() {
          let other = change.0.other
          // The second device has sent its own change by then.
          let pending: Set<Identifier> =
            index == 0 ? [(change.0 == .sender ? theirs : mine).column.key] : []
          guard let message = try meeting.pass(change, to: other, pending) else { continue }
          return counterexample(table, meeting, change.1, .refused(message))
        }
        guard let (column, sent, kept) = try meeting.difference(table) else { return nil }
        return counterexample(table, meeting, column, .changed(sent: sent, kept: kept))
      }
    }
  }

  private func begin(_ table: DeviceTable) throws(DatabaseError) -> Meeting? {
    guard let other = try exchange.receiver.table(table.key),
      try exchange.sender.refusal(of: plan.insertions) == nil
    else { return nil }
    var meeting = Meeting(exchange: exchange, tables: (table, other))
    for insertion in plan.insertions {
      guard let row = try exchange.sender.identity(of: insertion),
        let stored = try exchange.sender.stored(row)
      else { return nil }
      meeting.steps.append(Step(role: .sender, sql: insertion.sql))
      let record = ServerRecord(table: row.table, row: stored)
      meeting.record = record
      guard exchange.syncs(record.table), let target = try exchange.receiver.table(record.table)
      else { continue }
      let sql = exchange.delivery.statement(record, into: target)
      guard try exchange.receiver.refusal(of: sql) == nil else { return nil }
      meeting.steps.append(Step(role: .receiver, sql: sql))
    }
    return meeting.record?.table == table.key ? meeting : nil
  }

  private func counterexample(
    _ table: DeviceTable, _ meeting: Meeting, _ column: DeviceTable.Column, _ harm: Harm
  ) -> Counterexample {
    Counterexample(
      table: table.name, column: column.key, harm: harm,
      actions:
        "creates \(plan.row.words), sets \(mine.column.name)=\(mine.value.shortLiteral) while "
        + "the other one sets \(theirs.column.name)=\(theirs.value.shortLiteral)",
      steps: meeting.steps, tables: Set(plan.insertions.map { $0.table.identifier }))
  }
}

private struct Meeting {
  let exchange: Exchange
  let tables: (sender: DeviceTable, receiver: DeviceTable)
  var steps: [Step] = []
  var record: ServerRecord?

  private func device(_ role: Step.Role) -> Device {
    role == .sender ? exchange.sender : exchange.receiver
  }

  private func table(_ role: Step.Role) -> DeviceTable {
    role == .sender ? tables.sender : tables.receiver
  }

  /// Returns false if the device refuses its own change.
  mutating func edit(
    _ role: Step.Role, _ column: DeviceTable.Column, _ value: Value
  ) throws(DatabaseError) -> Bool {
    guard let record, let row = table(role).identity(of: record) else { return false }
    let sql = table(role).update([(column, value)], of: row)
    steps.append(Step(role: role, sql: sql))
    return try device(role).refusal(of: sql) == nil
  }

  /// Sends a change through the server; returns the message if the other device refuses it.
  mutating func pass(
    _ change: (Step.Role, column: DeviceTable.Column, value: Value), to role: Step.Role,
    _ pending: Set<Identifier>
  ) throws(DatabaseError) -> String? {
    guard var new = record else { return nil }
    new.set(change.column.key, to: change.value)
    record = new
    let sql = exchange.delivery.statement(new, into: table(role), pending: pending)
    steps.append(Step(role: role, sql: sql))
    return try device(role).refusal(of: sql)
  }

  /// The first column whose values differ between the two devices.
  func difference(
    _ table: DeviceTable
  ) throws(DatabaseError) -> (DeviceTable.Column, sent: Value, kept: Value)? {
    guard let record, let mine = tables.sender.identity(of: record),
      let theirs = tables.receiver.identity(of: record),
      let left = try exchange.sender.stored(mine),
      let right = try exchange.receiver.stored(theirs)
    else { return nil }
    for column in table.columns {
      guard record.values[column.key] != nil, let a = left[column.key], let b = right[column.key],
        a != b
      else { continue }
      return (column, a, b)
    }
    return nil
  }
}
