import SchemaModel
import SchemaSQLText
import SchemaSQLite

extension RowQuery {
  /// The rows for which a statement violated a constraint. SQLite names only the columns, so the rows are derived
  /// from the statement's text. Nil if that is not possible.
  ///
  /// - Parameters:
  ///   - schema: as it was when the statement failed.
  ///   - isEmpty: whether a table had no rows at that time.
  package init?(
    for error: DatabaseError, of statement: String, in schema: Schema,
    isEmpty: (String) -> Bool
  ) {
    let parts = error.message.parts(separatedBy: " constraint failed: ")
    guard error.code == .constraint, parts.count == 2 else { return nil }
    let sql = TokenizedSQL(statement)
    let subject = String(parts[1])
    let query: RowQuery? =
      if case .createIndex(let index)? = try? parseCreate(sql) {
        RowQuery(against: index, sql, in: schema)
      } else if let written = WrittenRows(sql, in: schema) {
        switch parts[0] {
        case "NOT NULL": written.nulls(in: subject)
        case "CHECK": written.violating(check: subject)
        case "UNIQUE": written.repeating(subject, isEmpty)
        default: nil
        }
      } else {
        nil
      }
    guard let query else { return nil }
    self = query
  }

  private init?(against index: CreateIndex, _ sql: TokenizedSQL, in schema: Schema) {
    guard let table = try? ParsedTable(named: index.table.text, in: schema) else { return nil }
    let terms = index.terms.map { sql.text($0.expression.outerRange) }
    let groups = zip(index.terms, terms).map { term, text in
      text + (term.collation.map { " COLLATE \(sql.text($0.range))" } ?? "")
    }
    self.init(
      repeating: terms, by: groups, in: Quoting.identifier(table.name),
      where: index.condition.map { ["(\(sql.text($0.outerRange)))"] } ?? [], key: table.key)
  }
}

/// The rows that an INSERT or UPDATE of one table writes, as SELECTs over the rows before it.
private struct WrittenRows {
  private enum Source {
    /// The columns that are filled, and the SELECT or VALUES that fills them.
    case insert([String], String)
    /// The new values of some columns, the text after UPDATE, and the text after WHERE.
    case update([Identifier: String], String, String?)
  }

  private let table: ParsedTable
  private let source: Source

  /// Nil for any other statement, and for clauses that are not supported.
  init?(_ sql: TokenizedSQL, in schema: Schema) {
    guard let statement = WritingStatement(sql), !statement.hasCommonTables,
      statement.otherClauses.isEmpty, statement.table.schema?.isSame(as: "main") ?? true,
      let table = try? ParsedTable(named: statement.table.name.text, in: schema)
    else { return nil }
    self.table = table
    switch (statement.kind, statement.source, statement.assignments) {
    case (.insert, let query?, _):
      let filled = table.parsed.columns.filter { $0.generated == nil }.map(\.name.text)
      source = .insert(
        statement.columns.isEmpty ? filled : statement.columns.map(\.text), sql.text(query))
    case (.update, _, let assignments?):
      let values = assignments.map { ($0.column.text.identifier, sql.text($0.value)) }
      source = .update(
        Dictionary(values) { $1 }, sql.text(statement.target), statement.condition.map(sql.text))
    default: return nil
    }
  }

  /// A WITH clause that gives the written rows, with these columns and their key, the name `new`.
  ///
  /// - Parameter isWhole: whether to include the rows that an UPDATE does not change.
  private func new(_ names: [String], isWhole: Bool = false) -> (with: String, key: [String])? {
    let own = table.key.filter { key in !names.contains { $0.isSameName(as: key) } }
    switch source {
    case .insert(let columns, let query):
      func fills(_ name: String) -> Bool { columns.contains { $0.isSameName(as: name) } }
      guard names.allSatisfy(fills) else { return nil }
      return ("WITH new (\(list(columns))) AS (\(query)) ", own.allSatisfy(fills) ? own : [])
    case .update(let values, let source, let condition):
      let terms = names.map { name in
        let old = Quoting.identifier(name)
        guard let value = values[name.identifier] else { return old }
        guard isWhole, let condition else { return "(\(value))" }
        return "CASE WHEN (\(condition)) THEN (\(value)) ELSE \(old) END"
      }
      let filter = condition.map { isWhole ? "" : " WHERE \($0)" } ?? ""
      let all = own.map { Quoting.identifier($0) } + terms
      return (
        "WITH new (\(list(own + names))) AS (SELECT \(all.joined(separator: ", ")) "
          + "FROM \(source)\(filter)) ", own
      )
    }
  }

  func nulls(in subject: String) -> RowQuery? {
    let column = table.parsed.columns.first { "\(table.name).\($0.name.text)" == subject }?.name
      .text
    guard let column, let (with, key) = new([column]) else { return nil }
    return RowQuery(
      "\(with)SELECT \(list(key + [column])) FROM new WHERE \(list([column])) IS NULL",
      key + [column])
  }

  /// - Parameter subject: the constraint's name, or its expression.
  func violating(check subject: String) -> RowQuery? {
    let all =
      table.parsed.columns.flatMap(\.constraints).map { ($0.name, $0.kind.check) }
      + table.parsed.constraints.map { ($0.name, $0.kind.check) }
    let checks = all.compactMap { name, check in
      check.flatMap { check in
        (name?.text ?? table.tokens.text(check.range)) == subject ? check : nil
      }
    }
    guard checks.count == 1 else { return nil }
    let mentioned = table.tokens.identifiers(in: checks[0].range)
    let columns = table.parsed.columns.filter { column in
      mentioned.contains { $0.isSame(as: column.name.text) }
    }
    let names = columns.map(\.name.text)
    guard columns.allSatisfy({ $0.generated == nil }), let (with, key) = new(names) else {
      return nil
    }
    // A column gives a value its type and collation before the CHECK reads it.
    let stored = columns.map { column in
      let type = column.type.map(\.text) ?? ""
      let value = list([column.name.text])
      return (type.isEmpty ? value : "CAST(\(value) AS \(type))")
        + (column.collation.map { " COLLATE \(table.tokens.text($0.range))" } ?? "")
    }
    let aliased = zip(stored, names).map { "\($0) AS \(list([$1]))" }
    let shown = (key.map { Quoting.identifier($0) } + aliased).joined(separator: ", ")
    let changed = zip(stored, names).map { stored, name in
      "\(stored) IS NOT \(list([name])) OR typeof(\(stored)) <> typeof(\(list([name])))"
    }
    return RowQuery(
      "\(with)SELECT \(list(key + names)) FROM (SELECT \(shown) FROM new) "
        + "WHERE NOT (\(table.tokens.text(checks[0].range)))",
      key + names,
      doubt: "\(with)SELECT 1 FROM new WHERE \(changed.joined(separator: " OR ")) LIMIT 1")
  }

  /// - Parameter subject: the columns, each with its table.
  func repeating(_ subject: String, _ isEmpty: (String) -> Bool) -> RowQuery? {
    let columns = table.parsed.columns.filter { column in
      subject.parts(separatedBy: ", ").contains { $0 == "\(table.name).\(column.name.text)" }
    }
    let names = columns.map(\.name.text)
    guard subject.parts(separatedBy: ", ").count == names.count,
      let (with, key) = new(names, isWhole: true)
    else { return nil }
    let groups = columns.map { column in
      list([column.name.text])
        + (column.collation.map { " COLLATE \(table.tokens.text($0.range))" } ?? "")
    }
    var source = "new"
    if case .insert = self.source, !isEmpty(table.name) {
      let all = list(names + key)
      source = "(SELECT \(all) FROM new UNION ALL SELECT \(all) FROM \(list([table.name])))"
    }
    return RowQuery(
      repeating: names.map { Quoting.identifier($0) }, by: groups, in: source, with: with,
      where: [], key: key)
  }
}

extension CreateTable.ColumnConstraint.Kind {
  fileprivate var check: Expression? { if case .check(let check) = self { check } else { nil } }
}

extension CreateTable.Constraint.Kind {
  fileprivate var check: Expression? {
    if case .check(let check, _) = self { check } else { nil }
  }
}
