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

/// The plan of one migration as statements and questions for the leader.
package struct RemotePlan {
  let planned: PlannedMigration
  var steps: [RemoteStep]

  var migration: Migration { planned.migration }

  /// The tables that it renames.
  var renames: TableRenames {
    planned.statements.reduce(into: TableRenames()) { $0.note($1.sql, $1.events) }
  }
}

/// One question or statement for the leader.
struct RemoteStep {
  let context: Context
  let action: Action
  let compiled: CompiledStatement
  /// The sizes of its tables before the migrations, by their names when it runs.
  var loads: [Identifier: TableLoad] = [:]

  /// The statement in key ranges, if its table needs them, and the size of the table.
  var ranges: (statement: RangedStatement, load: TableLoad)? {
    guard case .statement(let statement) = action, let ranged = statement.ranged,
      let load = loads[ranged.table.identifier], load.rows > TableLoad.fewRows
    else { return nil }
    return (ranged, load)
  }

  /// The tables in which it may read or write many rows, by their names when it runs.
  var tables: [Identifier] {
    guard case .statement(let statement) = action else {
      return compiled.tables(of: [.read]).sorted()
    }
    return statement.tables
  }

  enum Action {
    /// Stops the migration when the answer is yes.
    case question(Question)
    case assertion(Assertion)
    case statement(RemoteStatement)

    /// The SQL that the leader receives.
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
  /// - Parameter application: the functions that nodes do not have.
  /// - Throws: why the migration cannot run on dqlite, whatever its rows are (65).
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
  /// Why a migration cannot run on dqlite, found before anything was sent.
  func refusal(
    _ reason: String, position: Position? = nil, statement: String? = nil
  ) -> Failure {
    failure(
      .invalidInput, "this cannot run on dqlite: \(reason). Nothing changed",
      position: position, statement: statement)
  }
}

/// Compiles the steps of one plan, and finds what dqlite 1.11.1 cannot do.
private struct RemoteWriter {
  private(set) var steps: [RemoteStep] = []
  /// The functions that nodes do not have.
  private let functions: Set<Identifier>
  /// A private database with the schema at each step's own point.
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

  /// - Parameter firesNoTrigger: whether the statements run without triggers on a file.
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

  /// Why a statement cannot run on dqlite, by its text and by how it ran on the scratch database.
  private func reason(against statement: ReplayedStatement) -> String? {
    let events = statement.events
    if statement.sql.utf8.contains(0) { return "its protocol cannot carry a NUL character" }
    if let pragma = events.first(where: { $0.action == .pragma && !Pragmas.onlyReads($0) }) {
      return "dqlite does not allow `PRAGMA \((pragma.first ?? "").identifier)`"
    }
    // Adding a column with a CHECK or NOT NULL asks for broken rows, and returns none.
    if statement.returnsRows, !events.contains(where: { $0.action == .alterTable }) {
      return "the statement returns rows, and dqlite does not store the changes of such a statement"
    }
    // ALTER TABLE looks at the schema of temporary objects, too.
    if events.contains(where: {
      $0.database == "temp" && !($0.first ?? "").identifier.isInternal
    }) {
      return "a migration there cannot have temporary objects"
    }
    // The scratch database has only the rows that migrations write.
    if statement.seconds > TableLoad.longest {
      return
        "the statement takes \(milliseconds(statement.seconds)) ms on the empty scratch database, and \(tooLong)"
    }
    return nil
  }
}

extension ReplayedStatement {
  /// How long it ran on the scratch database.
  fileprivate var seconds: Double { Double(nanoseconds) / 1_000_000_000 }

  /// A PRAGMA that a migration may contain, and that schemactl does not run.
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
