import SchemaManifest
import SchemaModel
import SchemaSQLText

/// The disk work of an operation, as far as its plan shows: how often it reads and writes the rows of a table,
/// regardless of their number.
package struct Work: Sendable, Equatable {
  /// The heaviest thing that is done, from nothing on.
  package enum Kind: String, Sendable, CaseIterable {
    /// Reads no rows.
    case none
    /// Rows are read, and none is written.
    case scan
    /// Builds an index of all rows.
    case buildsIndex = "builds-index"
    /// Some rows are written: those that are new, or that change.
    case writesRows = "writes-rows"
    /// Every row is written.
    case rewritesTable = "rewrites-table"
    /// SQL of the manifest, with unknown work.
    case asWritten = "as-written"
  }

  /// Of one table, in passes over all its rows.
  package struct Load: Sendable, Equatable {
    package let table: String
    /// How often all rows are read, at most: a question ends at the first row that answers it.
    package let reads: Int
    /// How often all rows are written, at most: each time the table is on the disk once more, in a copy or a
    /// journal.
    package let writes: Int
  }

  package let kind: Kind
  package let loads: [Load]
  /// Rows that the manifest itself inserts.
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
  /// - Parameter schema: as it is before the operation.
  package func work(in schema: Schema) -> Work {
    let questions = steps.prefix(while: \.onlyAsks).count {
      if case .question = $0 { true } else { false }
    }
    func load(_ table: String?, reads: Int = 0, writes: Int = 0) -> [Work.Load] {
      let reads = reads + questions
      guard let table, reads + writes > 0 else { return [] }
      return [Work.Load(table: table, reads: reads, writes: writes)]
    }
    switch strategy {
    case .native: return nativeWork(in: schema)
    case .sql, .assertion: return Work(.asWritten)
    case .update, .schemaEdit:
      guard writesRows else {
        let asked = load(operation.table)
        return Work(asked.isEmpty ? .none : .scan, asked)
      }
      return Work(
        .writesRows, load(operation.table, reads: 1, writes: 1))
    case .rewrite where !copiesRows:
      let asked = load(operation.table)
      return Work(asked.isEmpty ? .none : .scan, asked)
    case .rewrite:
      return Work(
        .rewritesTable,
        expectations.flatMap { load($0.table, reads: 1, writes: 1) })
    }
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
  /// The table whose rows the operation may look at.
  fileprivate var table: String? {
    switch kind {
    case .addColumn(let table, _): table
    case .moveColumn(let move): move.table
    default: changedTable
    }
  }
}

extension ColumnDefinition {
  /// Of a computed column that may not be NULL (ALTER TABLE, section 5).
  fileprivate var isCheckedOnRows: Bool { generated != nil && notNull != nil }
}
