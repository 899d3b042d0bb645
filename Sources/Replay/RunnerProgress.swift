import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// What a migration is doing to the rows of a table.
package enum MigrationPhase: String, Sendable, CaseIterable {
  case check, copy, index, update, verify
}

/// How far one phase of a migration is.
package struct PhaseProgress: Sendable, Equatable {
  package let phase: MigrationPhase
  /// The table, or the index that is built.
  package let object: String
  /// Rows that SQLite has read so far.
  package let done: Int64
  /// The rows in all; nil when their number does not tell how long the rest takes.
  package let all: Int64?
}

/// The rows that one statement copies.
struct CopiedRows {
  let table: String
  let count: Int64?
}

extension Runner {
  /// How often progress is reported, in milliseconds.
  private static let reportInterval = Int64(100)

  /// Reports how many rows SQLite reads while `body` runs.
  func reporting<Result>(
    _ phase: MigrationPhase, _ object: String, of count: Int64? = nil,
    _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    guard target == .database, let onProgress else { return try body() }
    func report(_ rows: Int64) {
      let done = count.map { min(rows, $0) } ?? rows
      onProgress(PhaseProgress(phase: phase, object: object, done: done, all: count))
    }
    report(0)
    var reported = Stopwatch()
    connection.onScan { rows in
      guard reported.milliseconds >= Self.reportInterval else { return }
      reported = Stopwatch()
      report(rows)
    }
    defer { connection.onScan(nil) }
    return try body()
  }

  /// What a statement of the manifest, or a generated one, does to rows, as its authorizer events tell.
  ///
  /// - Parameter rows: the table that it copies, and the count of its rows where that is known.
  func run(
    _ statement: Statement, _ events: [AuthorizerEvent], copying rows: CopiedRows?
  ) throws(DatabaseError) {
    if let rows {
      return try reporting(.copy, rows.table, of: rows.count) { () throws(DatabaseError) in
        try statement.run()
      }
    }
    let own = events.filter { $0.trigger == nil && $0.database == "main" }
    let index = own.first { $0.action == .createIndex }?.first
    let table = own.first { [.update, .insert, .delete].contains($0.action) }?.first
    guard target == .database, onProgress != nil, let object = index ?? table else {
      return try statement.run()
    }
    var count: Int64?
    if index == nil, own.contains(where: { $0.action == .update }) {
      count = try rowsRead(by: statement.sql, in: object)
    }
    try reporting(index == nil ? .update : .index, object, of: count) { () throws(DatabaseError) in
      try statement.run()
    }
  }

  /// How many rows an UPDATE reads while it writes them; nil when it reads all of them first (it then keeps
  /// their keys in an ephemeral table), or reads other tables as well.
  private func rowsRead(by sql: String, in table: String) throws(DatabaseError) -> Int64? {
    let opcodes = try connection.rows("EXPLAIN \(sql)").compactMap { $0[1].text }
    guard !opcodes.contains("OpenEphemeral"), opcodes.count(where: { $0 == "Rewind" }) == 1
    else { return nil }
    return try connection.value("SELECT count(*) FROM main.\(Quoting.quoted(table))")?.integer
  }
}

/// What happens while a database is migrated, in order.
package enum MigrateEvent: Sendable {
  case created(database: String)
  /// The database is copied; bytes so far, and in all.
  case copying(done: Int64, of: Int64)
  /// Something to know that is neither a result nor wrong.
  case note(String)
  /// Another process holds the lock, or a cluster has no leader; seconds waited so far.
  case waiting(seconds: Double, isOnCluster: Bool = false)
  case began
  case started(id: String, number: Int, of: Int)
  case ran(statement: String)
  /// How far the work on a table's rows is.
  case phase(PhaseProgress)
  /// A statement runs.
  case working
  case willCommit
  case committed(ids: [String])
}

extension MigrateEvent {
  package var isWorking: Bool {
    if case .working = self { true } else { false }
  }
}
