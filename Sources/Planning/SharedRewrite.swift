import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// One rewrite for consecutive operations of a migration that change the same table and would each write
/// every row. `TableRun` has planned each of them alone before, so the result is the same as that of all of
/// them one by one.
struct SharedRewrite {
  private let run: TableRun
  private let rewrite: Rewrite
  private let columns: [Rewrite.Column]

  /// Finds the longest run of operations that begins with the first of these and that costs less as one
  /// rewrite. Nil if there is none.
  ///
  /// Only the schema decides, never the number of rows, so that the plan is the same on every device.
  /// SQLite's DROP COLUMN writes the whole table, so an exchange costs less from the second drop on. The
  /// other ending recreates the indexes, so it costs less only if one of the operations is a rewrite anyway.
  init?(
    _ operations: ArraySlice<Operation>, in schema: @autoclosure () throws -> Schema,
    _ application: Application
  ) throws {
    guard !application.plansOperationsAlone, let table = operations.first?.changedTable else {
      return nil
    }
    let candidates = operations.prefix { $0.mayShare(rewriteOf: table) }
    guard candidates.count(where: { $0.changedTable != nil }) > 1,
      var run = try TableRun(on: table, in: schema(), application)
    else { return nil }
    var best: SharedRewrite?
    for operation in candidates {
      guard try run.append(operation) else { break }
      // An operation that writes no rows needs no rewrite, neither before the others nor after them.
      guard run.rewrites.first == true else { return nil }
      if run.rewrites.last == true, run.rewrites.count(where: { $0 }) > 1 {
        let longer = try SharedRewrite(run, application)
        if longer.pays { best = longer }
      }
    }
    guard let best else { return nil }
    self = best
  }

  private init(_ run: TableRun, _ application: Application) throws {
    self.run = run
    rewrite = try Rewrite(run.table, as: run.finalText, in: run.schema, application)
    let changed = Dictionary(
      run.columns.compactMap { column in column.origin.map { ($0.name.text.identifier, column) } },
      uniquingKeysWith: { first, _ in first })
    columns = rewrite.columns { name in
      guard let column = changed[name.identifier] else { return nil }
      return column.isKept ? Rewrite.Column(kept: name) : column.change
    }
  }

  private var pays: Bool {
    run.plans.contains { $0.strategy == .rewrite }
      || run.keepsValues && rewrite.exchanges(columns)
  }

  /// One plan for each operation. Each plan asks its own questions; the last one contains the rewrite.
  func plans() throws -> [OperationPlan] {
    var plans = run.plans.dropLast().map { plan in
      switch plan.operation.kind {
      case .dropIndex, .dropTrigger: plan
      default:
        OperationPlan(
          operation: plan.operation, strategy: .rewrite, steps: plan.questions.map(Step.question))
      }
    }
    guard let last = run.plans.last else { return plans }
    plans.append(
      try rewrite.plan(
        last.operation, questions: last.questions, columns: columns,
        checks: run.plans.contains { $0.strategy == .rewrite }))
    return plans
  }
}

extension Operation {
  /// The table in which the operation drops, alters or moves a column.
  package var changedTable: String? {
    switch kind {
    case .dropColumn(let table, _): table
    case .alterColumn(let change): change.table
    case .moveColumn(let move) where !move.keepSource: move.table
    default: nil
    }
  }

  fileprivate func mayShare(rewriteOf table: String) -> Bool {
    switch kind {
    case .addColumn(let own, _): own.identifier == table.identifier
    // A lookup in the schema shows later which table they belong to.
    case .dropIndex, .dropTrigger: true
    default: changedTable?.identifier == table.identifier
    }
  }
}

/// Operations that change one table, each planned alone on a scratch database that has the schema after the
/// previous ones. An operation that is refused there ends the run before it, so that it is refused with the
/// same message when it is planned alone.
struct TableRun {
  /// The table before the first operation.
  let table: ParsedTable
  let before: Schema
  /// The whole schema after the last operation.
  private(set) var schema: Schema
  /// The plan of each operation alone.
  private(set) var plans: [OperationPlan] = []
  /// Whether each operation alone writes every row, or all rows that change.
  private(set) var rewrites: [Bool] = []
  /// The table's columns after the last operation, in their order.
  private(set) var columns: [Column]
  private let application: Application
  private var scratch: Connection

  struct Column {
    let name: String
    /// The column of the original table from which this one was made; nil for a new column.
    let origin: CreateTable.Column?
    /// Whether an operation of the run has changed the definition.
    var isChanged = false
    /// Whether the values are those of `origin`.
    var isKept = true
    /// The new values, if `isKept` is false. Nil if the column gets its default or is generated.
    var change: Rewrite.Column?
  }

  /// - Returns: nil if a scratch database cannot have exactly this schema.
  init?(
    on name: String, in schema: Schema, _ application: Application
  ) throws {
    guard let object = schema.table(name), let table = try? ParsedTable(object),
      let scratch = try schema.faithfulScratch(application)
    else { return nil }
    self.table = table
    self.before = schema
    self.schema = schema
    self.application = application
    self.scratch = scratch
    columns = table.parsed.columns.map { Column(name: $0.name.text, origin: $0) }
  }

  var finalText: String { schema.table(table.name)?.sql ?? "" }

  /// Whether every remaining value is unchanged.
  var keepsValues: Bool { columns.allSatisfy { $0.isKept || $0.origin == nil } }

  /// Adds an operation to the run.
  ///
  /// - Returns: false if the operation cannot be part of the run, which then ends before it.
  mutating func append(_ operation: Operation) throws -> Bool {
    do {
      return try appendIfPossible(operation)
    } catch let error as DatabaseError where error.isFault {
      // A fault, such as lack of memory, is not caused by the operation.
      throw error
    } catch {
      return false
    }
  }

  private mutating func appendIfPossible(_ operation: Operation) throws -> Bool {
    guard !mentionsChanged(operation), try isOfTable(operation) else { return false }
    let plan = try Planner(connection: scratch, application: application).plan(operation)
    guard try trace(operation, plan) else { return false }
    if let expectation = plan.expectations.first {
      schema = schema.replacing(expectation)
      guard let next = try schema.faithfulScratch(application) else { return false }
      scratch = next
    } else {
      for case .statement(let sql, _) in plan.steps { try scratch.execute(sql) }
      schema = try Schema(of: scratch)
    }
    plans.append(plan)
    return leavesOthers
  }

  // MARK: Limits of a run

  /// Whether an expression of the operation reads a column that the run has changed. The rewrite evaluates
  /// expressions over the rows before the run.
  private func mentionsChanged(_ operation: Operation) -> Bool {
    let changed = changedNames
    return operation.expressions.contains { source in
      let tokens = TokenizedSQL(source.text)
      return tokens.identifiers(in: 0..<tokens.bytes.count).contains {
        changed.contains($0.text.identifier)
      }
    }
  }

  /// The new, changed and removed columns, and the generated columns that are computed from them.
  private var changedNames: Set<Identifier> {
    let unchanged = Set(columns.filter { !$0.isNew }.compactMap { $0.origin?.name.text.identifier })
    let names = columns.filter(\.isNew).map(\.name) + table.parsed.columns.map(\.name.text)
    return table.withComputed(Set(names.map(\.identifier)).subtracting(unchanged))
  }

  private func isOfTable(_ operation: Operation) throws -> Bool {
    func isOn(_ kind: SchemaObject.Kind, _ name: String) -> Bool {
      schema.object(kind, name)?.table.identifier == table.name.identifier
    }
    return switch operation.kind {
    case .dropIndex(let name): isOn(.index, name)
    case .dropTrigger(let name): isOn(.trigger, name)
    // An ADD COLUMN that tests the rows must run itself.
    case .addColumn(_, let column):
      // Earlier operations of the run may have dropped columns of the table.
      try column.generated == nil
        && schema.table(table.name)?.createTable.map { table in
          try column.canBeAdded(to: table, application)
        } == true
    default: true
    }
  }

  /// Whether only the table's own SQL changes, and only objects that an operation names are dropped.
  private var leavesOthers: Bool {
    let dropped = plans.compactMap { plan in
      switch plan.operation.kind {
      case .dropIndex(let name): before.object(.index, name)?.key
      case .dropTrigger(let name): before.object(.trigger, name)?.key
      default: nil
      }
    }
    return before.objects.allSatisfy { object in
      object.isInternal || object.key == table.object.key || dropped.contains(object.key)
        || schema.object(object.kind, object.name)?.sql == object.sql
    }
  }

  // MARK: Changes of the columns

  private mutating func trace(
    _ operation: Operation, _ plan: OperationPlan
  ) throws -> Bool {
    func place(_ name: String) -> Int? {
      columns.firstIndex { $0.name.identifier == name.identifier }
    }
    var rewrites = plan.strategy == .rewrite
    switch operation.kind {
    case .dropColumn(_, let name):
      // After a change of the definition, rows that violate the new definition must fail. A rewrite without
      // the column would not test them.
      guard let place = place(name), columns[place].origin == nil || !columns[place].isChanged
      else { return false }
      rewrites = rewrites || columns[place].origin?.isStored ?? true
      columns.remove(at: place)
    case .addColumn(_, let column):
      columns.append(Column(name: column.name, origin: nil, isChanged: true, isKept: false))
    case .alterColumn(let change):
      guard let place = place(change.column), !columns[place].isNew else { return false }
      columns[place].isChanged = true
      if plan.strategy == .rewrite {
        let alteration = try ColumnAlteration(change, in: schema)
        columns[place].isKept = alteration.filled?.isKept ?? false
        columns[place].change = alteration.filled
      }
    case .moveColumn(let move):
      // Outside the table, a run changes no SQL.
      guard !move.renamesDependents, let place = place(move.from), !columns[place].isNew else {
        return false
      }
      let columnMove = try ColumnMove(move, in: schema, application)
      // An expression that reads other rows must see them as they are before the run.
      guard plans.isEmpty || !columnMove.readsOtherRows else { return false }
      let moved = columnMove.moved
      _ = try scratch.prepare("SELECT \(moved.value) FROM main.\(Quoting.quoted(table.name))")
      rewrites = rewrites || !plan.proofs.isEmpty
      columns[place] = Column(
        name: move.to.name, origin: columns[place].origin, isChanged: true, isKept: false,
        change: moved)
    default: break
    }
    self.rewrites.append(rewrites)
    return true
  }
}

extension TableRun.Column {
  /// Whether the table before the run has no such column, or has it with another definition.
  fileprivate var isNew: Bool { isChanged || origin == nil }
}

extension Schema {
  fileprivate func replacing(_ expectation: TableExpectation) -> Schema {
    Schema(
      objects: objects.map { object in
        guard object.kind == .table, object.name == expectation.table else { return object }
        return SchemaObject(
          kind: object.kind, name: object.name, table: object.table, sql: expectation.sql,
          rootPage: object.rootPage)
      })
  }

  /// A scratch database with exactly this schema; nil if an object is missing from it or has other SQL.
  fileprivate func faithfulScratch(_ application: Application) throws -> Connection? {
    let scratch = try scratch(application)
    let made = try Schema(of: scratch)
    let isFaithful = objects.allSatisfy { object in
      object.isInternal || made.object(object.kind, object.name)?.sql == object.sql
    }
    return isFaithful ? scratch : nil
  }
}
