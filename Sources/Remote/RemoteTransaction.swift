import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The reason why one attempt to run a migration ended.
enum AttemptError: Error {
  /// Another node may be the leader, so the migration may start again.
  ///
  /// - Parameter isUncertain: whether COMMIT was sent.
  case leaderLost(DatabaseError, isUncertain: Bool)
  /// Another process has created the ledger, or has written the migration's row in it. Nothing was changed.
  case hasLedgerRow
  /// Another process writes to the database. Nothing was changed.
  case busy(DatabaseError)
  case failed(Failure)
}

/// One migration in one transaction on the leader.
struct RemoteTransaction {
  let plan: RemotePlan
  let leader: NodeConnection
  /// The objects of the database that could not be recreated on the scratch database.
  let unknown: Set<SchemaObject>
  let ledger: Ledger
  let createsLedger: Bool
  let redactsValues: Bool
  let interruption: Interruption
  let onEvent: (MigrateEvent) -> Void

  /// Runs the migration.
  ///
  /// - Returns: the duration in milliseconds, without COMMIT.
  func run() throws(AttemptError) -> Int64 {
    do {
      let elapsed = try runUpToCommit()
      onEvent(.willCommit)
      do {
        try leader.execute("COMMIT")
      } catch  where error.asksForAnotherLeader {
        throw AttemptError.leaderLost(error, isUncertain: true)
      }
      return elapsed
    } catch let error as AttemptError {
      throw error
    } catch let error as DatabaseError where error.asksForAnotherLeader {
      throw .leaderLost(error, isUncertain: false)
    } catch let error as DatabaseError where error.code == .busy {
      _ = try? leader.execute("ROLLBACK")
      throw .busy(error)
    } catch {
      // Closing the connection would also roll back.
      _ = try? leader.execute("ROLLBACK")
      throw .failed(context.failure(error))
    }
  }

  private var context: Context { Context(migration: plan.migration) }

  private func runUpToCommit() throws -> Int64 {
    let time = Stopwatch()
    var row = plan.planned.row
    row.startedAt = Timestamp.now.description
    try leader.execute("BEGIN IMMEDIATE")
    guard try claims(row) else {
      try leader.execute("ROLLBACK")
      throw AttemptError.hasLedgerRow
    }
    let planned = plan.planned
    let violations = try ForeignKeyViolations(
      of: planned.foreignKeysBefore, in: planned.before, on: leader)
    if !plan.steps.isEmpty {
      var size = try CommitSize(on: leader)
      for step in plan.steps {
        guard !interruption.isRequested else { throw Failure(.interrupted, "interrupted") }
        try run(step, &size)
      }
    }
    let found = try Schema(of: leader).promised(besides: ledger).subtracting(unknown)
    let promised = planned.after.promised(besides: ledger)
    guard found == promised else {
      let names = found.symmetricDifference(promised).map { "\($0.kind.rawValue) `\($0.name)`" }
      throw context.failure(
        .finding,
        "the schema differs from that of the scratch database, and schemactl rolled back the "
          + "migration: "
          + Set(names.map(\.exact)).map(\.text).sorted().joined(separator: ", ")
          + " differ. Another process may have changed the schema: try again")
    }
    let now = try ForeignKeyViolations(
      of: planned.foreignKeysAfter, in: planned.after, on: leader)
    if let message = now.newViolations(
      beyond: violations, plan.renames, redacted: redactsValues)?.message
    {
      throw context.failure(.migrationFailed, message)
    }
    let elapsed = time.milliseconds
    try leader.execute(
      "UPDATE main.\(ledger.name) SET milliseconds = ?1 WHERE id = ?2",
      [.integer(elapsed), .text(row.id)])
    return elapsed
  }

  /// Writes the ledger row first, so that the primary key of the ledger decides whether the migration has
  /// already run.
  private func claims(_ row: LedgerRow) throws(DatabaseError) -> Bool {
    do throws(DatabaseError) {
      if createsLedger { try leader.execute(ledger.createStatement) }
      try leader.execute(row.insertStatement(into: ledger))
      return true
    } catch {
      guard error.code == .constraint || createsLedger && !error.isFault else { throw error }
      return false
    }
  }

  private func run(_ step: RemoteStep, _ size: inout CommitSize) throws {
    do {
      try carryOut(step, &size)
    } catch let error as DatabaseError where !error.asksForAnotherLeader {
      throw step.context.failure(error)
    }
  }

  private func carryOut(_ step: RemoteStep, _ size: inout CommitSize) throws {
    switch step.action {
    case .question(let question):
      guard try leader.rows("SELECT \(question.condition)").first?[0] == 1 else { return }
      throw try step.context.failure(question, on: leader, redacted: redactsValues)
    case .assertion(let assertion): try check(assertion, step.context)
    case .statement(let statement):
      onEvent(.ran(statement: statement.sql))
      do {
        try run(statement, of: step, &size)
      } catch let error as DatabaseError where !error.asksForAnotherLeader {
        throw step.context.failure(error, position: statement.position, statement: statement.sql)
      }
    }
  }

  private func check(_ assertion: Assertion, _ context: Context) throws {
    let rows = try leader.rows(assertion.query.text).map { $0[0] }
    let expected = try leader.rows("SELECT \(assertion.equals.sql)").first?[0] ?? .null
    guard rows != [expected] else { return }
    throw context.failure(
      .migrationFailed,
      assertion.broken(by: rows, expected: expected, redacted: redactsValues),
      position: assertion.position, statement: assertion.query.text)
  }

  // MARK: Rows

  private func run(
    _ statement: RemoteStatement, of step: RemoteStep, _ size: inout CommitSize
  ) throws {
    let start = size
    func note() throws {
      size = try start.after(statement, on: leader) { (table) throws(DatabaseError) in
        // Earlier migrations may have created or filled the table after it was measured.
        if let load = step.loads[table], !load.isOfSource, load.rows > 0 { return load }
        return try TableLoad(of: table, on: leader)
      }
      guard size.bytes <= CommitSize.largest else {
        throw step.context.refusal(
          CommitSize.refusal("the migration writes up to here", size.bytes),
          position: statement.position, statement: statement.sql)
      }
    }
    guard let ranged = statement.ranged, try step.ranges != nil || hasManyRows(ranged.table) else {
      try leader.execute(statement.sql)
      // The first page of a new table is counted with the next statement.
      if case .creation = statement.kind { return }
      return try note()
    }
    let from = "main.\(Quoting.quoted(ranged.table))"
    let rowid = ranged.rowid
    var ranges = KeyRanges()
    var low = Int64.min
    while true {
      guard !interruption.isRequested else { throw Failure(.interrupted, "interrupted") }
      let last = try leader.rows(
        "SELECT max(r), count(*) FROM (SELECT \(rowid) AS r FROM \(from) WHERE \(rowid) >= ?1 "
          + "ORDER BY 1 LIMIT \(ranges.rows))", [.integer(low)], columns: 2)
      guard let high = last.first?[0].integer, let count = last.first?[1].integer, high >= low
      else {
        break
      }
      let time = Stopwatch()
      try leader.execute(ranged.sql, [.integer(low), .integer(high)])
      ranges.note(seconds: time.seconds, rows: count)
      try note()
      guard high < .max else { break }
      low = high + 1
    }
  }

  private func hasManyRows(_ table: String) throws(DatabaseError) -> Bool {
    let few = TableLoad.fewRows
    return try leader.rows(
      "SELECT count(*) > \(few) FROM (SELECT 1 FROM main.\(Quoting.quoted(table)) LIMIT \(few + 1))"
    ).first?[0] == 1
  }
}

/// Chooses the number of rows in the next key range, so that the range takes about half of the permitted
/// time.
struct KeyRanges {
  private(set) var rows: Int64 = 1_000

  private static let aim = TableLoad.longest / 2

  mutating func note(seconds: Double, rows count: Int64) {
    guard seconds > 0, count > 0 else { return }
    let fitting = Int64(Double(count) * Self.aim / seconds)
    rows = min(max(fitting, rows / 8, 1), rows * 4, 200_000)
  }
}
