import SchemaManifest
import SchemaModel
import SchemaSQLText

/// Plans `alter_column`. The column keeps its name, its position and every value.
struct ColumnAlteration {
  private let change: AlterColumn
  private let schema: Schema
  private let table: ParsedTable
  private let column: CreateTable.Column
  private let final: ParsedTable
  private let finalColumn: CreateTable.Column

  init(_ change: AlterColumn, in schema: Schema) throws {
    self.change = change
    self.schema = schema
    table = try ParsedTable(named: change.table, in: schema)
    column = try table.column(named: change.column)
    final = try ParsedTable(table, as: change.text(of: column, in: table))
    finalColumn = try final.column(named: change.column)
    try requireSameRowid()
    try requireOwnReference()
  }

  func plan(
    _ operation: Operation, _ application: Application
  ) throws -> OperationPlan {
    if let obstacle = obstacleToEdit {
      return try rewrite(operation, application, because: obstacle)
    }
    return edit(operation)
  }

  // MARK: Requirements

  /// Refuses another type for a column of the primary key: an INTEGER PRIMARY KEY is the rowid itself, and
  /// only other operations can change it.
  private func requireSameRowid() throws {
    guard !change.type.isKept, table.isInPrimaryKey(column) else { return }
    throw PlanningError(
      "`\(change.column)` is in the primary key of `\(change.table)`, so its type must not change: "
        + "use `convert_primary_key` or `rebuild_table`", key: "type")
  }

  /// Refuses `references` if a table constraint declares the column's foreign key: that constraint would
  /// remain beside the new definition.
  private func requireOwnReference() throws {
    guard !change.references.isKept else { return }
    let isTables = table.parsed.constraints.contains { constraint in
      guard case .foreignKey(let columns, _) = constraint.kind else { return false }
      return columns.contains { column.name.isSame(as: $0.text) }
    }
    guard isTables else { return }
    throw PlanningError(
      "the foreign key of `\(change.table).\(change.column)` is a table constraint, not a column "
        + "constraint: use `rebuild_table`", key: "references")
  }

  // MARK: Schema edit

  /// The reason why an edit of the stored SQL is not enough: the stored values would not match the new
  /// definition. Nil if it is enough.
  private var obstacleToEdit: String? {
    guard change.generated.isKept else { return "its values are computed" }
    if !change.type.isKept, column.generated != nil || !storesSameValues {
      return "the new type changes how its values are stored"
    }
    if !change.collate.isKept {
      if !finalColumn.checks.isEmpty { return "its CHECK compares it" }
      if let user = table.user(of: column, in: schema) { return "\(user) depends on its order" }
    }
    if change.default.isKept { return nil }
    // Rows that are older than the column read its default from the schema.
    if table.parsed.isWithoutRowid || table.rowidName() == nil { return "its rows have no rowid" }
    return column.generated == nil ? nil : "its values are computed"
  }

  /// Whether the new type stores every value in the same way as the old one.
  private var storesSameValues: Bool {
    let old = column.type?.text ?? ""
    let new = finalColumn.type?.text ?? ""
    return !table.parsed.isStrict && Affinity(ofType: old) == Affinity(ofType: new)
  }

  /// Whether a new CHECK would read the values as they are stored and compared now. Otherwise only the
  /// rewrite can test it.
  private var comparesSameValues: Bool {
    change.collate.isKept && (change.type.isKept || storesSameValues)
  }

  private func edit(_ operation: Operation) -> OperationPlan {
    var steps = guards.map(Step.question)
    var proofs: [RowProof] = []
    // Otherwise no row is written, and the guards are sufficient.
    if !change.default.isKept {
      // The update writes whole rows.
      steps += table.parsed.columns.compactMap { table.storageGuard(of: $0, "NOT INDEXED") }
        .map(Step.question)
      steps += fillingShortRows
      proofs = [RowProof(of: table)]
    }
    steps.append(.edit(SchemaEdit(table: table.name, sql: final.object.sql ?? "")))
    return OperationPlan(
      operation: operation, strategy: .schemaEdit, steps: steps,
      expectations: [TableExpectation(table: table.name, sql: final.object.sql ?? "")],
      proofs: proofs)
  }

  private var name: String { Quoting.quoted(change.column) }
  private var main: String { "main.\(Quoting.quoted(table.name))" }

  /// The questions whose answers must be no before the new definition is true for all rows.
  private var guards: [Question] {
    var guards: [Question] = []
    if case .set = change.notNull {
      guards.append(
        question(
          where: "\(Quoting.identifier(change.column)) IS NULL",
          promise: "`\(change.table).\(change.column)` holds no NULL",
          "`\(change.table).\(change.column)` holds NULL in some rows: give them a value first, "
            + "with `update`"))
    }
    if comparesSameValues, case .set(let check) = change.check {
      guards.append(
        question(
          where: "NOT (\(expression(check)))",
          promise: "every row of `\(change.table)` meets the new CHECK of `\(change.column)`",
          "some rows of `\(change.table)` do not meet the new CHECK of `\(change.column)`: "
            + "correct them first"))
    }
    return guards
  }

  private func question(where condition: String, promise: String, _ message: String) -> Question {
    table.question(where: condition, showing: [change.column], promise: promise, message)
  }

  // MARK: Short rows

  /// A blob that columns are very unlikely to contain and that no affinity converts.
  private static let mark = "X'7363686D63746C2D73686F72742D726F77'"
  private static let short = "temp.schemactl_short"

  /// Steps that store the old default in the rows that are older than the column.
  ///
  /// ADD COLUMN writes no rows: the records of existing rows have no value for the new column, and SQLite
  /// reads the default from the schema (Database File Format, section 2.3.1: record format). To find these
  /// rows, the schema temporarily declares a default that no other row contains. They are updated under the
  /// old default, so that the indexes stay correct.
  private var fillingShortRows: [Step] {
    guard let rowid = table.rowidName() else { return [] }
    var marked = ColumnText(column, of: table)
    marked.set(.default, "DEFAULT \(Self.mark)")
    return [
      .question(
        question(
          where: "\(name) IS \(Self.mark)",
          promise:
            "`\(change.table).\(change.column)` does not contain the value that schemactl reserves",
          "`\(change.table).\(change.column)` contains the value that schemactl reserves: "
            + Self.mark)),
      .edit(SchemaEdit(table: table.name, sql: marked.tableText)),
      .statement(
        "CREATE TABLE \(Self.short) AS SELECT \(rowid) AS id FROM \(main) NOT INDEXED "
          + "WHERE \(name) IS \(Self.mark)", nil),
      .edit(SchemaEdit(table: table.name, sql: table.object.sql ?? "")),
      .rewriting(true),
      .statement(
        "UPDATE OR ABORT \(main) SET \(name) = \(name) WHERE \(rowid) IN (SELECT id FROM \(Self.short))",
        nil),
      .rewriting(false),
      .statement("DROP TABLE \(Self.short)", nil),
    ]
  }

  // MARK: Rewrite

  private func rewrite(
    _ operation: Operation, _ application: Application, because reason: String
  ) throws -> OperationPlan {
    let carried =
      change.type.isKept || finalColumn.generated != nil
      ? [] : table.survival(of: column.name.text, as: finalColumn, in: final, key: "type")
    let rewrite = try Rewrite(table, as: final.object.sql ?? "", in: schema, application)
    let columns = rewrite.columns {
      column.name.isSame(as: $0) ? filled : Rewrite.Column(kept: $0)
    }
    return try rewrite.plan(
      operation, because: reason,
      questions: guards + table.computedGuards(as: final) + carried, columns: columns)
  }

  /// The value of the column in a rewritten table; nil for a generated column.
  var filled: Rewrite.Column? {
    guard finalColumn.generated == nil else { return nil }
    return Rewrite.Column(
      name: name, value: name, isKept: change.type.isKept && column.generated == nil)
  }
}

extension AlterColumn {
  fileprivate func text(of column: CreateTable.Column, in table: ParsedTable) -> String {
    var text = ColumnText(column, of: table)
    switch type {
    case .keep: break
    case .remove: text.setType(nil)
    case .set(let type): text.setType(type)
    }
    text.set(.notNull, to: notNull, \.sql)
    text.set(.default, to: self.default) { "DEFAULT \($0.sql)" }
    text.set(.collate, to: collate) { "COLLATE \(Quoting.quoted($0))" }
    text.set(.check, to: check) { "CHECK (\(expression($0)))" }
    text.set(.references, to: references, \.sql)
    text.set(.generated, to: generated, \.sql)
    return text.tableText
  }
}

extension ParsedTable {
  /// The first object that depends on the order or equality of the column's values, as named in messages: a
  /// key, a constraint, a generated column, an index or a foreign key. Nil if none does.
  fileprivate func user(of column: CreateTable.Column, in schema: Schema) -> String? {
    let name = column.name.text
    if column.isUnique || column.primaryKey != nil { return "its own UNIQUE or key" }
    if let reference = column.references.first {
      return "the reference to `\(reference.table.text)`"
    }
    for other in parsed.columns
    where other.name != column.name && tokens.names(name, in: other.range) {
      return "column `\(other.name.text)`"
    }
    for constraint in parsed.constraints
    where tokens.names(name, in: constraint.range, includingStrings: true) {
      return tokens.text(constraint.range)
    }
    for index in schema.objects(.index, on: self.name)
    where TokenizedSQL(index.sql ?? "").names(name, includingStrings: true) {
      return "index `\(index.name)`"
    }
    return schema.tables.compactMap { try? ParsedTable($0) }.first { child in
      child.references(to: self).joined().contains { $0.parent.isSameName(as: name) }
    }.map { "the foreign key of \($0.name)" }
  }
}
