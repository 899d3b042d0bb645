import SchemaManifest
import SchemaModel
import SchemaSQLText

extension OperationPlan {
  /// The strategy, its effect on the rows, and the reason for it.
  package var explanation: String {
    switch strategy {
    case .native, .sql, .assertion: why
    default: "\(strategy.rawValue): \(why)"
    }
  }

  /// The effect of the operation on this schema, for readers who do not know SQL.
  package var inWords: String {
    let drops = droppedColumns.map { ", drops column `\($0)` and its values" }
    return operation.inWords + drops.joined()
  }

  /// The effect of the strategy on the rows, and the reason why no cheaper one is possible.
  package var why: String {
    let meaning =
      switch strategy {
      case .native: "SQLite's own statement"
      case .update:
        updatesEveryRow
          ? "writes every row in place"
          : writesRows ? "writes only rows whose value changes" : "writes no row"
      case .schemaEdit:
        writesRows ? "writes only rows that are older than the column" : "writes no row"
      case .rewrite:
        copiesRows ? "writes every row once" : "done by the rewrite of a following operation"
      case .sql: "as the manifest specifies"
      case .assertion: "changes nothing"
      }
    return reason.map { "\(meaning), because \($0)" } ?? meaning
  }

  var copiesRows: Bool { steps.contains { if case .copy = $0 { true } else { false } } }

  private var updatesEveryRow: Bool {
    steps.contains { if case .update(let update) = $0 { update.condition == nil } else { false } }
  }

  /// Whether the plan writes rows of the user's tables, in place or by a copy.
  var writesRows: Bool {
    steps.contains { if case .rewriting = $0 { true } else { false } }
  }
}

extension Operation {
  /// The effect of the operation, for readers who do not know SQL.
  package var inWords: String {
    switch kind {
    case .createTable(let table):
      return "creates table `\(table.name)` with \(counted(table.columns.count, "column"))"
    case .dropTable(let table): return "drops table `\(table)` and its rows"
    case .renameTable(let table, let to): return "renames table `\(table)` to `\(to)`"
    case .addColumn(let table, let column): return "adds column `\(table).\(column.name)`"
    case .dropColumn(let table, let column):
      return "drops column `\(table).\(column)` and its values"
    case .renameColumn(let table, let from, let to):
      return "renames column `\(table).\(from)` to `\(to)`"
    case .moveColumn(let move): return inWords(move)
    case .alterColumn(let change):
      return "changes the declaration of `\(change.table).\(change.column)`"
    case .rebuildTable(let rebuild): return "rebuilds table `\(rebuild.table.name)`"
    case .convertPrimaryKey(let conversion):
      return "converts the primary key of `\(conversion.table)`"
    case .createIndex(let index):
      return "creates \(index.unique ? "unique " : "")index `\(index.name)` on `\(index.table)`"
    case .createView(let name, _): return "creates view `\(name)`"
    case .createTrigger(let name, _): return "creates trigger `\(name)`"
    case .createVirtualTable(let name, let module, _):
      return "creates virtual table `\(name)` with `\(module)`"
    case .dropIndex(let name): return "drops index `\(name)`"
    case .dropView(let name): return "drops view `\(name)`"
    case .dropTrigger(let name): return "drops trigger `\(name)`"
    case .dropVirtualTable(let name): return "drops virtual table `\(name)`"
    case .insert(let table, let rows):
      return "inserts \(counted(rows.count, "row")) into `\(table)`"
    case .update(let table, let set, let condition):
      return "sets \(listed(set.map { "`\($0.column)`" }, "and")) in \(rows(of: table, condition))"
    case .delete(let table, let condition): return "deletes \(rows(of: table, condition))"
    case .sql: return "runs the SQL of the manifest"
    case .assert(let assertion):
      return assertion.message.map { "asserts: \($0)" } ?? "asserts a condition"
    }
  }

  private func inWords(_ move: MoveColumn) -> String {
    var text =
      move.keepSource
      ? "copies column `\(move.table).\(move.from)` to the new column `\(move.to.name)`"
      : "replaces column `\(move.table).\(move.from)` by `\(move.to.name)`"
    if case .map(let pairs) = move.mapping {
      let values = pairs.prefix(8).map { "\($0.from.sql) as \($0.to.sql)" }
      text += " (\(values.joined(separator: ", "))\(pairs.count > 8 ? " and so on" : ""))"
    }
    return text + (move.mirror ? " and keeps both consistent with triggers" : "")
  }

  private func rows(of table: String, _ condition: SQLSource?) -> String {
    condition == nil ? "all rows of `\(table)`" : "some rows of `\(table)`"
  }
}

/// The disk work of an operation, as far as its plan shows: how often it reads and writes all rows of a
/// table, regardless of their number.
package struct Work: Sendable, Equatable {
  /// The heaviest kind of work in a plan, from the lightest to the heaviest.
  package enum Kind: String, Sendable, CaseIterable {
    /// Reads and writes no rows.
    case none
    /// Reads rows and writes none.
    case scan
    /// Builds an index over all rows.
    case buildsIndex = "builds-index"
    /// Writes new or changed rows.
    case writesRows = "writes-rows"
    /// Writes every row.
    case rewritesTable = "rewrites-table"
    /// Runs SQL of the manifest, whose work is unknown.
    case asWritten = "as-written"
  }

  /// The work on one table, in passes over all its rows.
  package struct Load: Sendable, Equatable {
    package let table: String
    /// The largest number of passes that read. A question ends at the first row that answers it.
    package let reads: Int
    /// The largest number of passes that write. Each stores all rows on the disk once more, in a copy or in a
    /// journal.
    package let writes: Int
  }

  package let kind: Kind
  package let loads: [Load]
  /// The number of rows that the manifest itself inserts.
  package let newRows: Int

  init(_ kind: Kind, _ loads: [Load] = [], newRows: Int = 0) {
    self.kind = kind
    self.loads = loads
    self.newRows = newRows
  }

  package var inWords: String {
    switch kind {
    case .none: "reads and writes no rows"
    case .scan: "reads rows, writes none"
    case .buildsIndex: "reads every row and writes the index"
    case .writesRows: "writes new and changed rows"
    case .rewritesTable: "writes every row of the table"
    case .asWritten: "unknown cost"
    }
  }
}

extension OperationPlan {
  /// Estimates the work of the plan.
  ///
  /// - Parameter schema: the schema before the operation.
  package func work(in schema: Schema) -> Work {
    let questions = questions.count
    func load(_ table: String?, reads: Int = 0, writes: Int = 0) -> [Work.Load] {
      let reads = reads + questions
      guard let table, reads + writes > 0 else { return [] }
      return [Work.Load(table: table, reads: reads, writes: writes)]
    }
    switch strategy {
    case .native: return nativeWork(in: schema)
    case .sql, .assertion: return Work(.asWritten)
    case .update, .schemaEdit, .rewrite: break
    }
    if copiesRows {
      return Work(.rewritesTable, expectations.flatMap { load($0.table, reads: 1, writes: 1) })
    }
    if writesRows { return Work(.writesRows, load(operation.table, reads: 1, writes: 1)) }
    let asked = load(operation.table)
    return Work(asked.isEmpty ? .none : .scan, asked)
  }

  private func nativeWork(in schema: Schema) -> Work {
    func load(_ table: String, writes: Int = 1) -> [Work.Load] {
      [Work.Load(table: table, reads: 1, writes: writes)]
    }
    switch operation.kind {
    case .dropColumn(let table, let name):
      let column = schema.table(table).flatMap { try? ParsedTable($0) }?
        .parsed.column(named: name)
      guard column?.isStored ?? true else { return Work(.none) }
      return Work(.rewritesTable, load(table))
    case .addColumn(let table, let column) where column.check != nil || column.isCheckedOnRows:
      return Work(.scan, load(table, writes: 0))
    case .createIndex(let index):
      return Work(.buildsIndex, load(index.table))
    case .insert(_, let rows): return Work(.writesRows, newRows: rows.count)
    case .update(let table, _, _), .delete(let table, _):
      return Work(.writesRows, load(table))
    default: return Work(.none)
    }
  }
}

extension Operation {
  /// The table whose rows the operation may read.
  fileprivate var table: String? {
    switch kind {
    case .addColumn(let table, _): table
    case .moveColumn(let move): move.table
    default: changedTable
    }
  }
}

extension ColumnDefinition {
  /// Whether ADD COLUMN tests all rows: it does for a generated column that is NOT NULL (ALTER TABLE, section
  /// 5).
  fileprivate var isCheckedOnRows: Bool { generated != nil && notNull != nil }
}
