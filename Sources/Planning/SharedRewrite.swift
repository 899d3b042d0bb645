import SchemaManifest
import SchemaModel
import SchemaSQLText

/// Operations of one migration that follow one another on one table and would each write every row,
/// done by one rewrite. Each has been tried alone before (`TableRun`), so the rewrite gives the same
/// result as all of them one by one.
struct SharedRewrite {
  private let run: TableRun
  private let rewrite: Rewrite
  private let columns: [Rewrite.Column]

  /// The longest run that begins with the first of these operations and costs less as one rewrite.
  ///
  /// The schema alone decides, never the number of rows: a plan is the same on every device. SQLite's
  /// DROP COLUMN writes the whole table, so an exchange pays from the second drop on. The other ending,
  /// which creates the indexes again, pays only where one of the operations is a rewrite anyway.
  init?(
    _ operations: ArraySlice<Operation>, in schema: @autoclosure () throws -> Schema,
    _ application: Application
  ) throws {
    guard !application.plansForLint, let table = operations.first?.changedTable else { return nil }
    let candidates = operations.prefix { $0.mayShare(rewriteOf: table) }
    guard candidates.count(where: { $0.changedTable != nil }) > 1,
      var run = try TableRun(on: table, in: schema(), application)
    else { return nil }
    var best: SharedRewrite?
    for operation in candidates {
      guard try run.append(operation) else { break }
      // An operation that writes no row needs no rewrite, before the others or after them.
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

  /// One plan for each operation: each asks its own questions, the last one does the work.
  func plans() throws -> [OperationPlan] {
    var plans = run.plans.dropLast().map { plan in
      switch plan.operation.kind {
      case .dropIndex, .dropTrigger: plan
      default:
        OperationPlan(operation: plan.operation, strategy: .rewrite, steps: plan.questions)
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

extension OperationPlan {
  /// What is asked of the rows before anything is written.
  fileprivate var questions: [Step] { Array(steps.prefix(while: \.onlyAsks)) }
}

extension Operation {
  /// The table whose column the operation changes.
  var changedTable: String? {
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
    // The schema says which table they belong to.
    case .dropIndex, .dropTrigger: true
    default: changedTable?.identifier == table.identifier
    }
  }
}

extension CreateTable.Column {
  /// Whether a row holds a value of it.
  var isStored: Bool { generated?.isStored ?? true }
}
