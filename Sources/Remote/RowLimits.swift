import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// Compares migrations with dqlite's limits for rows: which are refused, and which statements run in key ranges.
struct RowLimits {
  /// Each table is measured once; nil if it does not exist.
  private var loads: [Identifier: TableLoad?] = [:]
  /// The tables that earlier statements rename, by their new names.
  private var formerNames: [Identifier: Identifier] = [:]
  private(set) var ranges: [RangedStatement] = []

  /// The steps that run undivided and read or write rows.
  private var waiting: [Waiting] = []

  private struct Waiting {
    let step: RemoteStep
    /// Among those of the migration.
    let number: Int
    let tables: [TableLoad]

    /// How much longer it takes than with the first rows of each table. At worst, it reads every row for every row.
    var scale: Double {
      let scales = tables.map { Double(max(1, $0.rows / TableLoad.fewRows)) }
      return step.compiled.hasNestedLoops
        ? scales.reduce(1) { $0 * $1 * $1 } : scales.max() ?? 1
    }

    /// - Parameter duration: its seconds with the first rows.
    func refusal(after duration: Double) -> Failure? {
      // On three nodes, statements on 300,000 rows took up to 2.1 times as long as 60 times 5,000 rows here.
      let estimate = duration * scale * (scale > 1 ? 2 : 1)
      guard estimate > TableLoad.longest else { return nil }
      return step.refusal(
        "it would take about \(milliseconds(estimate)) ms, by its time with the first rows on a private copy, and "
          + tooLong + step.advice)
    }
  }

  /// How many rows one question may read.
  private static let readable: Int64 = 1_000_000

  /// Tries these steps on a private copy of the first rows.
  ///
  /// - Returns: why migrations cannot run with these rows (65).
  func refusals(
    bySampleOf plans: [RemotePlan], _ live: Schema, _ application: Application, on cluster: Cluster
  ) throws(Failure) -> [Failure] {
    guard !waiting.isEmpty else { return [] }
    let tables = Dictionary(
      waiting.flatMap(\.tables).map { ($0.table.identifier, $0) },
      uniquingKeysWith: { first, _ in first }
    ).values.filter { $0.rows > 0 }
    let rehearsal = try RowRehearsal(of: plans, live, tables, application, on: cluster)
    return plans.enumerated().compactMap { index, plan in
      let own = waiting.filter { $0.step.context.migration.id == plan.migration.id }
      return own.lazy.compactMap { entry in
        let duration = rehearsal.duration(ofStep: entry.number, in: index)
        return duration.flatMap { entry.refusal(after: $0) }
      }.first
    }
  }

  /// - Throws: why the migration cannot run with the rows that the cluster has (65).
  mutating func require(_ plan: RemotePlan, _ cluster: Cluster) throws(Failure) {
    for (number, step) in plan.steps.enumerated() {
      var tables: [TableLoad] = []
      if case .statement(let statement) = step.action {
        tables = try require(statement, step, number, cluster)
        for (old, new) in statement.renamings { formerNames[new] = formerNames[old] ?? old }
      } else {
        tables = try requireReadable(step.tables, step.context, cluster)
      }
      if !tables.isEmpty { waiting.append(Waiting(step: step, number: number, tables: tables)) }
    }
    _ = try requireReadable(
      (plan.planned.foreignKeysBefore + plan.planned.foreignKeysAfter).map(\.identifier),
      Context(migration: plan.migration), cluster)
  }

  private mutating func load(
    of table: Identifier, _ cluster: Cluster
  ) throws(Failure) -> TableLoad? {
    let name = formerNames[table] ?? table
    if let load = loads[name] { return load }
    let load: TableLoad? = try cluster.ask { (leader) throws(DatabaseError) in
      try TableLoad(of: name, on: leader)
    }
    loads[name] = load
    return load
  }

  /// - Returns: the tables that exist.
  private mutating func requireReadable(
    _ tables: [Identifier], _ context: Context, _ cluster: Cluster
  ) throws(Failure) -> [TableLoad] {
    var loads: [TableLoad] = []
    for table in tables {
      guard let load = try load(of: table, cluster) else { continue }
      guard load.rows <= Self.readable else {
        throw context.refusal(
          "a check must read the \(load.rows.inWords) rows of `\(load.table)` at once, and a leader "
            + "that is busy for too long can lose its leadership")
      }
      loads.append(load)
    }
    return loads
  }

  /// - Returns: the tables whose rows it reads or writes at once.
  private mutating func require(
    _ statement: RemoteStatement, _ step: RemoteStep, _ number: Int, _ cluster: Cluster
  ) throws(Failure) -> [TableLoad] {
    var tables: [TableLoad] = []
    for table in statement.tables {
      guard let load = try load(of: table, cluster) else { continue }
      let divided = statement.divided.flatMap { load.divides($0) ? $0 : nil }
      guard
        load.bytes <= TableLoad.largest
          || !(divided?.isOfAllRows ?? statement.written.contains(table))
      else {
        throw step.refusal(
          "it writes the \(load.rows.inWords) rows of `\(load.table)` in one transaction, about "
            + "\(load.bytes / 1_048_576) MB, and the leader can lose its leadership at a COMMIT of more than "
            + "\(TableLoad.largest / 1_048_576) MB: change them in several migrations")
      }
      if let divided, load.rows > TableLoad.fewRows {
        ranges.append(
          RangedStatement(
            migration: step.context.migration.id, step: number, table: load.table,
            rows: load.rows, sql: divided.ranged(by: load.rowid ?? "rowid")))
      } else {
        tables.append(load)
      }
    }
    return tables
  }
}

extension RemoteStep {
  /// How a change of rows could run in time.
  fileprivate var advice: String {
    guard case .statement(let statement) = action, !statement.copiesRows, !statement.written.isEmpty
    else { return "" }
    return
      ". Only an UPDATE or DELETE of a table with a rowid that reads no other rows, fires no trigger, and calls "
      + "neither random functions nor the clock is divided into key ranges"
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

/// A statement that runs for one range of rowids after the other.
struct RangedStatement {
  let migration: String
  /// Among those of the migration.
  let step: Int
  let table: String
  let rows: Int64
  /// For the rows from ?1 to ?2.
  let sql: String
}

extension Int64 {
  /// With commas, and with "more than" where the count ended at `TableLoad.most`.
  var inWords: String {
    (self >= TableLoad.most ? "more than " : "") + grouped(self)
  }
}
