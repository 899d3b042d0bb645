import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// Tests of one table with a sender of one version and a receiver of another.
struct TableSimulation {
  let sender: Device
  let receiver: Device
  /// Creates a second device of the sender's version. Harm between devices of the same version is
  /// not caused by different versions.
  let twin: () throws(DatabaseError) -> Device
  let makers: (sender: RowMaker, receiver: RowMaker)
  let delivery: Delivery
  /// Whether the rows of a table are synced; its name is folded.
  let syncs: (Identifier) -> Bool
  /// Whether the receiver may lack a column of the sender; both names are folded.
  let mayLack: (Identifier, Identifier) -> Bool

  enum Result {
    case found([Counterexample])
    /// No row could be generated; with the version and SQLite's message.
    case unknown(AppVersion, String)
  }

  /// The first harm to each column, and to the table as a whole.
  ///
  /// - Parameter key: the folded name of the table.
  func result(of key: Identifier) throws(DatabaseError) -> Result {
    guard let table = try sender.table(key) else { return .found([]) }
    let isOlder = sender.version.count < receiver.version.count
    guard let other = try receiver.table(key) else {
      return isOlder ? try missing(table) : .found([])
    }
    var least: RowPlan
    switch try makers.sender.minimalRow(of: table) {
    case .plan(let plan): least = plan
    case .impossible(let message): return .unknown(sender.version, message)
    }
    if case .impossible(let message) = try makers.receiver.minimalRow(of: other) {
      return .unknown(receiver.version, message)
    }
    var found = Findings()
    var exchange = Exchange(
      sender: sender, receiver: receiver, delivery: delivery, syncs: syncs)
    let start = least
    least = try settle(start, table, other, &exchange, &found)
    if isOlder { try findUnknownColumns(table, other, start, &found) }
    var whole = try makers.sender.fullRow(of: table).plan ?? least
    whole = try settle(whole, table, other, &exchange, &found)
    for batch in try batches(table, other, least, whole) {
      if let all = batch.all, try exchange.isFine(all, on: table) { continue }
      for scenario in batch.parts {
        // One counterexample for a column is enough.
        if let column = scenario.column, found.columns.contains(column) { continue }
        try note(exchange, scenario, table, &found)
      }
    }
    try tryBothEditing(exchange, table, other, whole, &found)
    return .found(found.all)
  }

  private struct Findings {
    private(set) var all: [Counterexample] = []
    private(set) var columns: Set<Identifier?> = []

    /// - Parameter column: the folded column that causes the harm, if it is known.
    mutating func add(_ counterexample: Counterexample, of column: Identifier? = nil) {
      var counterexample = counterexample
      counterexample.column = counterexample.column ?? column
      if columns.insert(counterexample.column).inserted { all.append(counterexample) }
    }
  }

  // MARK: Columns that the receiver lacks

  private func missing(_ table: DeviceTable) throws(DatabaseError) -> Result {
    guard let plan = try makers.sender.minimalRow(of: table).plan else { return .found([]) }
    return .found([
      Counterexample(
        table: table.name, column: nil, harm: .noTable, actions: Scenario(plan).words,
        steps: plan.insertions.map { Step(role: .sender, sql: $0.sql) } + [
          Step(role: .receiver, sql: plan.row.sql)
        ], tables: [table.key])
    ])
  }

  private func findUnknownColumns(
    _ table: DeviceTable, _ other: DeviceTable, _ least: RowPlan, _ found: inout Findings
  ) throws(DatabaseError) {
    for column in table.columns where other.column(column.key) == nil {
      guard !mayLack(table.key, column.key) else { continue }
      var plan = least
      if plan.row[column.name] == nil {
        guard let more = try makers.sender.adding(column, to: least, of: table) else { continue }
        plan = more
      }
      found.add(
        Counterexample(
          table: table.name, column: column.key, harm: .noColumn, actions: Scenario(plan).words,
          steps: plan.insertions.map { Step(role: .sender, sql: $0.sql) } + [
            Step(role: .receiver, sql: plan.row.sql)
          ], tables: [table.key]))
    }
  }

  // MARK: Values that the receiver refuses or changes

  /// Adds the harm of the scenario, and returns the row with values that cause none.
  ///
  /// The first refused value would hide all other harm. So each column with harm gets another
  /// value, and a column that the sender lacks gets an assumed value at the receiver.
  private func settle(
    _ start: RowPlan, _ table: DeviceTable, _ other: DeviceTable, _ exchange: inout Exchange,
    _ found: inout Findings
  ) throws(DatabaseError) -> RowPlan {
    var plan = start
    for _ in table.columns + other.columns {
      guard let harm = try outcome(exchange, Scenario(plan), table) else { break }
      if let key = harm.column, table.column(key) == nil, let column = other.column(key),
        exchange.delivery.assumed[key] == nil
      {
        found.add(harm)
        let own = try makers.receiver.minimalRow(of: other).plan?.row[key]
        let others = try makers.receiver.values(for: column, of: other)
        exchange.delivery.assumed[key] = own ?? others.first
      } else if let (column, better) = try cause(of: harm, plan, table, exchange) {
        found.add(harm, of: column.key)
        plan = better
      } else {
        found.add(harm)
        break
      }
    }
    return plan
  }

  /// The column that causes the harm, and the row with a harmless value in it.
  private func cause(
    of harm: Counterexample, _ plan: RowPlan, _ table: DeviceTable, _ exchange: Exchange
  ) throws(DatabaseError) -> (DeviceTable.Column, RowPlan)? {
    for column in table.columns where !column.isInKey && plan.row[column.name] != nil {
      guard harm.column == nil || harm.column == column.key else { continue }
      for value in try values(column, table, plan) where value != plan.row[column.name] {
        var better = plan
        better.row[column.name] = value
        guard try exchange.isPossible(Scenario(better), on: table) else { continue }
        let rest = try outcome(exchange, Scenario(better), table)
        if rest?.harm.signature != harm.harm.signature { return (column, better) }
      }
    }
    return nil
  }

  private func note(
    _ exchange: Exchange, _ scenario: Scenario, _ table: DeviceTable, _ found: inout Findings
  ) throws(DatabaseError) {
    if let counterexample = try outcome(exchange, scenario, table) { found.add(counterexample) }
  }

  /// The harm of a scenario, unless two devices of the sender's version have the same harm.
  private func outcome(
    _ exchange: Exchange, _ scenario: Scenario, _ table: DeviceTable
  ) throws(DatabaseError) -> Counterexample? {
    guard let counterexample = try exchange.outcome(of: scenario, on: table) else { return nil }
    let control = try Exchange(sender: sender, receiver: twin(), delivery: delivery, syncs: syncs)
    return try control.outcome(of: scenario, on: table) == nil ? counterexample : nil
  }

  /// Scenarios, and one that covers them all. If it succeeds, which is the usual case, so do the
  /// others.
  private struct Batch {
    var all: Scenario?
    var parts: [Scenario] = []
  }

  private func batches(
    _ table: DeviceTable, _ other: DeviceTable, _ least: RowPlan, _ whole: RowPlan
  ) throws(DatabaseError) -> [Batch] {
    let differences = sender.text(of: table.key).differences(from: receiver.text(of: table.key))
    let columns = table.columns.filter { column in
      !column.isInKey && other.column(column.key) != nil
        && (table.refers(by: column) || differences?.contains(column.key) ?? true)
    }
    let twins = try twins(table, other, least) + twins(table, other, whole)
    return try creations(table, columns, least, whole) + [Batch(parts: twins)]
      + [edits(table, columns, whole)]
  }

  /// Rows with each value that a column probably accepts.
  private func creations(
    _ table: DeviceTable, _ columns: [DeviceTable.Column], _ least: RowPlan, _ whole: RowPlan
  ) throws(DatabaseError) -> [Batch] {
    var alone = Batch()
    // Combine values by their position in the list; NULL is tested separately.
    var together: [Int: Batch] = [:]
    for column in columns {
      let isReference = table.refers(by: column)
      let isChecked = makers.sender.isChecked(column, of: table)
      for (index, value) in try values(column, table, whole).enumerated() {
        let place = value == .null ? -1 : index
        var scenario = Scenario(isReference && value != .null ? whole : least)
        scenario[column.name] = value
        scenario.column = column.key
        if isReference || isChecked || column.isNotNull && value == .null {
          alone.parts.append(scenario)
        } else {
          var batch = together[place] ?? Batch(all: Scenario(whole))
          batch.all?[column.name] = value
          batch.parts.append(scenario)
          together[place] = batch
        }
      }
    }
    return [alone] + together.sorted { $0.key < $1.key }.map(\.value)
  }

  private func edits(
    _ table: DeviceTable, _ columns: [DeviceTable.Column], _ whole: RowPlan
  ) throws(DatabaseError) -> Batch {
    var batch = Batch(all: Scenario(whole))
    for column in columns {
      guard !table.refers(by: column),
        let value = try values(column, table, whole).first(where: {
          $0 != .null && $0 != whole.row[column.name]
        })
      else { continue }
      var scenario = Scenario(whole)
      scenario.edits = [(column, value)]
      scenario.column = column.key
      batch.parts.append(scenario)
      batch.all?.edits.append((column, value))
    }
    return batch
  }

  /// The column's most likely values, and NULL.
  private func values(
    _ column: DeviceTable.Column, _ table: DeviceTable, _ whole: RowPlan
  ) throws(DatabaseError) -> [Value] {
    if table.refers(by: column) { return [whole.row[column.name] ?? .null, .null] }
    return try Array(makers.sender.values(for: column, of: table).prefix(16)) + [.null]
  }

  /// Two rows with equal values where the receiver requires distinct ones.
  private func twins(
    _ table: DeviceTable, _ other: DeviceTable, _ plan: RowPlan
  ) throws(DatabaseError) -> [Scenario] {
    let key = table.primaryKey
    guard key.count == 1, !table.refers(by: key[0]), let first = plan.row[key[0].name],
      let second = try makers.sender.values(for: key[0], of: table).first(where: {
        $0 != first && $0.storageClass == first.storageClass
      })
    else { return [] }
    var scenarios: [Scenario] = []
    for unique in other.uniques where unique.columns != [key[0].key] {
      var same = plan.row
      same[key[0].name] = second
      // The sender may require distinct values in another column.
      var different = same
      for column in table.columns where !column.isInKey && !unique.columns.contains(column.key) {
        guard let value = different[column.name], !table.refers(by: column) else { continue }
        different[column.name] =
          try makers.sender.values(for: column, of: table).first { $0 != value } ?? value
      }
      let names = unique.columns.compactMap { $0 }
      for row in [same, different] {
        var scenario = Scenario(plan)
        scenario.insertions.append(row)
        scenario.column = names.count == 1 ? names[0] : nil
        scenarios.append(scenario)
      }
    }
    return scenarios
  }

  // MARK: Changes on both devices

  private func tryBothEditing(
    _ exchange: Exchange, _ table: DeviceTable, _ other: DeviceTable, _ plan: RowPlan,
    _ found: inout Findings
  ) throws(DatabaseError) {
    var edits: [(column: DeviceTable.Column, value: Value)] = []
    for column in table.columns where !column.isInKey && !found.columns.contains(column.key) {
      guard let same = other.column(column.key), same.affinity == column.affinity,
        !table.refers(by: column), let now = plan.row[column.name],
        let value = try makers.sender.values(for: column, of: table).first(where: { $0 != now })
      else { continue }
      edits.append((column, value))
    }
    guard let mine = edits.first, let theirs = edits.last, edits.count > 1 else { return }
    // Ignore triggers that change rows. Earlier tests found the rows that triggers refuse.
    for device in [exchange.sender, exchange.receiver] {
      device.connection.set(.triggers, to: false)
    }
    defer {
      for device in [exchange.sender, exchange.receiver] {
        device.connection.set(.triggers, to: true)
      }
    }
    let meeting = BothEdit(exchange: exchange, plan: plan, mine: mine, theirs: theirs)
    for senderFirst in [true, false] {
      if let harm = try meeting.outcome(on: table, senderFirst: senderFirst) { found.add(harm) }
    }
  }
}

extension Scenario {
  init(_ plan: RowPlan) {
    self.init(insertions: plan.insertions)
  }

  /// A value of the last row.
  fileprivate subscript(_ column: String) -> Value? {
    get { insertions.last?[column] }
    set { insertions[insertions.count - 1][column] = newValue }
  }
}
