import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Plans operations against the schema of a connection.
package struct Planner {
  private let connection: Connection
  private let application: Application

  /// - Parameter connection: the connection whose schema is read, if an operation needs it.
  package init(connection: Connection, application: Application) {
    self.connection = connection
    self.application = application
  }

  private var schema: Schema { get throws { try Schema(of: connection) } }

  /// Plans the first of these operations, together with those that can share a rewrite of its table.
  ///
  /// - Parameter operations: at least one.
  /// - Returns: one plan for each of these operations.
  package func plan(
    _ operations: ArraySlice<Operation>
  ) throws -> [OperationPlan] {
    let first = operations[operations.startIndex]
    if first.changedTable != nil,
      let shared = try SharedRewrite(operations, in: schema, application)
    {
      return try shared.plans()
    }
    return [try plan(first)]
  }

  /// Plans an operation alone.
  package func plan(_ operation: Operation) throws -> OperationPlan {
    func native(_ sql: String, _ source: SQLSource? = nil) -> OperationPlan {
      OperationPlan(operation: operation, strategy: .native, steps: [.statement(sql, source)])
    }
    switch operation.kind {
    case .createTable(let definition):
      return native(qualified(definition.sql))
    case .dropTable(let table):
      try requireNoFullTextReader(nil, of: table)
      return native("DROP TABLE \(main(table))")
    case .renameTable(let table, let to):
      try requireNoFullTextReader(nil, of: table)
      return native("ALTER TABLE \(main(table)) RENAME TO \(Quoting.quoted(to))")
    case .addColumn(let table, let column):
      try requireNoIndexOverRowid(column.name, of: table)
      return try addition(of: column, to: table, operation)
    case .dropColumn(let table, let column):
      try requireNoFullTextReader(column, of: table)
      try requireNoIndexOverRowid(column, of: table)
      try requireUnmentioned(column, of: table)
      return native("ALTER TABLE \(main(table)) DROP COLUMN \(Quoting.quoted(column))")
    case .renameColumn(let table, let from, let to):
      try requireNoFullTextReader(from, of: table)
      try requireNoIndexOverRowid(to, of: table)
      try requireRenamable(from, to: to, of: table)
      return native(
        "ALTER TABLE \(main(table)) RENAME COLUMN \(Quoting.quoted(from)) TO \(Quoting.quoted(to))")
    case .moveColumn(let move):
      if case .using(let source) = move.mapping {
        try requireOneRow(
          source, of: move.table, key: "using", adding: move.keepSource ? move.to.name : nil)
      }
      return try ColumnMove(move, in: schema, application).plan(operation)
    case .createIndex(let index):
      try requireColumns(of: index)
      return native(qualified(index.sql), index.where)
    case .createView(let name, let sql):
      try requireCreate("view", name, sql)
      return native(qualified(sql.text), sql)
    case .createTrigger(let name, let sql):
      try requireCreate("trigger", name, sql)
      return native(qualified(sql.text), sql)
    case .dropIndex(let name): return native("DROP INDEX \(main(name))")
    case .dropView(let name): return native("DROP VIEW \(main(name))")
    case .dropTrigger(let name): return native("DROP TRIGGER \(main(name))")
    case .insert(let table, let rows):
      let abort = try orAbort(table)
      let steps = rows.map { Step.statement(insertion($0, abort, into: table), nil) }
      return OperationPlan(operation: operation, strategy: .native, steps: steps)
    case .update(let table, let set, let condition):
      let assignments = set.map {
        "\(Quoting.quoted($0.column)) = (\(expression($0.expression)))"
      }.joined(separator: ", ")
      return native(
        "UPDATE\(try orAbort(table)) \(main(table)) SET \(assignments)\(filter(condition))",
        condition)
    case .delete(let table, let condition):
      return native("DELETE FROM \(main(table))\(filter(condition))", condition)
    case .sql(let sources):
      return OperationPlan(
        operation: operation, strategy: .sql, steps: sources.map(Step.script))
    case .assert(let assertion):
      return OperationPlan(
        operation: operation, strategy: .assertion, steps: [.assertion(assertion)])
    case .alterColumn(let change):
      return try ColumnAlteration(change, in: schema).plan(operation, application)
    case .rebuildTable(let rebuild):
      for copy in rebuild.copy {
        try requireOneRow(copy.expression, of: rebuild.table.name, key: "copy")
      }
      return try TableRebuilding(rebuild, in: schema).plan(operation, application)
    case .createVirtualTable(let name, let module, let arguments):
      return native(try virtualTable(name, module, arguments))
    case .dropVirtualTable(let name):
      try requireVirtual(name)
      return native("DROP TABLE \(main(name))")
    case .convertPrimaryKey(let conversion):
      return try KeyConversion(conversion, in: schema, application).plan(operation)
    }
  }

  private func table(_ name: String) throws -> SchemaObject? {
    try Schema(of: connection, table: name).table(name)
  }

  private func parsed(_ table: String) throws -> ParsedTable? {
    try self.table(table).flatMap { try? ParsedTable($0) }
  }

  private func main(_ name: String) -> String { "main.\(Quoting.quoted(name))" }

  private func filter(_ condition: SQLSource?) -> String {
    condition.map { " WHERE (\(expression($0)))" } ?? ""
  }

  /// Returns ` OR ABORT` if a conflict clause of the table could remove other rows or skip the new one. For
  /// other tables it is left out, because it overrides the conflict clauses in the table's triggers
  /// (lang_createtrigger.html).
  private func orAbort(_ table: String) throws -> String {
    let tokens = TokenizedSQL(try connection.sql(ofTable: table) ?? "")
    guard tokens.mentions("conflict"), case .createTable(let parsed)? = try? parseCreate(tokens)
    else { return "" }
    return parsed.mayLoseRowsOnConflict ? " OR ABORT" : ""
  }

  private func insertion(
    _ row: [Cell], _ abort: String, into table: String
  ) -> String {
    let columns = quotedList(row.map(\.column))
    let values = row.map(\.value.sql).joined(separator: ", ")
    return "INSERT\(abort) INTO \(main(table)) (\(columns)) VALUES (\(values))"
  }

  // MARK: Checks

  /// Refuses a table or a column that a full-text table reads by its name: SQLite neither rewrites such a
  /// full-text table nor reports it.
  ///
  /// - Parameter column: nil for the table.
  private func requireNoFullTextReader(_ column: String?, of table: String) throws {
    guard let reader = try schema.tables.first(where: { $0.reads(column, of: table) }) else {
      return
    }
    throw PlanningError(
      "the virtual table `\(reader.name)` reads `\(column.map { "\(table).\($0)" } ?? table)` by its name: "
        + "drop it first with `drop_virtual_table`, and create it again afterwards, with `INSERT "
        + "INTO \(reader.name) (\(reader.name)) VALUES ('rebuild')`",
      key: column == nil ? "table" : nil)
  }

  /// Refuses a column whose addition, removal or new name changes the meaning of a name of the rowid, if an
  /// index reads that name. SQLite leaves such a partial index unchanged, and queries miss rows.
  private func requireNoIndexOverRowid(
    _ column: String, of table: String
  ) throws {
    guard Identifier.rowids.contains(column.identifier) else { return }
    let reader = try Schema(of: connection, table: table).objects(.index, on: table)
      .first { TokenizedSQL($0.sql ?? "").names(column) }
    guard let reader else { return }
    throw PlanningError(
      "the index `\(reader.name)` reads `\(column)`, which this operation turns from the rowid into a "
        + "column or back: drop the index first with `drop_index`, and create it again afterwards")
  }

  /// Refuses to drop a column that an index, a view or a trigger reads, as SQLite does. Also refuses to drop a
  /// column that a trigger's UPDATE OF names, because that trigger would never fire again.
  private func requireUnmentioned(_ column: String, of table: String) throws {
    guard let schema = try schema(with: [.index, .view, .trigger], naming: column, of: table)
    else { return }
    let scratch = try schema.scratch(application)
    // Otherwise SQLite reads the dropped column's name in double quotes as a string.
    scratch.set(.doubleQuotedStringsInDML, to: application.allowsSilentTriggers)
    scratch.set(.doubleQuotedStringsInDDL, to: application.allowsSilentTriggers)
    var dependents = try scratch.alter(
      "ALTER TABLE \(main(table)) DROP COLUMN \(Quoting.quoted(column))"
    ).broken.filter(\.isBrokenByChange).map(\.object)
    if !application.allowsSilentTriggers {
      dependents += schema.triggers(onUpdateOf: column, in: table).filter { trigger in
        !dependents.contains { $0.key == trigger.key }
      }
    }
    guard !dependents.isEmpty else { return }
    let names = dependents.map { "\($0.kind.rawValue) `\($0.name)`" }.joined(separator: ", ")
    throw PlanningError(
      "these objects mention `\(table).\(column)`: \(names). Drop these objects first, and create "
        + "those that you still need again afterwards", key: "column")
  }

  /// Refuses to rename a column that a view or a trigger reads from another view or by USING, as SQLite does.
  private func requireRenamable(_ column: String, to: String, of table: String) throws {
    guard let schema = try schema(with: [.view, .trigger], naming: column, of: table),
      let object = schema.table(table),
      let obstacle = try ColumnRenaming(
        table: object, from: column, to: to, in: schema, application
      ).obstacle
    else { return }
    throw PlanningError(obstacle, key: "from")
  }

  /// The schema, if SQLite checks such objects and one of them may read the column. It takes time to recreate
  /// a schema.
  private func schema(
    with kinds: Set<SchemaObject.Kind>, naming column: String, of table: String
  ) throws -> Schema? {
    let schema = try schema
    // Under this setting, SQLite checks neither views nor triggers.
    guard try connection.value("PRAGMA legacy_alter_table") != .integer(1),
      try parsed(table)?.parsed.column(named: column) != nil,
      schema.objects.contains(where: {
        kinds.contains($0.kind) && TokenizedSQL($0.sql ?? "").names(column, includingStrings: true)
      })
    else { return nil }
    return schema
  }

  /// Refuses an expression over a row that aggregates several rows, or that reads the column that its own
  /// operation adds. SQLite reports all other errors when it runs the expression.
  private func requireOneRow(
    _ source: SQLSource, of table: String, key: String, adding added: String? = nil
  ) throws {
    let value = "(\(expression(source)))"
    do {
      _ = try connection.prepare("SELECT \(value) FROM \(main(table))")
    } catch {
      guard let added, !error.isFault, TokenizedSQL(source.text).names(added) else { return }
      throw PlanningError(
        "`\(key)` is an expression over the old row, which has no \(added): "
          + error.message, key: key, position: source.position)
    }
    do {
      // WHERE does not accept an aggregate or a window function of this query itself.
      _ = try connection.prepare("SELECT 1 FROM \(main(table)) WHERE \(value)")
    } catch {
      if error.isFault { throw error }
      throw PlanningError(
        "`\(key)` must compute its value from one row, but uses several rows (\(error.message)): "
          + "use a subquery, such as `(SELECT count(*) FROM \(Quoting.quoted(table)))`",
        key: key, position: source.position)
    }
  }

  private func requireColumns(of index: IndexDefinition) throws {
    // SQLite accepts an unknown name in quotes as a string, and would index that string.
    guard let table = try parsed(index.table) else { return }
    for case .column(let name) in index.columns.map(\.term)
    where !Identifier.rowids.contains(name.identifier) {
      _ = try table.column(named: name, key: "columns")
    }
  }

  private func addition(
    of column: ColumnDefinition, to table: String, _ operation: Operation
  ) throws -> OperationPlan {
    if column.unique {
      throw PlanningError(
        "SQLite cannot add the UNIQUE column `\(column.name)` to a table: add it without `unique`, and "
          + "create a unique index with `create_index`", key: "column")
    }
    var steps: [Step] = []
    var plain = column
    // SQLite tests a CHECK and the values of a virtual column with the rows themselves.
    plain.check = nil
    // A table with rows accepts a constant, and NULL where it is allowed.
    let isInDoubt =
      column.generated?.stored
      ?? (column.default?.source != nil
        || column.notNull != nil && (column.default ?? .null) == .null)
    if isInDoubt, let parsed = try parsed(table)?.parsed,
      let reason = try application.refusal(toAdd: [plain.sql], to: parsed),
      try application.refusal(toAdd: [plain.sql], to: parsed, hasRows: false) == nil
    {
      let hasValue = column.default?.source != nil
      // SQLite's message about NOT NULL; the default may be an expression that returns NULL.
      let advice =
        column.generated == nil && (!hasValue || reason.contains("default value NULL"))
        ? "give it a default"
        : "use `rebuild_table`"
          + (hasValue && column.notNull == nil
            ? ", or add it without the default and fill it with `update`" : "")
      steps.append(
        .question(
          Question(
            condition: "EXISTS (SELECT 1 FROM \(main(table)))", of: table,
            promise: "`\(table)` has no rows, so that SQLite can add `\(column.name)`",
            message: "`\(table)` has rows, and SQLite adds `\(column.name)` only to an empty table "
              + "(\(reason)): \(advice)")))
    }
    steps.append(.statement("ALTER TABLE \(main(table)) ADD COLUMN \(column.sql)", nil))
    return OperationPlan(operation: operation, strategy: .native, steps: steps)
  }

  private func virtualTable(
    _ name: String, _ module: String, _ arguments: [SQLSource]
  ) throws -> String {
    let sql = qualified(virtualTableSQL(name, module, arguments))
    guard case .createVirtualTable(let parsed)? = try? parseCreate(TokenizedSQL(sql)),
      parsed.arguments.count == arguments.count
    else {
      throw PlanningError("invalid argument of `\(name)`: \(sql)", key: "arguments")
    }
    return sql
  }

  private func requireVirtual(_ name: String) throws {
    guard let object = try table(name), !object.isVirtualTable else { return }
    throw PlanningError("`\(name)` is not a virtual table: use `drop_table`", key: "name")
  }

  private func requireCreate(
    _ kind: String, _ name: String, _ sql: SQLSource
  ) throws {
    let parsed = try? parseCreate(TokenizedSQL(sql.text))
    let isAsked =
      switch parsed {
      case .createView: kind == "view"
      case .createTrigger: kind == "trigger"
      default: false
      }
    guard let parsed, isAsked, !parsed.isTemporary, parsed.schema?.isSame(as: "main") ?? true else {
      throw notCreate(kind, sql)
    }
    guard parsed.name.isSame(as: name) else {
      throw PlanningError(
        "`name` is `\(name)`, but `sql` creates the \(kind) `\(parsed.name.text)`",
        key: "name")
    }
  }

  /// Includes SQLite's error if the statement does not compile.
  private func notCreate(_ kind: String, _ sql: SQLSource) -> PlanningError {
    let problem = "`sql` is not a CREATE \(kind.uppercased()) statement"
    let tokens = TokenizedSQL(sql.text)
    guard tokens.isWord(tokens.significant.first, "CREATE") else {
      return PlanningError(problem, key: "sql")
    }
    do {
      _ = try connection.prepare(sql.text)
      return PlanningError(problem, key: "sql")
    } catch {
      return PlanningError(
        "\(problem): \(error.message)", key: "sql",
        position: error.offset.map(sql.position(ofByte:)))
    }
  }
}
