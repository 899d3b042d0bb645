import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Compares migrations with dqlite's limits for rows. Finds migrations to refuse and statements to run in key
/// ranges.
struct RowLimits {
  /// The measured tables; nil for a table that does not exist. Each table is measured once.
  private var measured: [Identifier: TableLoad?] = [:]
  /// The tables that earlier statements have created, renamed, filled or removed.
  private var changed: [Identifier: Origin] = [:]

  private enum Origin {
    /// The table has another name on the leader.
    case renamed(from: Identifier)
    /// The table is filled from a table of this size.
    case filled(TableLoad)
    /// The leader does not have the table.
    case new
  }

  /// The maximum number of rows that one query may read.
  private static let readable: Int64 = 1_000_000

  /// Tries the undivided steps on a private copy of the first rows.
  ///
  /// - Returns: the reasons why migrations cannot run with these rows (65).
  static func refusals(
    bySampleOf plans: [RemotePlan], _ live: Schema, _ application: Application, on cluster: Cluster
  ) throws(Failure) -> [Failure] {
    let loads = plans.flatMap(\.steps).filter { $0.ranges == nil }.flatMap(\.loads.values)
    guard !loads.isEmpty else { return [] }
    let tables = Dictionary(
      loads.map { ($0.table.identifier, $0) }, uniquingKeysWith: { first, _ in first }
    ).values.filter { $0.rows > 0 }
    let durations = try rehearsedDurations(of: plans, live, tables, application, on: cluster)
    return zip(plans, durations).compactMap { plan, durations in
      zip(plan.steps, durations).lazy.compactMap { $0.refusal(after: $1) }.first
    }
  }

  /// Measures the tables of a plan.
  ///
  /// - Throws: the reason why the migration cannot run with the rows of the cluster (65).
  mutating func measure(_ plan: inout RemotePlan, _ cluster: Cluster) throws(Failure) {
    for index in plan.steps.indices {
      let step = plan.steps[index]
      var loads: [Identifier: TableLoad] = [:]
      for table in step.tables {
        guard let load = try load(of: table, cluster) else { continue }
        loads[table] = load
        if case .statement(let statement) = step.action {
          try require(statement, step, table, load, cluster)
        } else {
          try requireReadable(load, step.context)
        }
      }
      plan.steps[index].loads = loads
      if case .statement(let statement) = step.action { try note(statement, loads, cluster) }
    }
    for table in plan.planned.foreignKeysBefore + plan.planned.foreignKeysAfter {
      guard let load = try load(of: table.identifier, cluster) else { continue }
      try requireReadable(load, Context(migration: plan.migration))
    }
  }

  /// Returns the size of a table; nil if the table does not exist before the migrations.
  private mutating func load(
    of table: Identifier, _ cluster: Cluster
  ) throws(Failure) -> TableLoad? {
    var name = table
    switch changed[table] {
    case .new: return nil
    case .filled(let load): return load
    case .renamed(let former): name = former
    case nil: break
    }
    if let load = measured[name] { return load }
    let load: TableLoad? = try cluster.ask { (leader) throws(DatabaseError) in
      try TableLoad(of: name, on: leader)
    }
    measured[name] = .some(load)
    return load
  }

  private func requireReadable(_ load: TableLoad, _ context: Context) throws(Failure) {
    guard load.rows > Self.readable else { return }
    throw context.refusal(
      "a check must read the \(load.rows.inWords) rows of `\(load.table)` at once, and a leader "
        + "that is busy for too long can lose its leadership")
  }

  /// - Throws: the reason why one transaction cannot write all rows of the table.
  private func require(
    _ statement: RemoteStatement, _ step: RemoteStep, _ table: Identifier, _ load: TableLoad,
    _ cluster: Cluster
  ) throws(Failure) {
    guard statement.whole == table, !load.isOfSource else { return }
    let bytes = load.bytes(changing: load.rows, indexes: statement.indexes)
    guard bytes > CommitSize.largest else { return }
    if case .dropping = statement.kind {
      let clears = try cluster.ask { (leader) throws(DatabaseError) in
        try CommitSize(on: leader).clearsFreedPages
      }
      guard clears else { return }
    }
    throw step.refusal(
      CommitSize.refusal("it writes the \(load.rows.inWords) rows of `\(load.table)`", bytes))
  }

  /// Records the tables that a statement creates, renames, fills or removes.
  ///
  /// - Parameter loads: the sizes of the tables that the statement reads.
  private mutating func note(
    _ statement: RemoteStatement, _ loads: [Identifier: TableLoad], _ cluster: Cluster
  ) throws(Failure) {
    for (old, new) in statement.renamings {
      changed[new] = changed[old] ?? .renamed(from: old)
      changed[old] = .new
    }
    switch statement.kind {
    case .creation(let table), .dropping(let table): changed[table] = .new
    case .insertion(let table):
      guard let source = loads.values.max(by: { $0.rows < $1.rows }) else { return }
      let rows = try load(of: table, cluster)?.rows ?? 0
      if source.rows > rows { changed[table] = .filled(source.asSource) }
    case .change, .rewriting, .other: break
    }
  }
}

extension RemoteStep {
  /// - Parameter duration: the duration of the step with the first rows of each table, in seconds.
  fileprivate func refusal(after duration: Double) -> Failure? {
    guard ranges == nil, !loads.isEmpty else { return nil }
    // On three nodes, statements on 300,000 rows took up to 2.1 times as long as 60 times the duration on
    // 5,000 rows here.
    let estimate = duration * scale * (scale > 1 ? 2 : 1)
    guard estimate > TableLoad.longest else { return nil }
    return refusal(
      "it would take about \(milliseconds(estimate)) ms, by its time with the first rows on a private copy, and "
        + tooLong + advice)
  }

  /// The estimated ratio of the duration to the duration with the first rows of each table. In the worst
  /// case, the step reads all rows of one table for each row of another.
  private var scale: Double {
    let scales = loads.mapValues { max(1, Double($0.rows) / Double($0.sample)) }
    let largest = scales.values.max() ?? 1
    let names = Set(tables)
    let nested = compiled.loops.reduce(1) { product, name in
      product * (scales[name] ?? (names.contains(name) ? 1 : largest))
    }
    return max(largest, nested)
  }

  /// Advice on how to change rows within the time limit.
  private var advice: String {
    guard case .statement(let statement) = action, case .change = statement.kind else { return "" }
    return
      ". schemactl divides only an UPDATE or DELETE of a table with a rowid into key ranges. The "
      + "statement must read no other rows, fire no trigger, and call neither random functions "
      + "nor the clock"
  }

  fileprivate func refusal(_ reason: String) -> Failure {
    guard case .statement(let statement) = action else {
      return context.refusal(reason, statement: action.sql)
    }
    return context.refusal(reason, position: statement.position, statement: statement.sql)
  }
}

func milliseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1000) }

/// The end of a sentence that refuses a statement.
let tooLong =
  "a leader that is busy for longer than \(milliseconds(TableLoad.longest)) ms can lose its leadership"

extension Int64 {
  /// The number with commas; with "more than" if counting stopped at `TableLoad.most`.
  var inWords: String {
    (self >= TableLoad.most ? "more than " : "") + grouped(self)
  }
}
