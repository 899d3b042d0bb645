import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The plan of one migration, as statements and queries for the leader.
package struct RemotePlan {
  let planned: PlannedMigration
  var steps: [RemoteStep]

  var migration: Migration { planned.migration }

  /// The tables that the migration renames.
  var renames: TableRenames {
    planned.statements.reduce(into: TableRenames()) { $0.note($1.sql, $1.events) }
  }
}

/// One query or statement for the leader.
struct RemoteStep {
  let context: Context
  let action: Action
  let compiled: CompiledStatement
  /// The sizes of the tables before the migrations, by the names of the tables when the step runs.
  var loads: [Identifier: TableLoad] = [:]

  /// The statement for key ranges and the size of its table, if the table is large.
  var ranges: (statement: RangedStatement, load: TableLoad)? {
    guard case .statement(let statement) = action, let ranged = statement.ranged,
      let load = loads[ranged.table.identifier], load.rows > TableLoad.fewRows
    else { return nil }
    return (ranged, load)
  }

  /// The tables in which the step may read or write many rows, by their names when it runs.
  var tables: [Identifier] {
    guard case .statement(let statement) = action else {
      return compiled.tables(of: [.read]).sorted()
    }
    return statement.tables
  }

  enum Action {
    /// A query that stops the migration if its result is true.
    case question(Question)
    case assertion(Assertion)
    case statement(RemoteStatement)

    /// The SQL for the leader.
    var sql: String {
      switch self {
      case .question(let question): "SELECT \(question.condition)"
      case .assertion(let assertion): assertion.query.text
      case .statement(let statement): statement.sql
      }
    }
  }
}

extension RemotePlan {
  /// Translates a plan.
  ///
  /// - Parameter application: contains the functions that nodes do not have.
  /// - Throws: the reason why the migration cannot run on dqlite, regardless of its rows (65).
  package init(_ planned: PlannedMigration, _ application: Application) throws(Failure) {
    self.planned = planned
    let migration = planned.migration
    if migration.manifest.foreignKeys == .enforced {
      throw Context(migration: migration).refusal(
        "`foreign_keys: enforced` needs a PRAGMA, and foreign keys are off while schemactl migrates"
      )
    }
    var writer = try RemoteWriter(planned, application)
    for assertion in migration.manifest.before {
      try writer.add(.assertion(assertion), Context(migration: migration, assertion: assertion))
    }
    for (index, plan) in planned.operations.map(\.plan).enumerated() {
      let context = Context(migration: migration, index: index, operation: plan.operation)
      var statements = planned.statements.filter { $0.operation == index }[...]
      var firesNoTrigger = false
      for step in plan.steps {
        switch step {
        case .question(let question): try writer.add(.question(question), context)
        case .assertion(let assertion): try writer.add(.assertion(assertion), context)
        case .statement, .update:
          try writer.add(statements.prefix(1), context, firesNoTrigger)
          statements = statements.dropFirst()
        case .script:
          try writer.add(statements, context, firesNoTrigger)
          statements = []
        case .copy, .edit:
          throw context.refusal(
            "`\(plan.operation.name)` edits `sqlite_schema` here, for which dqlite has no PRAGMA: "
              + "create a new table, or add a column and fill it with `update`")
        case .rewriting(let isOn): firesNoTrigger = isOn
        }
      }
    }
    guard planned.temporary.isEmpty else {
      throw Context(migration: migration).refusal(
        "it leaves temporary objects, which a migration on dqlite cannot have")
    }
    for assertion in migration.manifest.after {
      try writer.add(.assertion(assertion), Context(migration: migration, assertion: assertion))
    }
    steps = writer.steps
  }
}

extension Context {
  /// Returns the reason why a migration cannot run on dqlite. Nothing has been sent yet.
  func refusal(
    _ reason: String, position: Position? = nil, statement: String? = nil
  ) -> Failure {
    failure(
      .invalidInput, "this cannot run on dqlite: \(reason). Nothing changed",
      position: position, statement: statement)
  }
}

/// Compiles the steps of a plan, and finds statements that dqlite 1.11.1 cannot run.
private struct RemoteWriter {
  private(set) var steps: [RemoteStep] = []
  /// The functions that nodes do not have.
  private let functions: Set<Identifier>
  /// A private database with the schema before the step that is compiled.
  private let connection: Connection

  init(_ planned: PlannedMigration, _ application: Application) throws(Failure) {
    functions = Set(
      ([.uuid] + application.functions).map { $0.name.identifier }
        + application.declaredFunctions.map { $0.name.identifier })
    do throws(DatabaseError) {
      connection = try planned.before.scratch(application)
      connection.set(.trustedSchema, to: true)
    } catch {
      throw Context(migration: planned.migration).failure(error, onScratch: true)
    }
  }

  mutating func add(_ action: RemoteStep.Action, _ context: Context) throws(Failure) {
    let compiled = try compile(action.sql, context)
    steps.append(RemoteStep(context: context, action: action, compiled: compiled))
  }

  /// - Parameter firesNoTrigger: whether the statements run with triggers turned off on a database file.
  mutating func add(
    _ statements: ArraySlice<ReplayedStatement>, _ context: Context, _ firesNoTrigger: Bool
  ) throws(Failure) {
    for statement in statements where !statement.isAcceptedPragma {
      func require(_ reason: String?) throws(Failure) {
        guard let reason else { return }
        throw context.refusal(reason, position: statement.position, statement: statement.sql)
      }
      try require(reason(against: statement))
      let compiled = try compile(statement.sql, context, statement.position)
      if let name = compiled.functions.first(where: functions.contains) {
        try require("`\(name)()` is a function of the application, which the nodes do not have")
      }
      if firesNoTrigger, let trigger = compiled.trigger {
        try require(
          "`\(context.operation.name)` writes rows without firing triggers, which dqlite cannot do: "
            + "drop the trigger `\(trigger)` first, and create it again afterwards")
      }
      let ranged: RangedStatement?
      do throws(DatabaseError) {
        ranged = try compiled.ranged(statement.sql, on: connection)
      } catch {
        throw failure(error, statement.sql, context, statement.position)
      }
      let action = RemoteStep.Action.statement(RemoteStatement(statement, compiled, ranged))
      steps.append(RemoteStep(context: context, action: action, compiled: compiled))
      guard compiled.changesSchema else { continue }
      do throws(DatabaseError) {
        try connection.execute(statement.sql)
      } catch {
        throw failure(error, statement.sql, context, statement.position)
      }
    }
  }

  private func compile(
    _ sql: String, _ context: Context, _ position: Position? = nil
  ) throws(Failure) -> CompiledStatement {
    do throws(DatabaseError) {
      return try CompiledStatement(sql, on: connection)
    } catch {
      throw failure(error, sql, context, position)
    }
  }

  private func failure(
    _ error: DatabaseError, _ sql: String, _ context: Context, _ position: Position?
  ) -> Failure {
    context.failure(error, position: position, statement: sql, onScratch: true)
  }

  /// Returns the reason why a statement cannot run on dqlite, judged by its text and by its run on the
  /// scratch database.
  private func reason(against statement: ReplayedStatement) -> String? {
    let events = statement.events
    if statement.sql.utf8.contains(0) { return "its protocol cannot carry a NUL character" }
    if let pragma = events.first(where: { $0.action == .pragma && !Pragmas.onlyReads($0) }) {
      return "dqlite does not allow `PRAGMA \((pragma.first ?? "").identifier)`"
    }
    // ALTER TABLE with a new CHECK or NOT NULL runs a query for rows that violate it, but returns no rows.
    if statement.returnsRows, !events.contains(where: { $0.action == .alterTable }) {
      return "the statement returns rows, and dqlite does not store the changes of such a statement"
    }
    // ALTER TABLE also reads the schema of temporary objects.
    if events.contains(where: {
      $0.database == "temp" && !($0.first ?? "").identifier.isInternal
    }) {
      return "a migration there cannot have temporary objects"
    }
    // The scratch database contains only rows that migrations insert.
    if statement.seconds > TableLoad.longest {
      return
        "the statement takes \(milliseconds(statement.seconds)) ms on the empty scratch database, and \(tooLong)"
    }
    return nil
  }
}

extension ReplayedStatement {
  /// The run time on the scratch database.
  fileprivate var seconds: Double { Double(nanoseconds) / 1_000_000_000 }

  /// Whether the statement is a PRAGMA that a migration may contain, but that schemactl does not run.
  fileprivate var isAcceptedPragma: Bool {
    let tokens = TokenizedSQL(sql)
    guard let first = tokens.significant.first, tokens.text(first).identifier == "pragma" else {
      return false
    }
    return events.contains {
      $0.action == .pragma && Pragmas.acceptedNotRun.contains(($0.first ?? "").identifier)
    }
  }
}
