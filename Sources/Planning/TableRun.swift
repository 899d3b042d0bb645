import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Operations that change one table, each tried alone on a private copy of the schema that those
/// before it have left: what one of them is refused for there ends the run before it, so that it is
/// refused with the same words when its turn comes.
struct TableRun {
  /// The table before the first operation.
  let table: ParsedTable
  let before: Schema
  /// The whole schema after the last one.
  private(set) var schema: Schema
  /// The plan that each operation has alone.
  private(set) var plans: [OperationPlan] = []
  /// Whether each one alone writes every row, or all that change.
  private(set) var rewrites: [Bool] = []
  /// What the table's columns are now, in their order.
  private(set) var columns: [Column]
  private let application: Application
  private var scratch: Connection

  struct Column {
    let name: String
    /// The column of the first table that it was; nil for one that is new.
    let origin: CreateTable.Column?
    /// Whether an operation of the run has changed its definition.
    var isChanged = false
    /// Whether its values are those of `origin`.
    var isKept = true
    /// Otherwise, what fills it; nil when it gets its default, or is computed.
    var change: Rewrite.Column?
  }

  /// - Returns: nil when the schema cannot be had elsewhere as it is here.
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

  /// - Returns: false when the operation cannot be part of the run, which then must end.
  mutating func append(_ operation: Operation) throws -> Bool {
    do {
      return try appendIfPossible(operation)
    } catch let error as DatabaseError where error.isFault {
      // A fault such as no memory, which says nothing about the operation.
      throw error
    } catch {
      return false
    }
  }

  private mutating func appendIfPossible(_ operation: Operation) throws -> Bool {
    guard !mentionsChanged(operation), isOfTable(operation) else { return false }
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

  // MARK: What may not be shared

  /// An expression is asked over the rows as they are before the run.
  private func mentionsChanged(_ operation: Operation) -> Bool {
    let changed = changedNames
    return operation.expressions.contains { source in
      let tokens = TokenizedSQL(source.text)
      return tokens.identifiers(in: 0..<tokens.bytes.count).contains {
        changed.contains($0.text.identifier)
      }
    }
  }

  /// Changed columns, and the columns that are computed from them.
  private var changedNames: Set<Identifier> {
    var names = Set(columns.filter(\.isNew).map(\.name.identifier))
    let unchanged = Set(columns.filter { !$0.isNew }.compactMap { $0.origin?.name.text.identifier })
    names.formUnion(
      table.parsed.columns.map(\.name.text).filter { !unchanged.contains($0) }
        .map(\.identifier))
    var computed = table.parsed.columns.filter { $0.generated != nil }
    while let next = computed.firstIndex(where: { column in
      guard let range = column.generated?.expression.range else { return false }
      return table.tokens.identifiers(in: range).contains {
        names.contains($0.text.identifier)
      }
    }) {
      names.insert(computed.remove(at: next).name.text.identifier)
    }
    return names
  }

  private func isOfTable(_ operation: Operation) -> Bool {
    func isOn(_ kind: SchemaObject.Kind, _ name: String) -> Bool {
      schema.object(kind, name)?.table.identifier == table.name.identifier
    }
    return switch operation.kind {
    case .dropIndex(let name): isOn(.index, name)
    case .dropTrigger(let name): isOn(.trigger, name)
    // What ADD COLUMN looks at the rows for, it must look at itself.
    case .addColumn(_, let column): column.canBeAdded && column.generated == nil
    default: true
    }
  }

  /// Whether only the SQL of the table itself changes, and only objects that an operation names are dropped.
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

  // MARK: What becomes of the columns

  private mutating func trace(
    _ operation: Operation, _ plan: OperationPlan
  ) throws -> Bool {
    func place(_ name: String) -> Int? {
      columns.firstIndex { $0.name.identifier == name.identifier }
    }
    var rewrites = plan.strategy == .rewrite
    switch operation.kind {
    case .dropColumn(_, let name):
      // What its new definition refuses must be refused.
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
      // A run knows no other text than its table's.
      guard !move.renamesDependents, let place = place(move.from), !columns[place].isNew else {
        return false
      }
      let columnMove = try ColumnMove(move, in: schema, application)
      // Other rows are read as they are before the run.
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
  /// Whether it is not, or not as it is now, in the table before the run.
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

  /// A scratch database in which nothing is left out, or reads otherwise.
  fileprivate func faithfulScratch(_ application: Application) throws -> Connection? {
    let scratch = try scratch(application)
    let made = try Schema(of: scratch)
    let isFaithful = objects.allSatisfy { object in
      object.isInternal || made.object(object.kind, object.name)?.sql == object.sql
    }
    return isFaithful ? scratch : nil
  }
}
