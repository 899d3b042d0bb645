import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// The plan of one migration as statements and questions for the leader.
package struct RemotePlan {
  let planned: PlannedMigration
  let steps: [RemoteStep]

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

  enum Action {
    /// Stops the migration when the answer is yes.
    case question(Question)
    case assertion(Assertion)
    case statement(RemoteStatement)
  }
}

/// One statement that changes the schema or rows.
struct RemoteStatement {
  let sql: String
  let position: Position
  /// Among those of the plan.
  let number: Int
  /// How it runs on a large table; nil if it cannot be divided.
  let divided: DividedStatement?
  /// The tables in which it may read or write many rows, by their names when the statement runs.
  let tables: [Identifier]
  /// Those of them that it writes.
  let written: Set<Identifier>

  func writes(_ table: Identifier) -> Bool { written.contains(table) }
}

extension RemotePlan {
  /// - Parameter application: the functions that nodes do not have.
  /// - Throws: why the migration cannot run on dqlite, whatever its rows are (65).
  package init(_ planned: PlannedMigration, _ application: Application) throws(Failure) {
    self.planned = planned
    let migration = planned.migration
    let limits = RemoteLimits(planned, application)
    if migration.manifest.foreignKeys == .enforced {
      throw Context(migration: migration).refusal(
        "`foreign_keys: enforced` needs a PRAGMA, and foreign keys are off while schemactl migrates"
      )
    }
    var steps = migration.manifest.before.map { assertion in
      RemoteStep(
        context: Context(migration: migration, assertion: assertion), action: .assertion(assertion))
    }
    for (index, plan) in planned.operations.map(\.plan).enumerated() {
      let context = Context(migration: migration, index: index, operation: plan.operation)
      var statements = planned.statements.enumerated().filter { $0.element.operation == index }[...]
      for step in plan.steps {
        let actions: [RemoteStep.Action]
        switch step {
        case .question(let question): actions = [.question(question)]
        case .assertion(let assertion): actions = [.assertion(assertion)]
        case .statement, .update:
          actions = try limits.actions(statements.prefix(1), context)
          statements = statements.dropFirst()
        case .script:
          actions = try limits.actions(statements, context)
          statements = []
        case .copy, .edit:
          throw context.refusal(
            "`\(plan.operation.name)` edits `sqlite_schema` here, for which dqlite has no PRAGMA: "
              + "create a new table, or add a column and fill it with `update`")
        case .rewriting(let isOn):
          if isOn, let trigger = limits.trigger(firedBy: plan) {
            throw context.refusal(
              "`\(plan.operation.name)` writes rows without firing triggers, which dqlite cannot do: "
                + "drop the trigger `\(trigger)` first, and create it again afterwards")
          }
          actions = []
        }
        steps += actions.map { RemoteStep(context: context, action: $0) }
      }
    }
    guard planned.temporary.isEmpty else {
      throw Context(migration: migration).refusal(
        "it leaves temporary objects, which a migration on dqlite cannot have")
    }
    self.steps =
      steps
      + migration.manifest.after.map { assertion in
        RemoteStep(
          context: Context(migration: migration, assertion: assertion),
          action: .assertion(assertion))
      }
  }
}

extension Context {
  /// Why a migration cannot run on dqlite, found before anything was sent.
  func refusal(
    _ reason: String, position: Position? = nil, statement: String? = nil
  ) -> Failure {
    failure(
      .invalidInput, "this cannot run on dqlite: \(reason). Nothing was changed",
      position: position, statement: statement)
  }
}

/// Finds what dqlite 1.11.1 cannot do in the statements of one plan.
private struct RemoteLimits {
  private let planned: PlannedMigration
  private let functions: Set<Identifier>

  init(_ planned: PlannedMigration, _ application: Application) {
    self.planned = planned
    functions = Set(
      ([.uuid] + application.functions).map { $0.name.identifier }
        + application.declaredFunctions.map { $0.name.identifier })
  }

  func actions(
    _ statements: ArraySlice<(offset: Int, element: ReplayedStatement)>, _ context: Context
  ) throws(Failure) -> [RemoteStep.Action] {
    var actions: [RemoteStep.Action] = []
    for (number, statement) in statements where !statement.isAcceptedPragma {
      try require(statement, context)
      let divided = DividedStatement(statement.sql).flatMap { isDivisible($0) ? $0 : nil }
      actions.append(
        .statement(
          RemoteStatement(
            sql: statement.sql, position: statement.position, number: number, divided: divided,
            tables: statement.tablesOfManyRows,
            written: statement.rewrittenTables)))
    }
    return actions
  }

  private func require(_ statement: ReplayedStatement, _ context: Context) throws(Failure) {
    guard let reason = reason(against: statement) else { return }
    throw context.refusal(reason, position: statement.position, statement: statement.sql)
  }

  private func reason(against statement: ReplayedStatement) -> String? {
    let events = statement.events
    if statement.sql.utf8.contains(0) { return "its protocol cannot carry a NUL character" }
    if let pragma = events.first(where: { $0.action == .pragma && !Pragmas.onlyReads($0) }) {
      return "PRAGMA \((pragma.first ?? "").identifier) is not allowed there"
    }
    if statement.returnsRows {
      return "the statement returns rows, and dqlite does not store the changes of such a statement"
    }
    // ALTER TABLE looks at the schema of temporary objects, too.
    if events.contains(where: {
      $0.database == "temp" && !($0.first ?? "").identifier.isInternal
    }) {
      return "a migration there cannot have temporary objects"
    }
    if let name = function(calledBy: statement) {
      return "`\(name)()` is a function of the application, which the nodes do not have"
    }
    // The scratch database has only the rows that migrations write.
    if statement.seconds > TableLoad.longest {
      return
        "the statement takes \(milliseconds(statement.seconds)) ms on the empty scratch database, and \(tooLong)"
    }
    return nil
  }

  /// SQLite reports the functions that a statement itself calls. The functions that fill a row are in the SQL of the
  /// table, its indexes and its triggers.
  private func function(calledBy statement: ReplayedStatement) -> Identifier? {
    for event in statement.events where event.action == .function {
      if let name = event.second?.identifier, functions.contains(name) { return name }
    }
    let written = Set(statement.writtenTables)
    for object in planned.before.objects + planned.after.objects
    where written.contains(object.table.identifier) {
      let tokens = TokenizedSQL(object.sql ?? "")
      let names = tokens.identifiers(in: 0..<tokens.bytes.count)
      if let name = names.first(where: { functions.contains($0.text.identifier) }) {
        return name.text.identifier
      }
    }
    return nil
  }

  /// The user's trigger that an UPDATE of the plan would fire.
  func trigger(firedBy plan: OperationPlan) -> String? {
    for case .update(let update) in plan.steps {
      if let trigger = triggers(on: update.table).first { return trigger.name }
    }
    return nil
  }

  private func triggers(on table: String) -> [SchemaObject] {
    planned.before.objects(.trigger, on: table) + planned.after.objects(.trigger, on: table)
  }

  /// A trigger may write other rows of the table, and a changed key may move a row into the next range.
  private func isDivisible(_ statement: DividedStatement) -> Bool {
    triggers(on: statement.table).isEmpty
      && statement.assigned.isDisjoint(with: ["rowid", "oid", "_rowid_"])
  }
}

extension ReplayedStatement {
  /// How long it ran on the scratch database.
  var seconds: Double { Double(nanoseconds) / 1_000_000_000 }

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

  /// The tables that get, lose or change rows, those that triggers write included.
  fileprivate var writtenTables: [Identifier] {
    events.filter { [.insert, .update, .delete].contains($0.action) && $0.database == "main" }
      .compactMap { $0.first?.identifier }.filter { !$0.isInternal }
  }

  /// The tables whose rows it writes, or copies into an index or another table.
  fileprivate var rewrittenTables: Set<Identifier> {
    let isCopy = events.contains { [.createIndex, .alterTable, .createTable].contains($0.action) }
    return Set(isCopy ? tablesOfManyRows : writtenTables)
  }

  private var isSchemaChange: Bool {
    events.contains {
      [.createTable, .dropTable, .dropIndex, .dropVirtualTable].contains($0.action)
    }
  }

  /// The tables whose rows the statement itself may read or write. CREATE TABLE, DROP, ADD COLUMN and RENAME
  /// read and write only the schema.
  fileprivate var tablesOfManyRows: [Identifier] {
    let altered = events.filter { $0.action == .alterTable }
    guard altered.isEmpty else {
      return rewritesTable ? altered.compactMap { $0.second?.identifier } : []
    }
    let own = events.filter { $0.trigger == nil && $0.database == "main" }
    let isCreatedFromRows =
      own.contains { $0.action == .createTable } && TokenizedSQL(sql).mentions("select")
    if isSchemaChange, !isCreatedFromRows { return [] }
    let rows: [AuthorizerAction] = [.read, .update, .delete, .analyze]
    var tables = own.filter { rows.contains($0.action) }.compactMap { $0.first?.identifier }
    tables += own.filter { $0.action == .createIndex }.compactMap { $0.second?.identifier }
    return Array(Set(tables.filter { !$0.isInternal })).sorted()
  }

  /// DROP COLUMN writes every row, and a CHECK or a generated column that is added is tested against each.
  private var rewritesTable: Bool {
    let tokens = TokenizedSQL(sql)
    return tokens.mentions("drop") || tokens.mentions("check") || tokens.mentions("generated")
      || tokens.mentions("as")
  }
}
