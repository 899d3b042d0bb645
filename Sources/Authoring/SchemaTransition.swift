import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaYAML

/// The operations that lead from one schema to another. They keep the values of all tables and columns that
/// both schemas have.
///
/// The transition runs each operation on a private database and compares the result with the wanted schema,
/// so the returned operations are verified.
package struct SchemaTransition {
  private let wanted: Schema
  private let application: Application
  private var current: Schema
  private var operations: [WrittenOperation] = []
  private var saved: [VirtualRows] = []

  /// - Throws: when a renaming names a missing object, or the schema cannot be reached.
  package static func operations(
    from: Schema, to wanted: Schema, renaming: [SchemaRenaming] = [], _ application: Application
  ) throws(Failure) -> [WrittenOperation] {
    var transition = SchemaTransition(
      wanted: wanted.ours().withoutShadowTables(), application: application,
      current: from.ours().withoutShadowTables())
    try transition.rename(renaming)
    try transition.dropObsoleteObjects()
    try transition.changeTables()
    try transition.createMissingObjects()
    try transition.requireWantedSchema()
    return transition.operations
  }

  // MARK: Steps

  private mutating func rename(_ renaming: [SchemaRenaming]) throws(Failure) {
    for one in renaming {
      let table = try subject(of: one)
      try requireWanted(one, in: renaming)
      // Renaming rewrites the text of views and triggers, but the wanted schema has its own text of them.
      try drop(current.objects.filter { $0.kind == .view || $0.kind == .trigger && isToChange($0) })
      if let column = one.column {
        try run(
          WrittenOperation(
            "rename_column",
            [
              ("table", yamlScalar(table.name)), ("from", yamlScalar(column)),
              ("to", yamlScalar(one.to)),
            ]))
      } else {
        try run(
          WrittenOperation(
            "rename_table", [("table", yamlScalar(table.name)), ("to", yamlScalar(one.to))]))
      }
    }
  }

  /// Returns the table of a renaming.
  private func subject(of one: SchemaRenaming) throws(Failure) -> SchemaObject {
    guard let table = current.table(one.table) else {
      throw refusal("table `\(one.table)` does not exist", one.table, current.tables.map(\.name))
    }
    guard let column = one.column else {
      guard current.table(one.to) == nil else {
        throw refusal("table `\(one.to)` already exists")
      }
      return table
    }
    // SQLite itself rejects the renaming of a column of a virtual table.
    guard let columns = table.columns else { return table }
    guard columns.contains(where: { $0.identifier == column.identifier }) else {
      throw refusal("`\(table.name)` has no column `\(column)`", column, columns)
    }
    guard !columns.contains(where: { $0.identifier == one.to.identifier }) else {
      throw refusal("`\(table.name)` already has a column `\(one.to)`")
    }
    return table
  }

  /// Requires the wanted schema to have the new name. Otherwise, later operations would drop the renamed
  /// object with its values.
  private func requireWanted(
    _ one: SchemaRenaming, in all: [SchemaRenaming]
  ) throws(Failure) {
    guard one.column != nil else {
      guard wanted.table(one.to) == nil else { return }
      throw refusal(
        "the new schema has no table `\(one.to)`", one.to, wanted.tables.map(\.name))
    }
    let name = all.first { $0.column == nil && $0.table.isSameName(as: one.table) }?.to ?? one.table
    guard let columns = wanted.table(name)?.columns,
      !columns.contains(where: { $0.isSameName(as: one.to) })
    else { return }
    throw refusal("the new schema has no column `\(name).\(one.to)`", one.to, columns)
  }

  private func refusal(
    _ problem: String, _ name: String = "", _ others: [String] = []
  ) -> Failure {
    Failure(.usage, "--rename: \(problem)\(didYouMean(name, among: others))")
  }

  private mutating func dropObsoleteObjects() throws(Failure) {
    for kind in [SchemaObject.Kind.trigger, .view, .index] {
      try drop(current.objects.filter { $0.kind == kind && isToChange($0) })
    }
    for table in current.tables.reversed() where mustDrop(table) {
      if let rows = wanted.table(table.name).flatMap({ VirtualRows(of: table, in: $0) }) {
        // Do not run this operation here. It does not change the schema, and its copy is a TEMP table, which
        // the later operation could not find: each operation runs on a database of its own.
        operations.append(rows.saving)
        saved.append(rows)
      }
      try run(table.drop)
    }
  }

  /// Whether the table must be dropped. A virtual table cannot be altered. It is dropped before other tables
  /// change, because it may prevent changes of the tables that it reads.
  private func mustDrop(_ table: SchemaObject) -> Bool {
    guard let new = wanted.table(table.name) else { return true }
    return (table.isVirtualTable || new.isVirtualTable) && !isSame(table, new)
  }

  private mutating func drop(_ objects: [SchemaObject]) throws(Failure) {
    for object in objects.reversed() where object.sql != nil { try run(object.drop) }
  }

  private mutating func changeTables() throws(Failure) {
    for table in wanted.tables {
      guard let old = current.table(table.name) else {
        try run(table.operation)
        if let rows = saved.first(where: { $0.table == table.name }) {
          operations.append(rows.restoring)
        }
        continue
      }
      guard !isSame(old, table) else { continue }
      for step in try steps(from: old, to: table) { try run(step) }
    }
  }

  /// Returns the first candidate that leads to the wanted table. The last candidate rebuilds the table.
  private func steps(
    from old: SchemaObject, to table: SchemaObject
  ) throws(Failure) -> [WrittenOperation] {
    var obstacle = "no candidate gives it"
    let transition = TableTransition(from: old, to: table, application: application)
    for steps in try failing({ try transition.candidates() }) {
      do {
        if leads(to: table, from: try applying(steps)) { return steps }
      } catch {
        obstacle = error.message
      }
    }
    throw Failure(
      .finding,
      "no operation leads from `\(old.sql ?? "")` to `\(table.sql ?? "")` (\(obstacle)): "
        + "write the migration by hand")
  }

  private mutating func createMissingObjects() throws(Failure) {
    for kind in [SchemaObject.Kind.index, .view, .trigger] {
      for object in wanted.objects
      where object.kind == kind && object.sql != nil && current.object(kind, object.name) == nil {
        try run(wanted.operation(making: object))
      }
    }
  }

  private func requireWantedSchema() throws(Failure) {
    let changes = compareSchemas(expected: wanted, actual: current)
    guard !changes.isEmpty else { return }
    throw Failure(
      .bug,
      "the operations do not lead to the requested schema: "
        + changes.map(\.sentence).joined(separator: "; "))
  }

  // MARK: Trying

  private func isToChange(_ object: SchemaObject) -> Bool {
    guard let other = wanted.object(object.kind, object.name) else { return true }
    return !isSame(object, other)
  }

  /// Compares two objects in a schema with all other tables, which decide whether a word in double quotes is
  /// a column or a string.
  private func isSame(_ old: SchemaObject, _ new: SchemaObject) -> Bool {
    let known = wanted.tables + current.tables.filter { wanted.table($0.name) == nil }
    let others = known.filter { $0.key != old.key && $0.key != new.key }
    return compareSchemas(
      expected: Schema(objects: [new] + others), actual: Schema(objects: [old] + others)
    ).isEmpty
  }

  private func leads(to table: SchemaObject, from result: Schema) -> Bool {
    guard let made = result.table(table.name) else { return false }
    // No other object may change.
    return isSame(made, table)
      && current.objects.allSatisfy { object in
        object.key == table.key
          || result.object(object.kind, object.name).map { isSame(object, $0) } == true
      }
  }

  private mutating func run(_ operation: WrittenOperation) throws(Failure) {
    current = try applying([operation])
    operations.append(operation)
  }

  private func applying(_ steps: [WrittenOperation]) throws(Failure) -> Schema {
    let migration: Migration
    do {
      migration = try Migration(
        id: "0001_new", file: "new manifest", reading: Array(manifestText(steps).utf8))
    } catch {
      throw Failure(.bug, "\(error)")
    }
    let project = Project(
      folder: MigrationFolder(""), migrations: [migration], lock: nil, application: application)
    return try project.replay(from: current, isTrusted: current.objects.isEmpty).schema.ours()
      .withoutShadowTables()
  }
}

/// The ways to change a table from one definition to another, the cheapest first.
private struct TableTransition {
  let from: SchemaObject
  let to: SchemaObject
  let application: Application

  func candidates() throws(DatabaseError) -> [[WrittenOperation]] {
    guard let old = from.createTable, let new = to.createTable else { return [] }
    let (oldTokens, newTokens) = (from.tokens, to.tokens)
    var candidates: [[WrittenOperation]] = []
    let name = yamlScalar(from.name)
    let oldNames = old.columns.map(\.name.text.identifier)
    let newNames = new.columns.map(\.name.text.identifier)
    if newNames.starts(with: oldNames) {
      let added = new.columns[old.columns.count...]
      if !added.isEmpty {
        if try application.refusal(toAdd: added.map { newTokens.text($0.range) }, to: old) == nil {
          candidates.append(
            added.map {
              WrittenOperation("add_column", [("table", name), ("column", $0.mapping(newTokens))])
            })
        }
      } else {
        candidates.append(
          zip(old.columns, new.columns).compactMap { alteration($0, oldTokens, $1, newTokens) })
      }
    } else if newNames == oldNames.filter(newNames.contains) {
      candidates.append(
        oldNames.indices.filter { !newNames.contains(oldNames[$0]) }.map { index in
          WrittenOperation(
            "drop_column",
            [("table", name), ("column", yamlScalar(old.columns[index].name.text))])
        })
    }
    return candidates + [new.rebuild(newTokens)].compactMap { $0.map { [$0] } }
      + [[WrittenOperation.rebuild(to)]]
  }

  private func alteration(
    _ old: CreateTable.Column, _ oldTokens: TokenizedSQL, _ new: CreateTable.Column,
    _ newTokens: TokenizedSQL
  ) -> WrittenOperation? {
    let before = old.keys(oldTokens)
    let after = new.keys(newTokens)
    let properties = ["type", "not_null", "default", "collate", "check", "references", "generated"]
    let changes = properties.compactMap { key -> (String, String)? in
      let new = after.last { $0.0 == key }?.1
      guard before.last(where: { $0.0 == key })?.1 != new else { return nil }
      return (key, new ?? (key == "not_null" ? "false" : "null"))
    }
    guard !changes.isEmpty else { return nil }
    return WrittenOperation(
      "alter_column",
      [("table", yamlScalar(from.name)), ("column", yamlScalar(old.name.text))] + changes)
  }
}

extension SchemaObject {
  fileprivate var drop: WrittenOperation {
    let name = yamlScalar(self.name)
    return switch kind {
    case .table where isVirtualTable: WrittenOperation("drop_virtual_table", [("name", name)])
    case .table: WrittenOperation("drop_table", [("table", name)])
    case .index, .view, .trigger: WrittenOperation("drop_\(kind.rawValue)", [("name", name)])
    }
  }
}

// MARK: Rows of virtual tables

/// The rows that a virtual table itself stores. If the table is recreated with other arguments, the
/// operations save and restore the columns that both definitions have.
struct VirtualRows {
  let table: String
  private let columns: [String]
  private let hasRowid: Bool

  private static let boxModules: [Identifier] = ["rtree", "rtree_i32"]

  /// Returns nil if the table stores no rows of its own, as with external content, or if the module is
  /// unknown: it may belong to the application.
  init?(of old: SchemaObject, in new: SchemaObject) {
    guard let (module, before) = Self.columns(of: old),
      let (newModule, after) = Self.columns(of: new), module == newModule
    else { return nil }
    columns = before.filter { name in
      after.contains { $0.identifier == name.identifier }
    }
    guard !columns.isEmpty else { return nil }
    table = new.name
    hasRowid = fullTextModules.contains(module)
  }

  private static func columns(of object: SchemaObject) -> (module: Identifier, columns: [String])? {
    let tokens = object.tokens
    guard case .createVirtualTable(let virtual)? = try? parseCreate(tokens) else { return nil }
    let module = virtual.module.text.identifier
    guard (fullTextModules + boxModules).contains(module) else { return nil }
    var columns: [String] = []
    for argument in virtual.arguments {
      let words = tokens.significant(in: argument).map(tokens.text)
      if words.count > 1, words[1] == "=" {
        if words[0].identifier == "content" { return nil }
      } else if let name = words.first(where: { $0 != "+" }), name.identifier != "tokenize" {
        columns.append(Quoting.unquoted(name))
      }
    }
    return (module, columns)
  }

  private var copy: String { "temp.\(Quoting.quoted("kept_" + table))" }

  private var names: String {
    ((hasRowid ? ["rowid"] : []) + columns.map { Quoting.quoted($0) }).joined(separator: ", ")
  }

  var saving: WrittenOperation {
    let first = hasRowid ? "rowid AS kept_rowid, " : ""
    let list = quotedList(columns)
    return WrittenOperation(
      sql: "CREATE TABLE \(copy) AS SELECT \(first)\(list) FROM \(Quoting.quoted(table));")
  }

  var restoring: WrittenOperation {
    WrittenOperation(
      sql: """
        INSERT INTO \(Quoting.quoted(table)) (\(names)) SELECT * FROM \(copy);
        DROP TABLE \(copy);
        """)
  }
}
