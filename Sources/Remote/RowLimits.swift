import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
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

  /// Statements that run at once and read or write rows.
  private var waiting: [Waiting] = []

  private struct Waiting {
    let context: Context
    let statement: RemoteStatement
    let tables: [TableLoad]

    var migration: String { context.migration.id }

    /// How much longer it takes than with the first rows of each table. At worst, a subquery reads every row for
    /// every row.
    var scale: Double {
      let scales = tables.map { Double(max(1, $0.rows / TableLoad.fewRows)) }
      let hasQuery = TokenizedSQL(statement.sql).mentions("select")
      return hasQuery ? scales.reduce(1) { $0 * $1 * $1 } : scales.max() ?? 1
    }

    /// - Parameter duration: its seconds with the first rows.
    func refusal(after duration: Double) -> Failure? {
      let estimate = duration * scale
      guard estimate > TableLoad.longest else { return nil }
      return context.refusal(
        "it would take about \(milliseconds(estimate)) ms, by its time with the first rows on a private copy, and "
          + tooLong, position: statement.position, statement: statement.sql)
    }
  }

  /// How many rows one question may read.
  private static let readable: Int64 = 1_000_000

  /// Tries statements that run at once on a private copy of the first rows.
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
      let own = waiting.filter { $0.migration == plan.migration.id }
      return own.lazy.compactMap { entry in
        let duration = rehearsal.duration(ofStatement: entry.statement.number, in: index)
        return duration.flatMap { entry.refusal(after: $0) }
      }.first
    }
  }

  /// - Throws: why the migration cannot run with the rows that the cluster has (65).
  mutating func require(_ plan: RemotePlan, _ cluster: Cluster) throws(Failure) {
    for step in plan.steps {
      switch step.action {
      case .question(let question):
        try requireReadable(question.tables, step.context, cluster)
      case .assertion(let assertion):
        try requireReadable(tables(namedIn: assertion.query.text, plan), step.context, cluster)
      case .statement(let statement):
        try require(statement, step.context, cluster)
      }
    }
    for statement in plan.planned.statements {
      for (old, new) in TableRenames.renamings(by: statement.sql, statement.events) {
        formerNames[new] = formerNames[old] ?? old
      }
    }
    try requireReadable(
      plan.planned.foreignKeysBefore + plan.planned.foreignKeysAfter,
      Context(migration: plan.migration), cluster)
  }

  private func tables(namedIn sql: String, _ plan: RemotePlan) -> [String] {
    let tokens = TokenizedSQL(sql)
    let names = Set(
      tokens.identifiers(in: 0..<tokens.bytes.count).map(\.text.identifier))
    return plan.planned.before.tables.map(\.name).filter { names.contains($0.identifier) }
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

  private mutating func requireReadable(
    _ tables: [String], _ context: Context, _ cluster: Cluster
  ) throws(Failure) {
    for table in tables {
      guard let load = try load(of: table.identifier, cluster), load.rows > Self.readable else {
        continue
      }
      throw context.refusal(
        "a check must read the \(load.rows.inWords) rows of `\(table)` at once, and a leader "
          + "that is busy for too long can lose its leadership")
    }
  }

  private mutating func require(
    _ statement: RemoteStatement, _ context: Context, _ cluster: Cluster
  ) throws(Failure) {
    func refusal(_ reason: String) -> Failure {
      context.refusal(reason, position: statement.position, statement: statement.sql)
    }
    var estimate = 0.0
    var large: TableLoad?
    var tables: [TableLoad] = []
    defer {
      if !tables.isEmpty {
        waiting.append(Waiting(context: context, statement: statement, tables: tables))
      }
    }
    for table in statement.tables {
      guard let load = try load(of: table, cluster) else { continue }
      guard load.rows > TableLoad.fewRows else {
        tables.append(load)
        continue
      }
      if let divided = statement.divided, divided.table.identifier == table, load.divides(divided) {
        guard !divided.isOfAllRows || load.bytes <= TableLoad.largest else {
          throw refusal(
            "it changes the \(load.rows.inWords) rows of `\(load.table)` in one transaction, about "
              + "\(load.bytes / 1_048_576) MB, and the leader can lose its leadership at a COMMIT of more than "
              + "\(TableLoad.largest / 1_048_576) MB: change them in several migrations")
        }
        ranges.append(
          RangedStatement(
            migration: context.migration.id, statement: statement.number, table: load.table,
            rows: load.rows, sql: divided.ranged(by: load.rowid ?? "rowid")))
        continue
      }
      guard let duration = load.duration else {
        throw refusal(
          "it reads or writes the \(load.rows.inWords) rows of `\(load.table)` at once, which has no rowid by "
            + "which it could be divided")
      }
      tables.append(load)
      estimate += duration
      large = load
      guard load.bytes <= TableLoad.largest || !statement.writes(table) else {
        throw refusal(
          "it writes the rows of `\(load.table)` at once, about \(load.bytes / 1_048_576) MB, and the leader can "
            + "lose its leadership at a COMMIT of more than \(TableLoad.largest / 1_048_576) MB")
      }
    }
    guard let large, estimate > TableLoad.longest else { return }
    throw refusal(
      "it reads or writes the \(large.rows.inWords) rows of `\(large.table)` at once, which would take "
        + "about \(milliseconds(estimate)) ms by the time of its first rows, and \(tooLong). Only an `update` or a `delete` "
        + "whose condition reads no other rows is divided into key ranges")
  }
}

func milliseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1000) }

/// The end of a sentence that refuses a statement.
let tooLong =
  "a leader that is busy for longer than \(milliseconds(TableLoad.longest)) ms can lose its leadership"

/// A statement that runs for one range of rowids after the other.
struct RangedStatement {
  let migration: String
  /// Among those of the plan.
  let statement: Int
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
