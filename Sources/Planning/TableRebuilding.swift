import SchemaManifest
import SchemaModel
import SchemaSQLText

/// Plans `rebuild_table`: the table gets another definition and keeps its name.
struct TableRebuilding {
  private let rebuild: RebuildTable
  private let schema: Schema
  private let old: ParsedTable
  private let new: ParsedTable

  init(_ rebuild: RebuildTable, in schema: Schema) throws {
    self.rebuild = rebuild
    self.schema = schema
    old = try ParsedTable(named: rebuild.table.name, in: schema)
    new = try ParsedTable(old, as: rebuild.sql?.text ?? rebuild.table.sql)
    guard new.parsed.name.isSame(as: rebuild.table.name), !new.parsed.isTemporary,
      new.parsed.schema == nil, !new.parsed.ifNotExists
    else {
      throw PlanningError(
        "`sql` is not a CREATE TABLE statement for `\(rebuild.table.name)`", key: "sql")
    }
  }

  func plan(_ operation: Operation, _ application: Application) throws
    -> OperationPlan
  {
    try requireCopies()
    try old.requireUnreferenced(changedColumns, in: schema, key: "copy")
    try requireNoDependents(application)
    let rewrite = try Rewrite(old, as: new.object.sql ?? "", in: schema, application)
    let filled = rewrite.rowid == nil && columns.isEmpty ? placeholder : columns
    try requireFullTextRows(keepsRowids: rewrite.keepsRowids(filled))
    var plan = try rewrite.plan(
      operation, because: "the operation requires it",
      questions: try old.computedGuards(as: new, filter: filter) + carried,
      columns: filled, filter: filter)
    plan.droppedColumns = droppedColumns
    return plan
  }

  /// The columns of the old table that the new table does not have and that no `copy` reads.
  private var droppedColumns: [String] {
    old.plainColumns.map(\.name.text).filter { name in
      new.parsed.column(named: name) == nil
        && !rebuild.copy.contains { TokenizedSQL($0.expression.text).names(name) }
    }.map { "\(old.name).\($0)" }
  }

  // MARK: Values

  /// The columns that `copy` fills with anything but their own values.
  private var changedColumns: [String] {
    rebuild.copy.filter { copy in
      RowExpression(copy.expression.text, of: old).column?.isSameName(as: copy.column) != true
    }.map(\.column)
  }

  /// The columns that the rewrite fills: with the expression in `copy`, or else from the column of the same
  /// name. A column with neither gets its default.
  private var columns: [Rewrite.Column] {
    new.plainColumns.compactMap { column in
      let name = Quoting.quoted(column.name.text)
      if let copy = rebuild.copy.first(where: { column.name.isSame(as: $0.column) }) {
        return Rewrite.Column(name: name, value: "(\(expression(copy.expression)))", isKept: false)
      }
      guard let source = old.parsed.column(named: column.name.text) else { return nil }
      let type = source.type?.text ?? ""
      // ANY converts texts that are numbers, except in a STRICT table.
      let isSame =
        type.identifier == (column.type?.text ?? "").identifier
        && (type.identifier != "any" || old.parsed.isStrict == new.parsed.isStrict)
      return Rewrite.Column(
        name: name, value: Quoting.quoted(source.name.text), isKept: isSame)
    }
  }

  private var filter: String? { rebuild.where.map { "(\(expression($0)))" } }

  /// One filled column for a table to which no value is copied, so that each row remains a row: the rowid,
  /// numbered from 1, or a column that gets its default.
  private var placeholder: [Rewrite.Column] {
    if !new.parsed.isWithoutRowid,
      let name = new.rowidName() ?? new.identity.first.map({ Quoting.quoted($0) })
    {
      return [Rewrite.Column(name: name, value: "NULL", isKept: false)]
    }
    return new.plainColumns.prefix(1).map { column in
      let value = column.defaultExpression.map { new.tokens.text($0.range) } ?? "NULL"
      return Rewrite.Column(
        name: Quoting.quoted(column.name.text), value: "(\(value)\n)", isKept: false)
    }
  }

  /// The questions whether values that are copied without an expression would change.
  private var carried: [Question] {
    var questions: [Question] = []
    let kept = Set(columns.filter(\.isKept).map(\.name.exact))
    for column in new.plainColumns
    where !kept.contains(Quoting.quoted(column.name.text))
      || old.parsed.isStrict != new.parsed.isStrict
      || !old.hasRowidAlias && new.isRowidAlias(column)
    {
      let copy = rebuild.copy.first { column.name.isSame(as: $0.column) }
      let source: String? =
        if let copy {
          RowExpression(copy.expression.text, of: old).column
        } else {
          old.parsed.column(named: column.name.text)?.name.text
        }
      guard let source else { continue }
      questions += old.survival(
        of: source, as: column, in: new, filter: filter, key: copy == nil ? "columns" : "copy")
    }
    return questions
  }

  private func requireCopies() throws {
    for copy in rebuild.copy {
      guard let column = new.parsed.column(named: copy.column) else {
        throw PlanningError(
          "`copy` fills `\(copy.column)`, which is not among `columns`", key: "copy")
      }
      guard column.generated == nil else {
        throw PlanningError("`copy` fills `\(copy.column)`, whose values are computed", key: "copy")
      }
    }
  }

  /// Refuses to change rows that a full-text table with `content='table'` finds by rowid: no trigger updates
  /// its index (FTS5, External Content Tables).
  private func requireFullTextRows(keepsRowids: Bool) throws {
    for index in schema.objects where index.reads(nil, of: old.name) {
      let change: (problem: String, key: String)? =
        if rebuild.where != nil {
          ("omits rows", "where")
        } else if let copy = rebuild.copy.first(where: { index.reads($0.column, of: old.name) }) {
          ("changes `\(copy.column)`", "copy")
        } else {
          keepsRowids ? nil : ("does not keep the rowids", "columns")
        }
      guard let (problem, key) = change else { continue }
      throw PlanningError(
        "the new table \(problem), and the virtual table `\(index.name)` reads `\(old.name)`: drop it "
          + "first, and create it again afterwards", key: key)
    }
  }

  // MARK: Dependents of dropped columns

  /// Refuses to drop a column that an index, a view or a trigger mentions. In an index, SQLite would read the
  /// quoted name of a dropped column as a string.
  private func requireNoDependents(_ application: Application) throws {
    for column in old.parsed.columns where new.parsed.column(named: column.name.text) == nil {
      let renaming = try ColumnRenaming(
        table: old.object, from: column.name.text, to: "schemactl_gone", in: schema, application)
      let dependents = renaming.others + renaming.unwritable
      guard dependents.isEmpty else {
        throw PlanningError(
          "`\(old.name).\(column.name.text)` is not among `columns`, and \(dependents.joined(separator: ", ")) "
            + "mentions it: drop it first, and create it again afterwards", key: "columns")
      }
    }
  }
}

extension ParsedTable {
  /// The questions whether a column that becomes generated would lose values.
  ///
  /// - Parameter filter: SQL that is true for the rows that stay; nil for all rows.
  func computedGuards(as new: ParsedTable, filter: String? = nil) throws -> [Question] {
    var guards: [Question] = []
    for column in new.parsed.columns {
      guard let generated = column.generated,
        let before = parsed.column(named: column.name.text), before.generated == nil
      else { continue }
      let name = "\(name).\(column.name.text)"
      let differs =
        "\(Quoting.quoted(column.name.text)) IS NOT "
        + "(\(new.tokens.text(generated.expression.range)))\(filter.map { " AND \($0)" } ?? "")"
      guard knows(generated.expression, of: new) else {
        throw PlanningError(
          "`\(name)` is computed from columns that `\(self.name)` does not have, so its values "
            + "would be lost: drop it first", key: "columns")
      }
      guards.append(
        question(
          where: differs, showing: [column.name.text],
          promise: "`\(name)` holds the results of its expression",
          "`\(name)` holds values that differ from its expression and would be lost: drop it first")
      )
    }
    return guards
  }

  /// Whether this table also has every column of another table that an expression names.
  private func knows(_ expression: Expression, of other: ParsedTable) -> Bool {
    other.parsed.columns.allSatisfy { column in
      parsed.column(named: column.name.text) != nil
        || !other.tokens.names(column.name.text, in: expression.range)
    }
  }
}
