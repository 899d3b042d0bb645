import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

extension Exchange {
  private typealias Side = (
    role: Step.Role, device: Device, table: DeviceTable, row: RowIdentity, edit: Scenario.Edit
  )

  /// The harm when both devices have a row and change different columns of it while offline.
  ///
  /// - Parameter senderFirst: whether the sender goes online first.
  func outcome(
    of scenario: Scenario, on tables: (sender: DeviceTable, receiver: DeviceTable),
    mine: Scenario.Edit, theirs: Scenario.Edit, senderFirst: Bool
  ) throws(DatabaseError) -> Counterexample? {
    try sender.trying { () throws(DatabaseError) -> Counterexample? in
      try receiver.trying { () throws(DatabaseError) -> Counterexample? in
        guard var sent = try share(scenario, tables.sender), var record = sent.records.last,
          let mineRow = tables.sender.identity({ record.values[$0] }),
          let theirRow = tables.receiver.identity({ record.values[$0] })
        else { return nil }
        sent.actions =
          "creates \(scenario.row.words), sets \(mine.column.name)=\(mine.value.shortLiteral) "
          + "while the other one sets \(theirs.column.name)=\(theirs.value.shortLiteral)"
        let sides: [Side] = [
          (.sender, sender, tables.sender, mineRow, mine),
          (.receiver, receiver, tables.receiver, theirRow, theirs),
        ]
        for side in sides {
          let sql = side.table.update([side.edit], of: side.row)
          sent.steps.append(Step(role: side.role, sql: sql))
          guard try side.device.refusal(of: sql) == nil else { return nil }
        }
        let order = senderFirst ? sides : sides.reversed()
        for (index, (from, to)) in zip(order, order.reversed()).enumerated() {
          record.values[from.edit.column.key] = from.edit.value
          // The second device has sent its own change by then.
          let sql = delivery.statement(
            record, into: to.table, pending: index == 0 ? [to.edit.column.key] : [])
          sent.steps.append(Step(role: to.role, sql: sql))
          if let message = try to.device.refusal(of: sql) {
            return sent.counterexample(tables.sender, from.edit.column.key, .refused(message))
          }
        }
        guard let left = try sender.stored(mineRow), let right = try receiver.stored(theirRow)
        else { return nil }
        for column in tables.sender.columns where record.values[column.key] != nil {
          guard let a = left[column.key], let b = right[column.key], a != b else { continue }
          return sent.counterexample(tables.sender, column.key, .changed(sent: a, kept: b))
        }
        return nil
      }
    }
  }

  /// Creates the row on both devices; nil if one of them refuses it.
  private func share(
    _ scenario: Scenario, _ table: DeviceTable
  ) throws(DatabaseError) -> Sent? {
    guard var sent = try perform(scenario, table) else { return nil }
    var steps: [Step] = []
    for (step, record) in zip(sent.steps, sent.records) {
      steps.append(step)
      guard syncs(record.table), let target = try receiver.table(record.table) else { continue }
      let sql = delivery.statement(record, into: target)
      guard try receiver.refusal(of: sql) == nil else { return nil }
      steps.append(Step(role: .receiver, sql: sql))
    }
    sent.steps = steps
    return sent
  }
}
