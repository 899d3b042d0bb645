import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// The rows of some tables that violate a foreign key, as found by `PRAGMA foreign_key_check`.
package struct ForeignKeyViolations {
  /// A foreign key of a row that refers to a missing parent row.
  private struct Violation: Hashable {
    let table: Identifier
    /// The row's rowid; in a WITHOUT ROWID table its primary key, as SQL.
    let row: String
    /// The values of the row's primary key, as SQL for a message; its rowid if it has none.
    let name: String
    /// The values of the foreign key's columns, as SQL.
    let values: String
    let key: Key
  }

  private struct Key: Hashable {
    let columns: [Column]
    let parent: Identifier
    let targets: [Column]
  }

  /// A row, identified by its table and by SQL.
  private struct Row: Hashable {
    let table: Identifier
    let text: ExactText

    init(of table: Identifier, _ text: String) {
      self.table = table
      self.text = text.exact
    }
  }

  /// A column of a foreign key. It is recognised by its name, or by its position if it was renamed.
  private struct Column: Hashable {
    let name: Identifier
    let place: Int?

    func isSame(as other: Column) -> Bool {
      name == other.name || place != nil && place == other.place
    }
  }

  private var found: Set<Violation> = []
  /// SQLite's errors (`foreign key mismatch`), by the table whose check failed.
  private var errors: [Identifier: String] = [:]
  /// The columns that identify a row, for each table with violations.
  private var identities: [Identifier: String] = [:]

  init() {}

  /// Messages about tables that SQLite cannot check, because a foreign key matches no key of its parent.
  package var mismatches: [Identifier: String] {
    Dictionary(
      errors.map { ($0, "cannot check the foreign keys of `\($0)`: \($1)") },
      uniquingKeysWith: { first, _ in first })
  }

  package init(of tables: [String], in schema: Schema, on source: some RowSource)
    throws(DatabaseError)
  {
    for name in tables {
      guard let table = schema.table(name) else { continue }
      do {
        try check(table, as: name, in: schema, on: source)
      } catch  where !error.isFault {
        errors[name] = error.message
      }
    }
  }

  private mutating func check(
    _ table: SchemaObject, as name: String, in schema: Schema, on source: some RowSource
  ) throws(DatabaseError) {
    guard try !source.rows("PRAGMA main.foreign_key_check(\(Quoting.quoted(table.name)))").isEmpty
    else { return }
    let identity = table.rowIdentity
    identities[name] = identity.joined(separator: ", ")
    for key in keys(of: table, in: schema) {
      try find(key, of: table, as: name, identity, in: schema, on: source)
    }
  }

  private func keys(of table: SchemaObject, in schema: Schema) -> [Key] {
    func columns(_ names: [String], of table: CreateTable?) -> [Column] {
      names.map { name in
        Column(
          name: name.identifier, place: table?.columns.firstIndex { $0.name.isSame(as: name) })
      }
    }
    guard let child = table.createTable else { return [] }
    return child.foreignKeys.map { names, reference in
      let parent = schema.table(reference.table.text)?.createTable
      let targets =
        reference.columns.isEmpty ? parent?.keyColumns ?? [] : reference.columns.map(\.text)
      return Key(
        columns: columns(names.map(\.text), of: child), parent: reference.table.text.identifier,
        targets: columns(targets, of: parent))
    }
  }

  /// Adds the violations of one foreign key by a query: `foreign_key_check` reports no values, and no rowid
  /// for a WITHOUT ROWID table.
  private mutating func find(
    _ key: Key, of table: SchemaObject, as child: String, _ identity: [String], in schema: Schema,
    on source: some RowSource
  ) throws(DatabaseError) {
    let columns = key.columns.map { "c.\(Quoting.quoted($0.name.text))" }
    let condition =
      schema.table(key.parent.text) == nil
      ? columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
      : missesParent(columns, in: key.parent.text, key.targets.map(\.name.text))
    let row = identity.isEmpty ? columns : identity.map { "c.\($0)" }
    let name = table.rowKey.isEmpty ? row : table.rowKey.map { "c.\(Quoting.identifier($0))" }
    let rows = try source.rows(
      """
      SELECT \(quoted(row)), \(quoted(name)), \(quoted(columns))
      FROM main.\(Quoting.quoted(table.name)) c
      WHERE \(condition)
      """)
    for row in rows {
      found.insert(
        Violation(
          table: child.identifier, row: row[0].text ?? "", name: row[1].text ?? "",
          values: row[2].text ?? "", key: key))
    }
  }

  private func quoted(_ terms: [String]) -> String {
    terms.map { "quote(\($0))" }.joined(separator: " || ', ' || ")
  }

  /// A message about the violations that did not exist before, and the tables concerned. Nil if there are
  /// none.
  ///
  /// - Parameters:
  ///   - renames: the tables that were renamed in between.
  ///   - redacted: whether to omit the identification of rows, which may contain values.
  package func newViolations(
    beyond before: ForeignKeyViolations, _ renames: TableRenames, redacted: Bool = false
  ) -> (message: String, tables: Set<Identifier>)? {
    func former(_ name: Identifier) -> Identifier { renames.firstName(of: name) ?? name }
    let broken = errors.filter { before.errors[former($0.key)] == nil }
    if !broken.isEmpty {
      let list = broken.keys.compactMap { mismatches[$0] }
      return (list.sorted().joined(separator: "; "), Set(broken.keys))
    }
    func isSame(_ old: Violation, _ new: Violation) -> Bool {
      let parent = new.key.parent
      // Without a parent, the columns of its primary key are unknown.
      let isUnknown = old.key.targets.isEmpty || new.key.targets.isEmpty
      return old.key.columns.elementsEqual(new.key.columns) { $0.isSame(as: $1) }
        && (isUnknown || old.key.targets.elementsEqual(new.key.targets) { $0.isSame(as: $1) })
        && [parent, former(parent)].contains(old.key.parent)
    }
    // In a table whose rows were copied or got other keys, a row is recognised by the values of its foreign
    // key.
    func isMoved(_ table: Identifier) -> Bool {
      renames.isReplaced(former(table)) || identities[table] != before.identities[former(table)]
    }
    let moved = Set(Set(found.map(\.table)).filter(isMoved).map(former))
    func row(_ violation: Violation, of table: Identifier) -> Row {
      Row(of: table, moved.contains(table) ? violation.values : violation.row)
    }
    // Grouped by row, so that a million violations are not each compared with a million others.
    var known = Dictionary(grouping: before.found) { row($0, of: $0.table) }
    let new = found.filter { violation in
      let row = row(violation, of: former(violation.table))
      guard let index = known[row]?.firstIndex(where: { isSame($0, violation) }) else {
        return true
      }
      known[row]?.remove(at: index)
      return false
    }
    guard !new.isEmpty else { return nil }
    let groups =
      redacted
      ? Dictionary(grouping: new) { [$0.table, $0.key.parent] + $0.key.columns.map(\.name) }
        .map(\.value)
      : new.map { [$0] }
    let list = groups.map { rows in
      let (first, key) = (rows[0], rows[0].key)
      let columns = key.columns.map { "`\($0.name)`" }.joined(separator: ", ")
      return (redacted ? counted(rows.count, "row") : "row \(first.name)") + " of `\(first.table)` "
        + (rows.count == 1
          ? "refers by \(columns) to a missing row of " : "refer by \(columns) to missing rows of ")
        + "`\(key.parent)`"
    }
    let tables = Set(new.flatMap { [$0.table, $0.key.parent] })
    return (
      "this migration breaks foreign keys: "
        + list.sorted().abridged(to: 10).joined(separator: "; "), tables.union(tables.map(former))
    )
  }
}
