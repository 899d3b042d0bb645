import SchemaModel
import SchemaSQLText

/// The properties of an index that rules use.
package struct IndexShape {
  package let name: String
  package let table: String
  package let isUnique: Bool
  /// Each term in normal form, without ASC.
  package private(set) var terms: [[[UInt8]]]
  /// The name of the column, or nil for an expression.
  package private(set) var columns: [Identifier?]
  /// The condition in normal form; nil if the index is not partial.
  package private(set) var condition: [[UInt8]]?

  /// Returns nil for an automatic index.
  package init?(_ object: SchemaObject) {
    guard object.kind == .index, let sql = object.sql else { return nil }
    let tokens = TokenizedSQL(sql)
    guard case .createIndex(let index)? = try? parseCreate(tokens) else { return nil }
    name = object.name
    table = object.table
    isUnique = index.isUnique
    terms = index.terms.map { term in
      let words = tokens.normalTokens(in: term.range)
      return term.order == .ascending ? Array(words.dropLast()) : words
    }
    columns = index.terms.map { $0.column?.text.identifier }
    condition = index.condition.map { tokens.normalTokens(in: $0.range) }
  }

  /// The same index with renamed columns.
  package func renaming(_ names: [Identifier: Identifier]) -> IndexShape {
    var index = self
    index.terms = terms.map { $0.map { $0.renamed(names) } }
    index.columns = columns.map { $0.map { names[$0] ?? $0 } }
    index.condition = condition.map { $0.map { $0.renamed(names) } }
    return index
  }

  /// Whether two rows with equal keys in the other index also have equal keys in this one. The
  /// order and the direction of the terms do not matter.
  package func isAtLeastAsStrict(as other: IndexShape) -> Bool {
    func keys(_ index: IndexShape) -> Set<[[UInt8]]> {
      Set(index.terms.map { $0.last == Array("desc".utf8) ? $0.dropLast() : $0 })
    }
    return isUnique && (condition == nil || condition == other.condition)
      && keys(self).isSubset(of: keys(other))
  }

  /// Whether a lookup in this index can use the other index instead.
  package func isCovered(by other: IndexShape) -> Bool {
    condition == other.condition && terms.count <= other.terms.count
      && terms.elementsEqual(other.terms.prefix(terms.count))
  }
}

extension IndexShape {
  package func isUseless(beside other: IndexShape) -> Bool {
    guard condition == nil, other.condition == nil, isCovered(by: other) else { return false }
    // A unique index is also a constraint, so that only an equal unique index makes it useless.
    return !isUnique || other.isUnique && other.terms.count == terms.count
  }

  /// A phrase for the primary key or UNIQUE constraint of the table whose first columns are the
  /// columns of the index. For a unique index it must have no other columns. Nil if none fits.
  package func key(of table: TableShape) -> String? {
    guard condition == nil, terms.allSatisfy({ $0.count == 1 }) else { return nil }
    func begins(_ key: [Identifier]) -> Bool {
      guard isUnique ? key.count == columns.count : key.count >= columns.count else { return false }
      return columns.elementsEqual(key.prefix(columns.count).map { $0 })
    }
    // The terms have no COLLATE clause, because a primary key and UNIQUE use the collation of each
    // column.
    if let primary = table.primaryKey?.columns, begins(primary) { return "the primary key" }
    return table.uniques.contains(where: begins) ? "a UNIQUE constraint" : nil
  }
}

extension Timeline {
  /// The removed index. Nil for an object of another kind, and if the migration also drops the
  /// table or a column of the index.
  package func droppedIndex(_ removed: RemovedObject) -> IndexShape? {
    guard removed.hasTable, !removed.isImplicit, let index = index(removed) else { return nil }
    let lost = change(of: index.table, in: removed.place.migration)?.droppedColumns ?? []
    return index.columns.contains { $0.map(lost.contains) ?? false } ? nil : index
  }

  /// A removed index, with the names of its columns after the migration or the rebuild.
  package func index(_ removed: RemovedObject, in rebuild: TableChange? = nil) -> IndexShape? {
    let change = rebuild ?? change(of: removed.object.table, in: removed.place.migration)
    return IndexShape(removed.object)?.renaming(change?.renamedColumns ?? [:])
  }
}

extension LastSchema {
  /// The indexes of each table, by its folded name.
  package var indexes: [Identifier: [IndexShape]] {
    Dictionary(grouping: objects.compactMap { IndexShape($0.object) }) { $0.table.identifier }
  }
}
