/// Diagrams of schemas.
///
/// - ``SchemaModel/Schema/outline(_:)`` describes the tables of a schema as SQLite reports them.
/// - ``Diagram`` collects the tables and foreign keys to draw, and their differences from an older schema.
/// - ``Diagram/mermaid`` and ``Diagram/dot(showsAllColumns:linking:)`` are the diagram as text. ``Graphviz``
///   converts DOT to SVG.

import SchemaHistory
import SchemaModel
import SchemaSQLText

/// The difference of a table, a column or a foreign key from the older schema.
package enum Mark: String, Sendable, CaseIterable {
  case same, new, changed, dropped

  /// A suffix such as ` (new)`; empty if there is no difference.
  package var suffix: String { self == .same ? "" : " (\(rawValue))" }
}

/// The tables and foreign keys of a diagram.
package struct Diagram: Sendable {
  package struct Table: Sendable {
    package let outline: TableOutline
    package let columns: [(column: ColumnOutline, mark: Mark)]
    package let mark: Mark

    package var name: String { outline.name }
  }

  package struct Reference: Sendable {
    /// Indexes of `tables`.
    package fileprivate(set) var child: Int
    package fileprivate(set) var parent: Int
    package let key: StoredTable.ForeignKey
    package let mark: Mark
    /// Whether a row of the child may have no parent row.
    package let isOptional: Bool
    /// Whether a parent row has at most one child row.
    package let isUnique: Bool
    /// Whether the child's primary key contains the foreign key.
    package let isIdentifying: Bool
  }

  package private(set) var tables: [Table] = []
  package private(set) var references: [Reference] = []
  /// The tables that foreign keys refer to and that do not exist.
  package private(set) var missing: Set<Identifier> = []

  package init(_ outline: [TableOutline]) {
    tables = outline.map { table in
      Table(outline: table, columns: table.columns.map { ($0, .same) }, mark: .same)
    }
    connect { _, _ in .same }
  }

  /// Creates a diagram with the differences from an older schema. The diagram also contains dropped tables
  /// and columns.
  ///
  /// - Parameter changes: the differences between the two schemas.
  package init(_ outline: [TableOutline], since old: [TableOutline], _ changes: [SchemaChange]) {
    let marks = TableMarks(changes)
    for table in outline {
      let before = old.table(table.name)
      tables.append(
        Table(
          outline: table, columns: marks.columns(of: table, before: before),
          mark: before == nil ? .new : marks.changed.contains(table.name) ? .changed : .same))
    }
    for table in old where outline.table(table.name) == nil {
      tables.append(
        Table(outline: table, columns: table.columns.map { ($0, .dropped) }, mark: .dropped))
    }
    connect { table, key in
      guard table.mark == .same || table.mark == .changed else { return table.mark }
      let isKnown = old.table(table.name)?.foreignKeys.contains { $0.isSame(as: key) } ?? false
      return isKnown ? .same : .new
    }
    for (child, table) in tables.enumerated() {
      let lost = (old.table(table.name)?.foreignKeys ?? []).filter { key in
        !table.outline.foreignKeys.contains { $0.isSame(as: key) }
      }
      for key in lost { connect(child, key, .dropped) }
    }
  }

  /// The new, changed and dropped tables.
  package var changedTables: Set<Identifier> {
    Set(tables.filter { $0.mark != .same }.map(\.name.identifier))
  }

  /// Returns the part of the diagram around some tables.
  ///
  /// - Parameter neighbours: the maximum distance from these tables, as a number of foreign keys.
  package func around(_ names: Set<Identifier>, neighbours: Int) -> Diagram {
    var kept = Set(tables.indices.filter { names.contains(tables[$0].name) })
    for _ in 0..<neighbours {
      let near = references.filter { kept.contains($0.child) || kept.contains($0.parent) }
      let count = kept.count
      kept.formUnion(near.flatMap { [$0.child, $0.parent] })
      if kept.count == count { break }
    }
    let order = tables.indices.filter(kept.contains)
    var part = self
    part.tables = order.map { tables[$0] }
    part.references = references.compactMap { reference in
      guard let child = order.firstIndex(of: reference.child),
        let parent = order.firstIndex(of: reference.parent)
      else { return nil }
      var near = reference
      (near.child, near.parent) = (child, parent)
      return near
    }
    return part
  }

  /// Returns the tables whose names match.
  package func tables(matching glob: Glob) -> Set<Identifier> {
    Set(tables.map(\.name).filter(glob.matches).map(\.identifier))
  }

  // MARK: References

  private mutating func connect(_ mark: (Table, StoredTable.ForeignKey) -> Mark) {
    for (child, table) in tables.enumerated() {
      for key in table.outline.foreignKeys { connect(child, key, mark(table, key)) }
    }
  }

  private mutating func connect(_ child: Int, _ key: StoredTable.ForeignKey, _ mark: Mark) {
    let outline = tables[child].outline
    let own = Set(key.columns.map(\.identifier))
    let primaryKey = Set(outline.primaryKey.map(\.identifier))
    references.append(
      Reference(
        child: child, parent: place(of: key.table), key: key, mark: mark,
        isOptional: key.columns.contains { outline.column($0)?.isRequired != true },
        isUnique: outline.isUnique(key.columns),
        isIdentifying: own.isSubset(of: primaryKey)))
  }

  /// Returns the index of a table. Adds a missing table without columns.
  private mutating func place(of name: String) -> Int {
    if let place = tables.firstIndex(where: { $0.name.isSameName(as: name) }) { return place }
    missing.insert(name)
    let outline = TableOutline(
      name: name, columns: [], foreignKeys: [], indexes: [], triggers: [], constraints: [],
      options: [], sql: "")
    tables.append(Table(outline: outline, columns: [], mark: .same))
    return tables.count - 1
  }
}

extension StoredTable.ForeignKey {
  fileprivate func isSame(as other: StoredTable.ForeignKey) -> Bool {
    columns.map(\.identifier) == other.columns.map(\.identifier)
      && table.isSameName(as: other.table)
      && parentColumns.map(\.identifier) == other.parentColumns.map(\.identifier)
      && onUpdate == other.onUpdate && onDelete == other.onDelete
  }
}

extension ColumnOutline {
  /// Whether the column cannot be NULL.
  fileprivate var isRequired: Bool {
    // An INTEGER PRIMARY KEY is the rowid, regardless of other constraints.
    isNotNull || keyPosition > 0 && type.isSameName(as: "INTEGER")
  }
}

/// The changed tables and columns in a comparison of two schemas.
private struct TableMarks {
  private(set) var changed: Set<Identifier> = []
  private var columns: [Identifier: Set<Identifier>] = [:]

  init(_ changes: [SchemaChange]) {
    for change in changes {
      switch change.kind {
      case .column, .constraint, .columnOrder, .table, .spelling: changed.insert(change.holder)
      case .index, .view, .trigger: continue
      }
      guard change.kind == .column else { continue }
      // `table.column`
      let name = String(change.object.dropFirst(change.holder.count + 1))
      columns[change.holder, default: []].insert(name)
    }
  }

  /// Returns the columns of a table, with each dropped column after its former predecessor.
  func columns(
    of table: TableOutline, before: TableOutline?
  ) -> [(column: ColumnOutline, mark: Mark)] {
    guard let before else { return table.columns.map { ($0, .new) } }
    var all: [(column: ColumnOutline, mark: Mark)] = table.columns.map { column in
      let isChanged = columns[table.name]?.contains(column.name) ?? false
      return (
        column, before.column(column.name) == nil ? .new : isChanged ? .changed : .same
      )
    }
    for (index, column) in before.columns.enumerated() where table.column(column.name) == nil {
      let predecessor = index > 0 ? before.columns[index - 1].name : ""
      let place = all.firstIndex { $0.column.name.isSameName(as: predecessor) }
      all.insert((column, .dropped), at: place.map { $0 + 1 } ?? 0)
    }
    return all
  }
}
