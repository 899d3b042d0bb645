import ManifestFormat
import SQLText
import SQLite
import SchemaModel

/// Operations of one migration that follow one another on one table, done by one pass over its
/// rows. Each has been tried alone before (`TableRun`): the pass gives what they give one by one.
struct SharedPass {
  private let run: TableRun
  private let way: Way

  private enum Way {
    /// No value changes and no constraint is new: the rows are copied once, to a table that stores
    /// them as the new text does, and the two tables change their b-trees. Indexes, triggers, the
    /// sequence and the statistics stay where they are.
    case exchange(rowid: String)
    case rebuild
  }

  /// The longest run that begins with the first of these operations and is cheaper as one.
  ///
  /// What decides is the schema alone, never how many rows there are: a plan is the same on every
  /// device. SQLite's DROP COLUMN writes the whole table, the first one for twice the price of the
  /// others, because its pages go to the journal (measured: 0.5, 0.3, 0.2 of three drops). An
  /// exchange costs 0.65 whatever the number of indexes, so that it pays from the second drop on;
  /// a rebuild never costs less than three drops, and pays only where one of the operations is a
  /// rebuild anyway.
  init?(
    _ operations: ArraySlice<Operation>, in schema: Schema, _ application: Application
  ) throws(PlanningError) {
    let forced = application.forcedStrategy
    guard forced != .native, let table = operations.first?.changedTable else { return nil }
    let candidates = operations.prefix { $0.mayShare(passOver: table) }
    guard forced == .rebuild || candidates.count(where: { $0.changedTable != nil }) > 1,
      var run = try TableRun(on: table, in: schema, application)
    else { return nil }
    var best: SharedPass?
    for operation in candidates {
      guard try run.append(operation) else { break }
      // What writes no row needs no pass, before the others and after them.
      guard run.rewrites.first == true else { return nil }
      if run.rewrites.last == true, let way = Self.way(for: run, isForced: forced == .rebuild) {
        best = SharedPass(run, way)
      }
    }
    guard let best else { return nil }
    self = best
  }

  private init(_ run: TableRun, _ way: Way) {
    self.run = run
    self.way = way
  }

  private static func way(for run: TableRun, isForced: Bool) -> Way? {
    let rewrites = run.rewrites.count { $0 }
    if isForced { return .rebuild }
    guard rewrites > 1 else { return nil }
    if run.plans.contains(where: { $0.strategy == .rebuild }) { return .rebuild }
    return run.keepsValues ? run.table.readableRowid.map(Way.exchange) : nil
  }

  /// One plan for each operation: each asks what it has to ask, the last one does the work.
  func plans() throws(PlanningError) -> [OperationPlan] {
    // `--strategy rebuild` asks for it with one operation, too.
    let strategy: Strategy = run.plans.count == 1 ? .rebuild : .sharedPass
    var plans: [OperationPlan] = []
    for plan in run.plans.dropLast() {
      switch plan.operation.kind {
      case .dropIndex, .dropTrigger: plans.append(plan)
      default:
        plans.append(
          OperationPlan(operation: plan.operation, strategy: strategy, steps: plan.questions))
      }
    }
    guard let last = run.plans.last else { return plans }
    let pass =
      switch way {
      case .exchange(let rowid): exchange(rowid)
      case .rebuild: try rebuild()
      }
    return plans + [
      OperationPlan(
        operation: last.operation, strategy: strategy, steps: last.questions + pass,
        expectations: [TableExpectation(table: run.table.name, sql: run.finalText)],
        proofs: [try proof])
    ]
  }

  private var proof: RowProof {
    get throws(PlanningError) {
      RowProof(
        of: run.table, as: try run.final,
        keeping: run.columns.filter { $0.isKept && $0.origin?.generated == nil }.map(\.name),
        keepsRowids: !run.table.parsed.isWithoutRowid)
    }
  }

  // MARK: Ways

  /// A name that nobody has taken.
  private var rows: String {
    let taken = Set(run.before.objects.map(\.name.identifier))
    var name = "schemactl_pass"
    while taken.contains(name) { name += "_" }
    return name
  }

  private func exchange(_ rowid: String) -> [Step] {
    let source = "main.\(Quoting.quoted(run.table.name))"
    let target = "main.\(rows)"
    let alias = run.table.hasRowidAlias ? run.table.identity.first : nil
    // In a record the stored columns stand in their order; computed ones that are not stored have
    // no place (Database File Format, section 2.1). Those that come last may be missing, and read
    // their default: those that the run adds.
    let stored = run.columns.filter { $0.origin?.isStored ?? false }
    let places = stored.indices.map { "c\($0)" }
    let definitions = zip(places, stored).map { place, column in
      // What has no type stays as it is. REAL keeps whole numbers as small as they were.
      let type = column.origin?.type?.text ?? ""
      if column.origin?.name.text == alias { return "\(place) INTEGER PRIMARY KEY" }
      return Affinity(ofType: type) == .real ? "\(place) REAL" : place
    }
    let values = stored.map { Quoting.quoted($0.origin?.name.text ?? $0.name) }
    let key = alias == nil ? [(name: "rowid", value: rowid)] : []
    return [
      .statement("CREATE TABLE \(target) (\(definitions.joined(separator: ", ")))", nil),
      .copy(
        RowCopy(
          of: run.table.name, .out, from: source, to: target,
          columns: key + zip(places, values).map { (name: $0, value: $1) },
          key: RowCopy.Key(rowid: rowid))),
      .edit(SchemaEdit(table: run.table.name, sql: run.finalText, rows: rows)),
      .statement("DROP TABLE \(target)", nil),
    ]
  }

  private func rebuild() throws(PlanningError) -> [Step] {
    let columns = Dictionary(
      run.columns.compactMap { column in column.origin.map { ($0.name.text.identifier, column) } },
      uniquingKeysWith: { first, _ in first })
    return try Rebuild(run.table, in: run.schema, of: run.before).steps(final: run.finalText) {
      name in
      guard let column = columns[name] else { return nil }
      return column.isKept ? Rebuild.Column(kept: name) : column.change
    }
  }
}

extension OperationPlan {
  /// What is asked of the rows before anything is written.
  fileprivate var questions: [Step] { Array(steps.prefix(while: \.onlyAsks)) }
}

extension Operation {
  /// The table of which the operation changes a column.
  var changedTable: String? {
    switch kind {
    case .dropColumn(let table, _): table
    case .alterColumn(let change): change.table
    case .moveColumn(let move) where !move.keepSource: move.table
    default: nil
    }
  }

  fileprivate func mayShare(passOver table: String) -> Bool {
    switch kind {
    case .addColumn(let own, _): own.identifier == table.identifier
    // Whose they are is in the schema.
    case .dropIndex, .dropTrigger: true
    default: changedTable?.identifier == table.identifier
    }
  }
}

extension CreateTable.Column {
  /// Whether a row holds a value of it.
  var isStored: Bool { generated?.isStored ?? true }
}

extension ParsedTable {
  /// What the rowid is called where all columns and the rowid can be read at once; nil when the
  /// table has none, or no name of it is left.
  fileprivate var readableRowid: String? {
    guard !parsed.isWithoutRowid, parsed.columns.count < Rebuild.columnLimit else { return nil }
    return rowidName ?? (hasRowidAlias ? identity.first.map { Quoting.quoted($0) } : nil)
  }
}
