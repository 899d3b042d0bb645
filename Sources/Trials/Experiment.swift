import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Runs migrations on a filled database, optionally with a changed value or without a row.
final class Experiment {
  enum Change {
    case set(table: String, address: String, column: String, value: Value)
    case remove(table: String, address: String)
    /// Sets a column to the value of an expression in the rows that accept it.
    case reset(table: String, address: String, column: String, value: String)

    var sql: String {
      switch self {
      case .set(let table, let address, let column, let value):
        "UPDATE main.\(Quoting.quoted(table)) SET \(Quoting.quoted(column)) = \(value.sql) "
          + "WHERE \(address)"
      case .remove(let table, let address):
        "DELETE FROM main.\(Quoting.quoted(table)) WHERE \(address)"
      case .reset(let table, let address, let column, let value):
        "UPDATE OR IGNORE main.\(Quoting.quoted(table)) SET \(Quoting.quoted(column)) = (\(value)) "
          + "WHERE \(address)"
      }
    }
  }

  /// A statement, and the contents of the tables after it.
  struct Step {
    let migration: Int
    let statement: ReplayedStatement
    let contents: Contents
  }

  struct Outcome {
    let contents: Contents
    var steps: [Step] = []
    /// The foreign keys that the last migration broke.
    var brokenReferences: ScratchDatabase.BrokenReferences?
  }

  let database: FilledDatabase
  private let history: TriedHistory
  private let migrations: [(index: Int, migration: Migration)]
  /// The changes of each run.
  private let always: [Change]
  /// The migrations have to convert a value that violates one of these.
  private let checks: NewChecks
  /// The tables that the last migration changes.
  private let touched: Set<Identifier>
  /// The failure of a migration in the latest run.
  private(set) var failure: Failure?
  /// Whether the latest run called a function or a collation of the application. Then its outcome
  /// is meaningless.
  private(set) var calledUnknown = false
  /// The reason why the latest run has no outcome.
  private(set) var refusal: String?

  /// - Parameters:
  ///   - steps: the migrations that run, in order.
  ///   - checks: CHECKs that refuse changed values before the migrations run.
  init(
    _ database: FilledDatabase, _ steps: [Int], of history: TriedHistory,
    checks: NewChecks = NewChecks()
  ) {
    self.database = database
    self.checks = checks
    self.history = history
    migrations = steps.map { ($0, history.migrations[$0].withSmallLimits) }
    touched = history.touched[steps[steps.count - 1]]
    always = []
  }

  /// The same experiment without the rows of a table.
  init(_ other: Experiment, emptying table: String) {
    (database, history) = (other.database, other.history)
    (migrations, touched, checks) = (other.migrations, other.touched, other.checks)
    always = other.always + [.remove(table: table, address: "1")]
  }

  /// Whether to skip the remaining columns. An experiment over several drafts only confirms a loss.
  var hasSpentBudget: Bool { migrations.count == 1 && history.spent > TriedHistory.budget }

  /// Whether a row, as it was filled, violates a new CHECK that reads the column.
  func forbids(
    _ value: Value, in column: String, of table: String, at address: String
  ) throws(Failure) -> Bool {
    guard !checks.isEmpty else { return false }
    do {
      let connection = try history.application.scratch()
      _ = try history.application.register(on: connection)
      try connection.deserialize(database.bytes)
      return try checks.refuse(value, in: column, of: table, at: address, on: connection)
    } catch {
      throw Failure(error.status, "the experiment with rows failed: \(error.inWords)")
    }
  }

  /// - Parameters:
  ///   - checksReferences: whether to look for foreign keys that the last migration breaks.
  ///   - device: the results of random functions and of the clock.
  /// - Returns: nil if a change is refused or a migration fails.
  /// - Throws: a failure with its cause if the runs exceed a limit.
  func run(
    _ changes: [Change] = [], tracing: Bool = false, checksReferences: Bool = false,
    on device: VaryingValues.Device? = nil
  ) throws(Failure) -> Outcome? {
    (failure, calledUnknown, refusal) = (nil, false, nil)
    let application = history.application
    let names = database.tables.keys
    do {
      let connection = try application.scratch()
      let calls = try application.register(on: connection)
      // Reading all rows after each statement takes as long as the statement.
      let cost = migrations.reduce(0) { $0 + history.costs[$1.index] } * (tracing ? 2 : 1)
      defer {
        calledUnknown = !calls.called.isEmpty
        history.spend(cost, on: connection)
      }
      if let device {
        try connection.fixClockAndChance(device.chance, on: device.day, at: device.time)
      } else {
        try connection.fixClockAndChance(ChanceCounter(from: ChanceCounter.range.lowerBound))
      }
      try connection.deserialize(database.bytes)
      connection.set(.trustedSchema, to: true)
      connection.set(.triggers, to: false)
      for change in always + changes {
        if let refusal = try connection.refusal(of: change.sql) {
          self.refusal = refusal
          return nil
        }
        if case .set(let table, let address, let column, let value) = change,
          try checks.refuse(value, in: column, of: table, at: address, on: connection)
        {
          refusal = "a new CHECK refuses the value"
          return nil
        }
      }
      connection.set(.triggers, to: device == nil)
      let scratch = try ScratchDatabase(
        on: connection, application, calls, isCopy: false,
        interruption: history.interruption)
      var steps: [Step] = []
      var current = 0
      if tracing {
        scratch.observe(comparesSchemas: false) { (statement, _) throws(DatabaseError) in
          let contents = try Contents(
            of: connection, Schema(of: connection), before: names)
          steps.append(
            Step(migration: current, statement: statement, contents: contents))
        }
      }
      for (index, migration) in migrations {
        current = index
        let isChecked = checksReferences && index == migrations.last?.index
        try scratch.apply(migration, touching: isChecked ? touched : [])
      }
      guard calls.called.isEmpty else {
        refusal =
          "the migration calls the application's "
          + "\(calls.called.map { "`\($0)`" }.joined(separator: ", "))"
        return nil
      }
      return Outcome(
        contents: try Contents(
          of: connection, scratch.schema, before: names, namesRandomValues: device == nil),
        steps: steps,
        brokenReferences: scratch.brokenReferences)
    } catch let failure as Failure {
      if failure.status == .interrupted || failure.cause?.exceeded != nil { throw failure }
      self.failure = failure
      refusal = failure.message
      return nil
    } catch let error as DatabaseError {
      guard !error.isEnvironmentalFault else {
        var failure = Failure(error.status, "the experiment with rows failed: \(error.inWords)")
        failure.cause = error
        throw failure
      }
      refusal = error.inWords
      return nil
    } catch {
      throw Failure(.bug, "\(error)")
    }
  }

  /// The kinds of rows on which the migrations run. Tests groups of kinds, and the single kinds of
  /// a group that fails.
  func acceptedKinds(of all: [[RowKind]]) throws(Failure) -> [RowKind] {
    var accepted: [RowKind] = []
    var groups = all
    while !groups.isEmpty {
      let group = groups.removeFirst()
      let kinds = accepted + group
      let others = database.tables.values.flatMap { table in
        table.rows.filter { !kinds.contains($0.kind) }.map {
          Change.remove(table: table.shape.name, address: $0.address)
        }
      }
      if try run(others) != nil {
        accepted = kinds
      } else if group.count > 1 {
        groups.insert(contentsOf: group.map { [$0] }, at: 0)
      }
    }
    return all.flatMap { $0.filter(accepted.contains) }
  }
}
