import SchemaManifest
import SchemaModel
import SchemaSQLText

/// A table and its parsed CREATE TABLE statement.
struct ParsedTable {
  let object: SchemaObject
  let tokens: TokenizedSQL
  let parsed: CreateTable

  var name: String { object.name }

  init(_ object: SchemaObject) throws {
    let tokens = TokenizedSQL(object.sql ?? "")
    switch try? parseCreate(tokens) {
    case .createTable(let parsed)? where !parsed.columns.isEmpty:
      self.object = object
      self.tokens = tokens
      self.parsed = parsed
    case .createVirtualTable?:
      throw PlanningError(
        "`\(object.name)` is a virtual table: write its change as `sql`", key: "table")
    default:
      throw PlanningError(
        "cannot read the definition of `\(object.name)`: \(object.sql ?? "")", kind: .failed,
        key: "table")
    }
  }

  /// Creates the same table with other SQL.
  init(_ table: ParsedTable, as sql: String) throws {
    try self.init(SchemaObject(kind: .table, name: table.name, table: table.name, sql: sql))
  }

  init(named name: String, in schema: Schema) throws {
    guard let object = schema.table(name) else { throw schema.lack(of: name) }
    try self.init(object)
  }

  /// Returns a column.
  ///
  /// - Parameter key: the operation's key that names the column.
  /// - Throws: an error that lists the existing columns, if the table does not have this one.
  func column(named name: String, key: String = "column") throws -> CreateTable.Column {
    if let column = parsed.column(named: name) { return column }
    throw PlanningError(
      "`\(self.name)` has no column `\(name)`; it has "
        + parsed.columns.map { "`\($0.name.text)`" }.joined(separator: ", "), kind: .failed,
      key: key)
  }

  /// The columns that are not generated.
  var plainColumns: [CreateTable.Column] { parsed.columns.filter { $0.generated == nil } }

  // MARK: Keys

  /// The columns of the primary key, in its order.
  var primaryKey: [String] { parsed.keyColumns }

  func isInPrimaryKey(_ column: CreateTable.Column) -> Bool {
    primaryKey.contains(where: column.name.isSame)
  }

  var isAutoincrement: Bool { parsed.primaryKey?.isAutoincrement ?? false }

  /// Whether a column is an alias of the rowid.
  var hasRowidAlias: Bool { parsed.rowidAlias != nil }

  func isRowidAlias(_ column: CreateTable.Column) -> Bool {
    parsed.rowidAlias?.name.isSame(as: column.name.text) ?? false
  }

  /// The columns that identify a row: the alias of the rowid, or the primary key of a WITHOUT ROWID table.
  /// Empty if only the rowid itself does.
  var identity: [String] {
    if !hasRowidAlias, !parsed.isWithoutRowid { return [] }
    return parsed.columns.filter(isInPrimaryKey).map(\.name.text)
  }

  /// A name of the rowid that no column has; nil if columns have all three.
  ///
  /// - Parameter other: a further column of the table, whose name does not count as free.
  func rowidName(beside other: String? = nil) -> String? {
    ["rowid", "_rowid_", "oid"].first { name in
      parsed.column(named: name) == nil && other?.isSameName(as: name) != true
    }
  }

  /// A name of the rowid, as SQL, which may be that of a column. Nil for a WITHOUT ROWID table, and if
  /// columns hide every name of the rowid.
  func rowid(beside other: String? = nil) -> String? {
    guard !parsed.isWithoutRowid else { return nil }
    return rowidName(beside: other) ?? identity.first.map { Quoting.quoted($0) }
  }

  /// The foreign keys that refer to another table, each as pairs of columns.
  func references(to parent: ParsedTable) -> [[(child: String, parent: String)]] {
    parsed.foreignKeys.filter { $0.reference.table.isSame(as: parent.name) }
      .map { columns, reference in
        zip(columns, reference.targets(in: parent)).map { child, target in
          (parsed.column(named: child.text)?.name.text ?? child.text, target)
        }
      }
  }

  /// The columns, and the generated columns that are computed from them.
  func withComputed(_ names: Set<Identifier>) -> Set<Identifier> {
    var names = names
    var generated = parsed.columns.filter { $0.generated != nil }
    while let next = generated.firstIndex(where: { column in
      tokens.identifiers(in: column.generated?.expression.range ?? 0..<0)
        .contains { names.contains($0.text) }
    }) {
      names.insert(generated.remove(at: next).name.text)
    }
    return names
  }

  // MARK: Changed SQL

  /// The table's SQL with one part replaced.
  func replacing(_ range: Range<Int>, with text: String) -> String {
    tokens.replacing([(range, text)])
  }

  /// The table's SQL with a further column after the last one.
  func adding(_ column: String) -> String {
    let end = parsed.columns.last?.range.upperBound ?? 0
    return replacing(end..<end, with: ", \(column)")
  }
}

extension CreateTable.Reference {
  /// The columns of the parent table that the foreign key refers to.
  func targets(in parent: ParsedTable) -> [String] {
    columns.isEmpty ? parent.primaryKey : columns.map(\.text)
  }
}

extension CreateTable.Column {
  /// Whether a row contains a value of the column. A VIRTUAL generated column is not stored.
  var isStored: Bool { generated?.isStored ?? true }
}

extension TokenizedSQL {
  /// The SQL with some ranges replaced, which must not overlap.
  package func replacing(_ edits: [(range: Range<Int>, text: String)]) -> String {
    let edits = edits.sorted {
      ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
    }
    var result: [UInt8] = []
    var position = 0
    for edit in edits {
      result += bytes[position..<edit.range.lowerBound] + Array(edit.text.utf8)
      position = edit.range.upperBound
    }
    return String(decoding: result + bytes[position...], as: UTF8.self)
  }
}

// MARK: Column definitions

/// A kind of clause in a column definition.
enum ColumnClause {
  case primaryKey, notNull, `default`, collate, check, references, generated

  fileprivate func includes(_ kind: CreateTable.ColumnConstraint.Kind) -> Bool {
    switch (self, kind) {
    case (.primaryKey, .primaryKey), (.notNull, .notNull), (.default, .default),
      (.collate, .collate), (.check, .check), (.references, .references),
      (.references, .deferral), (.generated, .generated):
      true
    default: false
    }
  }
}

/// A column definition in which some clauses are replaced. All other clauses are preserved byte for byte.
struct ColumnText {
  private let table: ParsedTable
  private let column: CreateTable.Column
  private var replacements: [(range: Range<Int>, text: String)] = []
  /// Clauses that the old definition does not have. They directly follow the type, because after a CONSTRAINT
  /// name without a constraint they would get that name.
  private var additions: [String] = []

  init(_ column: CreateTable.Column, of table: ParsedTable) {
    self.table = table
    self.column = column
  }

  /// The table's SQL with the new definition of the column.
  var tableText: String {
    let place = (column.type?.range ?? column.name.range).upperBound
    return table.tokens.replacing(
      [(place..<place, additions.map { " " + $0 }.joined())] + replacements)
  }

  mutating func setType(_ type: String?) {
    switch (column.type, type) {
    case (let old?, let new?): replacements.append((old.range, new))
    case (let old?, nil):
      replacements.append((column.name.range.upperBound..<old.range.upperBound, ""))
    case (nil, let new?): additions.insert(new, at: 0)
    case (nil, nil): break
    }
  }

  /// Replaces the first clause of a kind and removes all others of that kind; nil removes all of them. The
  /// new clause keeps the CONSTRAINT name of the first one.
  mutating func set(_ clause: ColumnClause, _ text: String?) {
    var text = text
    for constraint in column.constraints where clause.includes(constraint.kind) {
      guard let new = text else {
        remove(constraint.range)
        continue
      }
      let name = constraint.name.map { "CONSTRAINT \(table.tokens.text($0.range)) " } ?? ""
      replacements.append((constraint.range, name + new))
      text = nil
    }
    if let text { additions.append(text) }
  }

  mutating func set<Value>(
    _ clause: ColumnClause, to change: Change<Value>, _ sql: (Value) -> String
  ) {
    switch change {
    case .keep: break
    case .remove: set(clause, nil)
    case .set(let value): set(clause, sql(value))
    }
  }

  /// Removes a range and the white space before it.
  mutating func remove(_ range: Range<Int>) {
    let before = table.tokens.tokens.last { $0.range.upperBound <= range.lowerBound }
    let isSpace = before.map { $0.kind == .whitespace && $0.range.upperBound == range.lowerBound }
    let start = isSpace == true ? before?.range.lowerBound : nil
    replacements.append(((start ?? range.lowerBound)..<range.upperBound, ""))
  }
}

// MARK: Missing names

extension Operation {
  /// An error about the table or the column that the operation names and the schema lacks; nil if it has
  /// them. A statement of such an operation fails, but SQLite's own message quotes the name as the statement
  /// spells it.
  package func missingName(in schema: Schema) -> PlanningError? {
    let (table, columns, key): (String, [String], String) =
      switch kind {
      case .dropTable(let table), .renameTable(let table, _), .addColumn(let table, _),
        .delete(let table, _):
        (table, [], "table")
      case .dropColumn(let table, let column): (table, [column], "column")
      case .renameColumn(let table, let from, _): (table, [from], "from")
      case .update(let table, let set, _): (table, set.map(\.column), "set")
      case .insert(let table, let rows): (table, rows.joined().map(\.column), "rows")
      case .createIndex(let index): (index.table, [], "table")
      default: ("", [], "")
      }
    guard !key.isEmpty else { return nil }
    guard let object = schema.table(table) else {
      return schema.object(.view, table) == nil ? schema.lack(of: table) : nil
    }
    guard let parsed = try? ParsedTable(object).parsed else { return nil }
    let missing = columns.first {
      parsed.column(named: $0) == nil && !Identifier.rowids.contains($0.identifier)
    }
    return missing.map { name in
      PlanningError(
        "`\(object.name)` has no column `\(name)`"
          + didYouMean(name, among: parsed.columns.map(\.name.text)), kind: .failed, key: key)
    }
  }
}

extension Schema {
  /// The error for an operation that names a missing table.
  func lack(of table: String) -> PlanningError {
    let names = tables.filter { !$0.isInternal }.map(\.name)
    return PlanningError(
      "table `\(table)` does not exist" + didYouMean(table, among: names), kind: .failed,
      key: "table")
  }
}
