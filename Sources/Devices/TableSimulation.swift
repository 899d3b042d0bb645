import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// The tests of one table with a sender of one version and a receiver of another.
struct TableSimulation {
  let exchange: Exchange
  /// Returns whether the receiver may lack a column, by the folded names of its table and the
  /// column.
  let mayLack: (Identifier, Identifier) -> Bool

  private var sender: Device { exchange.sender }
  private var receiver: Device { exchange.receiver }

  enum Result {
    case found([Counterexample])
    /// A device could not generate a row. Contains its version and SQLite's message.
    case unknown(AppVersion, String)
  }

  /// The first harm to each column, and to the table as a whole.
  ///
  /// - Parameter key: the folded name of the table.
  func result(of key: Identifier) throws(DatabaseError) -> Result {
    guard let table = sender.tables[key] else { return .found([]) }
    let isOlder = sender.version.count < receiver.version.count
    guard let other = receiver.tables[key] else { return try missing(table) }
    let start: Scenario
    switch try sender.leastRow(of: table) {
    case .row(let row): start = row
    case .impossible(let message): return .unknown(sender.version, message)
    }
    if case .impossible(let message) = try receiver.leastRow(of: other) {
      return .unknown(receiver.version, message)
    }
    var found = Findings()
    var exchange = exchange
    let least = try settle(start, table, other, &exchange, &found)
    if isOlder { try findUnknownColumns(table, other, start, &found) }
    let full = try sender.fullRow(of: table) ?? least
    let whole = try settle(full, table, other, &exchange, &found)
    for scenario in try scenarios(table, other, least, whole) {
      // One counterexample for a column is enough.
      if let column = scenario.column, found.columns.contains(column) { continue }
      if let harm = try outcome(exchange, scenario, table) { found.add(harm) }
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
    guard let row = try sender.leastRow(of: table).row else { return .found([]) }
    return .found([unknown(table, nil, .noTable, row)])
  }

  private func unknown(
    _ table: DeviceTable, _ column: Identifier?, _ harm: Harm, _ row: Scenario
  ) -> Counterexample {
    Counterexample(
      table: table.name, column: column, harm: harm, actions: row.words,
      steps: row.insertions.map { Step(role: .sender, sql: $0.sql) } + [
        Step(role: .receiver, sql: row.row.sql)
      ], tables: [table.key])
  }

  private func findUnknownColumns(
    _ table: DeviceTable, _ other: DeviceTable, _ least: Scenario, _ found: inout Findings
  ) throws(DatabaseError) {
    for column in table.columns where other.column(column.key) == nil {
      guard !mayLack(table.key, column.key) else { continue }
      var row = least
      if row.row[column.key] == nil {
        guard let more = try sender.adding(column, to: least, of: table) else { continue }
        row = more
      }
      let first = row.row.columns.first { other.column($0) == nil } ?? column.name
      found.add(unknown(table, column.key, .noColumn(first: first), row))
    }
  }

  // MARK: Values that the receiver refuses or changes

  /// Adds the harm of the scenario, and returns the scenario with values that cause none.
  ///
  /// The first refused value would hide all other harm. Each column with harm therefore gets
  /// another value, and a column that the sender lacks gets an assumed value at the receiver.
  private func settle(
    _ start: Scenario, _ table: DeviceTable, _ other: DeviceTable, _ exchange: inout Exchange,
    _ found: inout Findings
  ) throws(DatabaseError) -> Scenario {
    var plan = start
    for _ in table.columns + other.columns {
      guard let harm = try outcome(exchange, plan, table) else { break }
      if let key = harm.column, table.column(key) == nil, let column = other.column(key),
        exchange.delivery.assumed[key] == nil
      {
        found.add(harm)
        let own = try receiver.leastRow(of: other).row?.row[key]
        let others = try receiver.values(for: column, of: other)
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

  /// The column that causes the harm, and the scenario with a harmless value in it.
  private func cause(
    of harm: Counterexample, _ plan: Scenario, _ table: DeviceTable, _ exchange: Exchange
  ) throws(DatabaseError) -> (DeviceTable.Column, Scenario)? {
    for column in table.columns where !column.isInKey && plan.row[column.key] != nil {
      guard harm.column == nil || harm.column == column.key else { continue }
      for value in try values(column, table, plan) where value != plan.row[column.key] {
        var better = plan
        better.row[column.key] = value
        guard try exchange.send(better, table) != nil else { continue }
        let rest = try outcome(exchange, better, table)
        if rest?.harm.signature != harm.harm.signature { return (column, better) }
      }
    }
    return nil
  }

  /// The harm of a scenario, unless two devices of the sender's version have the same harm.
  private func outcome(
    _ exchange: Exchange, _ scenario: Scenario, _ table: DeviceTable
  ) throws(DatabaseError) -> Counterexample? {
    guard let counterexample = try exchange.outcome(of: scenario, on: table) else { return nil }
    var control = self.exchange
    control.receiver = sender
    return try control.outcome(of: scenario, on: table) == nil ? counterexample : nil
  }

  private func scenarios(
    _ table: DeviceTable, _ other: DeviceTable, _ least: Scenario, _ whole: Scenario
  ) throws(DatabaseError) -> [Scenario] {
    let mayDiffer = mayDiffer(table.key)
    let columns = table.columns.filter { column in
      !column.isInKey && other.column(column.key) != nil
        && (table.refers(by: column) || mayDiffer(column.key))
    }
    return try creations(table, columns, least, whole) + twins(table, other, least)
      + twins(table, other, whole) + edits(table, columns, whole)
  }

  /// Returns whether the devices may accept different values in a column, according to the
  /// definitions of the table. Other columns need no test.
  private func mayDiffer(_ key: Identifier) -> (Identifier) -> Bool {
    let (mine, theirs) = (sender.definitions[key] ?? [], receiver.definitions[key] ?? [])
    let different = (mine + theirs).filter { !mine.contains($0) || !theirs.contains($0) }
    let kinds = Set(different.map { $0[0] })
    guard !kinds.contains(SchemaObject.Kind.trigger.rawValue.exact),
      let mine = sender.schema.table(key).flatMap(TableShape.init),
      let theirs = receiver.schema.table(key).flatMap(TableShape.init),
      mine.checks == theirs.checks, mine.uniqueConstraints == theirs.uniqueConstraints,
      mine.foreignKeys == theirs.foreignKeys, mine.primaryKey == theirs.primaryKey,
      mine.isStrict == theirs.isStrict, !mine.columns.contains(where: \.isGenerated)
    else { return { _ in true } }
    let indexed = different.filter { $0[0] == SchemaObject.Kind.index.rawValue.exact }
      .map { TokenizedSQL($0[2].text).possibleNames }
    return { column in
      guard let mine = mine.column(column), let theirs = theirs.column(column) else { return true }
      return !mine.isDefined(as: theirs) || indexed.contains { $0.contains(column) }
    }
  }

  /// Scenarios that create a row with each of the column's most likely values.
  private func creations(
    _ table: DeviceTable, _ columns: [DeviceTable.Column], _ least: Scenario, _ whole: Scenario
  ) throws(DatabaseError) -> [Scenario] {
    var scenarios: [Scenario] = []
    for column in columns {
      for value in try values(column, table, whole) {
        var scenario = table.refers(by: column) && value != .null ? whole : least
        scenario.row[column.key] = value
        scenario.column = column.key
        scenarios.append(scenario)
      }
    }
    return scenarios
  }

  private func edits(
    _ table: DeviceTable, _ columns: [DeviceTable.Column], _ whole: Scenario
  ) throws(DatabaseError) -> [Scenario] {
    var scenarios: [Scenario] = []
    for column in columns where !table.refers(by: column) {
      let other = try values(column, table, whole).first {
        $0 != .null && $0 != whole.row[column.key]
      }
      guard let other else { continue }
      var scenario = whole
      scenario.edits = [(column, other)]
      scenario.column = column.key
      scenarios.append(scenario)
    }
    return scenarios
  }

  /// The column's most likely values and NULL. For a column of a foreign key, only the value in
  /// `whole` and NULL.
  private func values(
    _ column: DeviceTable.Column, _ table: DeviceTable, _ whole: Scenario
  ) throws(DatabaseError) -> [Value] {
    if table.refers(by: column) { return [whole.row[column.key] ?? .null, .null] }
    return try Array(sender.values(for: column, of: table).prefix(16)) + [.null]
  }

  /// Scenarios that create two rows with equal values in columns for which the receiver requires
  /// different ones.
  private func twins(
    _ table: DeviceTable, _ other: DeviceTable, _ plan: Scenario
  ) throws(DatabaseError) -> [Scenario] {
    let key = table.primaryKey
    guard key.count == 1, !table.refers(by: key[0]), let first = plan.row[key[0].key],
      let second = try sender.values(for: key[0], of: table).first(where: {
        $0 != first && $0.storageClass == first.storageClass
      })
    else { return [] }
    var scenarios: [Scenario] = []
    for unique in other.uniques where unique != [key[0].key] {
      var same = plan.row
      same[key[0].key] = second
      // The sender itself may require different values in another column.
      var different = same
      for column in table.columns where !column.isInKey && !unique.contains(column.key) {
        guard let value = different[column.key], !table.refers(by: column) else { continue }
        different[column.key] =
          try sender.values(for: column, of: table).first { $0 != value } ?? value
      }
      let names = unique.compactMap { $0 }
      for row in [same, different] {
        var scenario = Scenario(parents: plan.insertions, row: row)
        scenario.column = names.count == 1 ? names[0] : nil
        scenarios.append(scenario)
      }
    }
    return scenarios
  }

  // MARK: Changes on both devices

  private func tryBothEditing(
    _ exchange: Exchange, _ table: DeviceTable, _ other: DeviceTable, _ plan: Scenario,
    _ found: inout Findings
  ) throws(DatabaseError) {
    var edits: [Scenario.Edit] = []
    for column in table.columns where !column.isInKey && !found.columns.contains(column.key) {
      guard let same = other.column(column.key), same.affinity == column.affinity,
        !table.refers(by: column), let now = plan.row[column.key],
        let value = try sender.values(for: column, of: table).first(where: { $0 != now })
      else { continue }
      edits.append((column, value))
    }
    guard let mine = edits.first, let theirs = edits.last, edits.count > 1 else { return }
    // Ignore triggers that change rows. Earlier tests found the rows that triggers refuse.
    let connections = [exchange.sender.connection, exchange.receiver.connection]
    for connection in connections { connection.set(.triggers, to: false) }
    defer { for connection in connections { connection.set(.triggers, to: true) } }
    // If the sender's version does not accept both edits, two of its devices have the same conflict.
    var together = plan
    together.edits = [mine, theirs]
    guard try exchange.send(together, table) != nil else { return }
    for senderFirst in [true, false] {
      let harm = try exchange.outcome(
        of: plan, on: (table, other), mine: mine, theirs: theirs, senderFirst: senderFirst)
      if let harm { found.add(harm) }
    }
  }
}
