import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Plans `move_column`. No value is lost, and every object that mentions the old column is found.
struct ColumnMove {
  private let move: MoveColumn
  private let schema: Schema
  private let application: Application
  private let table: ParsedTable
  private let column: CreateTable.Column
  /// The expression of `using`; nil for a `map`.
  private let using: RowExpression?

  init(
    _ move: MoveColumn, in schema: Schema, _ application: Application
  ) throws {
    let table = try ParsedTable(named: move.table, in: schema)
    let column = try table.column(named: move.from, key: "from")
    guard table.parsed.column(named: move.to.name) == nil else {
      throw PlanningError(
        "`\(move.table)` already has a column `\(move.to.name)`", kind: .failed, key: "to")
    }
    guard move.to.generated == nil else {
      throw PlanningError("a generated column cannot take values", key: "to")
    }
    self.move = move
    self.schema = schema
    self.application = application
    self.table = table
    self.column = column
    using =
      if case .using(let source) = move.mapping {
        RowExpression(source.text, of: table)
      } else {
        nil
      }
  }

  /// Whether a new value depends on other rows than the one that gets it.
  var readsOtherRows: Bool { using?.readsOtherRows ?? false }

  func plan(_ operation: Operation) throws -> OperationPlan {
    if move.keepSource { return try addition(operation) }
    guard !table.isInPrimaryKey(column) else {
      throw PlanningError(
        "`\(move.from)` is in the primary key of `\(move.table)`: `move_column` cannot move it",
        key: "from")
    }
    let renaming = try ColumnRenaming(
      table: table.object, from: column.name.text, to: move.to.name, in: schema, application)
    guard renaming.unwritable.isEmpty else {
      throw PlanningError(
        "\(renaming.unwritable.joined(separator: ", ")) reads `\(move.table).\(move.from)` by its "
          + "name: drop it first, and create it again afterwards",
        key: "from")
    }
    if !move.renamesDependents, !renaming.dependents.isEmpty {
      throw PlanningError(
        "these objects mention `\(move.table).\(move.from)`: "
          + "\(renaming.dependents.joined(separator: ", ")). "
          + waysOn(renaming), key: "from")
    }
    guard let renamed = renaming.result else {
      guard renaming.dependents.isEmpty else {
        throw PlanningError(obstacle(to: renaming), key: "dependents")
      }
      let obstacles = renaming.blocking + [renaming.breaking].compactMap { $0 }
      return try rewrite(
        operation, because: "\(obstacles.joined(separator: ", ")) prevents SQLite from renaming")
    }
    return try rename(operation, renamed, renaming)
  }

  private func waysOn(_ renaming: ColumnRenaming) -> String {
    let first =
      renaming.hasConstraint
      ? "Rebuild the table with `rebuild_table` and `copy`"
      : "Drop these objects first and create them again afterwards"
    let keep = "keep the column with `keep_source: true`"
    return changesValues
      ? "\(first), or \(keep); `dependents: rename` changes only the name, not comparisons with "
        + "the old values"
      : "\(first), \(keep), or let SQLite rewrite it with `dependents: rename`"
  }

  /// The reason why SQLite cannot rewrite the objects that mention the column.
  private func obstacle(to renaming: ColumnRenaming) -> String {
    if renaming.blocking.isEmpty, let obstacle = renaming.obstacle { return obstacle }
    return "SQLite cannot rewrite the dependents of `\(move.table).\(move.from)` "
      + "(\(renaming.dependents.joined(separator: ", "))), because of "
      + "\(renaming.blocking.joined(separator: ", ")). Drop or repair it first"
  }

  // MARK: Strategies

  /// Plans an UPDATE and RENAME COLUMN. If the column keeps its definition, RENAME COLUMN is the only change
  /// of the schema.
  private func rename(
    _ operation: Operation, _ renamed: Schema, _ renaming: ColumnRenaming
  ) throws -> OperationPlan {
    let statement =
      "ALTER TABLE main.\(Quoting.quoted(table.name)) RENAME COLUMN "
      + "\(Quoting.quoted(column.name.text)) TO \(Quoting.quoted(move.to.name))"
    if let obstacle = obstacleToRename {
      return try rewrite(
        operation, because: obstacle, renamed: move.renamesDependents ? (renamed, statement) : nil)
    }
    // RENAME COLUMN also turns "text" into 'text' in every view and trigger of the table. A rewrite does not
    // change them.
    if renaming.rewritesOthers, !move.renamesDependents {
      return try rewrite(
        operation, because: "RENAME COLUMN would rewrite views or triggers that do not mention it")
    }
    let update = update(of: column.name.text, filter: changedRows)
    let expected = renamed.table(table.name)?.sql
    return OperationPlan(
      operation: operation, strategy: .update,
      steps: try questions(in: expected ?? table.object.sql ?? "").map(Step.question)
        + (update ?? []) + [.statement(statement, nil)],
      expectations: expected.map { [TableExpectation(table: table.name, sql: $0)] } ?? [],
      // If no row is written, there is nothing to prove: the questions have scanned the rows.
      proofs: update.map { _ in
        [RowProof(of: table, except: column.name.text, adding: move.to.name)]
      } ?? [])
  }

  private var obstacleToRename: String? {
    if !hasSameDefinition { return "the column's definition changes, too" }
    if readsOtherRows {
      return "`using` reads other rows, which must not change in the meantime"
    }
    return isUnique && changesValues
      ? "values of a unique column could collide during an UPDATE" : nil
  }

  /// Plans a rewrite of the table.
  ///
  /// - Parameter renamed: the schema in which SQLite has renamed the column in its dependents, and the
  ///   statement that does so after the rows are copied. Nil if dependents are not renamed.
  private func rewrite(
    _ operation: Operation, because reason: String,
    renamed: (schema: Schema, statement: String)? = nil
  ) throws -> OperationPlan {
    let schema = renamed?.schema ?? self.schema
    let name = renamed == nil ? column.name.text : move.to.name
    let source = try ParsedTable(named: table.name, in: schema)
    let place = try source.column(named: name)
    let final = source.replacing(place.range, with: move.to.sql)
    let rewrite = try Rewrite(
      source, as: final, in: schema, application,
      formerName: renamed == nil ? nil : column.name.text)
    let columns = rewrite.columns {
      $0 == place.name.text ? moved : Rewrite.Column(kept: $0)
    }
    return try rewrite.plan(
      operation, because: reason, questions: try questions(in: final), columns: columns,
      beforeInstalling: renamed.map { [$0.statement] } ?? [])
  }

  /// Plans `keep_source`: the old column stays, and the new one becomes the last column.
  private func addition(_ operation: Operation) throws -> OperationPlan {
    let final = table.adding(move.to.sql)
    let triggers = try move.mirror ? mirror(in: final) : []
    let questions = try questions(in: final)
    guard try move.to.canBeAdded(to: table.parsed, application) else {
      let rewrite = try Rewrite(table, as: final, in: schema, application)
      return try rewrite.plan(
        operation, because: "ADD COLUMN does not accept such a column if the table has rows",
        questions: questions,
        columns: rewrite.columns(adding: [moved], form: Rewrite.Column.init(kept:)), after: triggers
      )
    }
    let addition = Step.statement(
      "ALTER TABLE main.\(Quoting.quoted(table.name)) ADD COLUMN \(move.to.sql)", nil)
    let update = update(of: move.to.name, filter: rowsOtherThanDefault)
    return OperationPlan(
      operation: operation, strategy: .update,
      steps: questions.map(Step.question) + [addition] + (update ?? []) + triggers,
      expectations: [TableExpectation(table: table.name, sql: final)],
      proofs: update.map { _ in [RowProof(of: table, adding: move.to.name)] } ?? [])
  }

  /// The triggers of `mirror`, on the table with the SQL `final`. They are created last, because the rows
  /// that the migration itself writes are in step already.
  private func mirror(in final: String) throws -> [Step] {
    guard !isUnique else {
      throw PlanningError(
        "`\(table.name).\(move.from)` is UNIQUE: `mirror` could write duplicate values to it",
        key: "mirror")
    }
    return try Mirror(move, on: ParsedTable(table, as: final), in: schema).triggers
      .map { .statement(qualified($0), nil) }
  }

  /// Whether the column is part of a UNIQUE constraint or a unique index. An index on an expression counts,
  /// because it may read the column.
  private var isUnique: Bool {
    table.parsed.uniques.contains { $0.columns.contains { $0.isSame(as: column.name.text) } }
      || schema.objects(.index, on: table.name).contains { object in
        guard case .createIndex(let index)? = try? parseCreate(TokenizedSQL(object.sql ?? ""))
        else { return false }
        return index.isUnique
          && index.terms.contains { $0.column?.isSame(as: column.name.text) ?? true }
      }
  }

  // MARK: Values

  private enum Filter {
    case none
    case all
    case rows(String)
  }

  /// The new column in a rewritten table, computed from a row of the old table.
  var moved: Rewrite.Column {
    Rewrite.Column(
      name: Quoting.quoted(move.to.name), value: newValue(over: column.name.text), isKept: false)
  }

  /// The new column's value, as SQL over a row in which the old column has this name.
  private func newValue(over name: String) -> String {
    switch move.mapping {
    case .map(let entries): ValueMap(column: Quoting.quoted(name), entries: entries).value
    case .using(let source): "(\(expression(source)))"
    }
  }

  private var valueMap: ValueMap? {
    guard case .map(let entries) = move.mapping else { return nil }
    return ValueMap(column: Quoting.quoted(column.name.text), entries: entries)
  }

  /// The questions asked before anything is written: whether `map` names every value, and whether a column
  /// that `using` copies keeps its values.
  ///
  /// - Parameter final: the CREATE TABLE statement of the changed table.
  private func questions(in final: String) throws -> [Question] {
    let target = try ParsedTable(table, as: final)
    guard let new = target.parsed.column(named: move.to.name) else { return [] }
    if case .map(let entries) = move.mapping {
      try requireSameValues(entries.map(\.to), in: new, of: target)
    }
    if !move.keepSource, changesValues {
      try table.requireUnreferenced(
        [column.name.text], in: schema, key: valueMap == nil ? "using" : "map")
    }
    guard let valueMap else {
      return using?.column.map { table.survival(of: $0, as: new, in: target, key: "using") } ?? []
    }
    let unmapped = Scan(
      table: table.name, column: column.name.text, predicate: valueMap.isUnmapped,
      problem: .unmapped)
    return [Question(unmapped)]
  }

  /// Refuses a value of `map` that the new column would store as another value.
  private func requireSameValues(
    _ values: [Value], in new: CreateTable.Column, of target: ParsedTable
  ) throws {
    for value in values {
      guard let changes = target.affinity(of: new).changes(value.sql) else { return }
      guard try Connection(path: nil).value("SELECT \(changes)") == 1 else { continue }
      throw PlanningError(
        "`map` gives \(value.sql), which `\(new.name.text) \(new.type?.text ?? "")` would store as "
          + "another value: write it as a value of that type", key: "map")
    }
  }

  private var changedRows: Filter {
    guard let valueMap else { return .all }
    return valueMap.changes.map(Filter.rows) ?? .none
  }

  private var changesValues: Bool {
    if case .none = changedRows { false } else { true }
  }

  private var rowsOtherThanDefault: Filter {
    guard let valueMap, case .map(let entries) = move.mapping else { return .all }
    if case .sql? = move.to.default { return .all }
    let others = entries.filter { $0.to != (move.to.default?.value ?? .null) }
    guard !others.isEmpty else { return .none }
    return .rows(others.map { valueMap.holdsKey($0.from) }.joined(separator: " OR "))
  }

  private func update(of name: String, filter: Filter) -> [Step]? {
    let condition: String?
    switch filter {
    case .none: return nil
    case .all: condition = nil
    case .rows(let predicate): condition = predicate
    }
    let update = RowUpdate(
      table: table.name, column: name, value: newValue(over: column.name.text),
      condition: condition)
    return [.rewriting(true), .update(update), .rewriting(false)]
  }

  /// Whether `to` repeats the old column's definition except for the name.
  private var hasSameDefinition: Bool {
    let text = "CREATE TABLE t (\(move.to.sql))"
    let tokens = TokenizedSQL(text)
    guard case .createTable(let parsed)? = try? parseCreate(tokens),
      let new = parsed.columns.first
    else { return false }
    func clauses(_ column: CreateTable.Column, _ tokens: TokenizedSQL) -> [[[UInt8]]] {
      column.constraints.map { tokens.normalTokens(in: $0.range) }
        .sorted { $0.joined().lexicographicallyPrecedes($1.joined()) }
    }
    return new.type?.text.identifier == column.type?.text.identifier
      && clauses(new, tokens) == clauses(column, table.tokens)
  }
}

extension ColumnDefinition {
  /// Whether ADD COLUMN accepts this column on a table with rows, whatever their values are.
  func canBeAdded(
    to table: CreateTable, _ application: Application
  ) throws(DatabaseError) -> Bool {
    // While foreign keys are off, SQLite also accepts a foreign key with a default.
    let isNull = self.default == nil || self.default == .null
    guard check == nil, references == nil || isNull else { return false }
    return try application.refusal(toAdd: [sql], to: table) == nil
  }
}
