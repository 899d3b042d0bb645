import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

extension RowQuery {
  /// The rows for which a statement violated a constraint. SQLite's message names only the columns, so the
  /// rows are derived from the statement's text. Nil if that is not possible.
  ///
  /// - Parameters:
  ///   - schema: the schema when the statement failed.
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
        case "UNIQUE": written.columns(in: subject).flatMap { written.repeating($0, isEmpty) }
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
    /// The filled columns, and the SELECT or VALUES that fills them.
    case insert([String], String)
    /// The new values of some columns, the text after UPDATE, and the text after WHERE.
    case update([Identifier: String], String, String?)
  }

  let table: ParsedTable
  private let source: Source
  /// The columns whose values may change.
  private let changed: Set<Identifier>
  /// The columns that an expression computes. A `map`, constants and values of other columns do not count.
  private let computed: Set<Identifier>

  /// The rows of a table after a change to another definition. A column that is not computed and that the old
  /// table does not have gets its default.
  init(
    of old: ParsedTable, as new: ParsedTable, computing computed: [(column: String, value: String)],
    filter: String? = nil
  ) {
    table = new
    let filled = new.parsed.columns.filter { column in
      column.generated == nil || computed.contains { column.name.isSame(as: $0.column) }
    }
    let values = filled.map { column in
      if let value = computed.first(where: { column.name.isSame(as: $0.column) })?.value {
        return value
      }
      if let same = old.parsed.column(named: column.name.text) {
        return Quoting.quoted(same.name.text)
      }
      return column.defaultExpression.map { "(\(new.tokens.text($0.range)))" } ?? "NULL"
    }
    source = .insert(
      filled.map(\.name.text),
      "SELECT \(values.joined(separator: ", ")) FROM main.\(Quoting.quoted(old.name))"
        + (filter.map { " WHERE \($0)" } ?? ""))
    let same = filled.filter { column in
      guard let before = old.parsed.column(named: column.name.text) else { return false }
      return !computed.contains { column.name.isSame(as: $0.column) }
        && old.tokens.normalTokens(in: before.range) == new.tokens.normalTokens(in: column.range)
    }
    changed = Set(filled.map(\.name.text.identifier))
      .subtracting(same.map(\.name.text.identifier))
    self.computed = Set(
      computed.filter { isExpression($0.value) && RowExpression($0.value, of: old).column == nil }
        .map(\.column.identifier))
  }

  /// Nil for any other statement, and for clauses that are not supported.
  init?(_ sql: TokenizedSQL, in schema: Schema) {
    guard let statement = WritingStatement(sql), !statement.hasCommonTables,
      statement.otherClauses.isEmpty, statement.table.schema?.isSame(as: "main") ?? true,
      let table = try? ParsedTable(named: statement.table.name.text, in: schema)
    else { return nil }
    self.table = table
    switch (statement.kind, statement.source, statement.assignments) {
    case (.insert, let query?, _):
      let columns =
        statement.columns.isEmpty
        ? table.plainColumns.map(\.name.text) : statement.columns.map(\.text)
      source = .insert(columns, sql.text(query))
      changed = Set(columns.map(\.identifier))
      computed = []
    case (.update, _, let assignments?):
      let values = assignments.map { ($0.column.text.identifier, sql.text($0.value)) }
      source = .update(
        Dictionary(values) { $1 }, sql.text(statement.target), statement.condition.map(sql.text))
      changed = Set(values.map(\.0))
      computed = Set(values.filter { isExpression($0.1) }.map(\.0))
    default: return nil
    }
  }

  /// A WITH clause that defines `new`: the written rows with these columns and the key.
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
      guard names.allSatisfy({ table.parsed.column(named: $0)?.generated == nil }) else {
        return nil
      }
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
    let checks = table.parsed.checks.filter { check in
      (check.name?.text ?? table.tokens.text(check.expression.range)) == subject
    }
    return checks.count == 1 ? violating(checks[0].expression) : nil
  }

  private func violating(_ check: Expression) -> RowQuery? {
    let columns = table.columns(in: check)
    let names = columns.map(\.name.text)
    guard !names.isEmpty, let (with, key) = new(names) else { return nil }
    // A column applies its affinity and collation to a value before the CHECK reads it.
    let aliased = columns.map { "\(stored($0)) AS \(list([$0.name.text]))" }
    let shown = (key.map { Quoting.identifier($0) } + aliased).joined(separator: ", ")
    return RowQuery(
      "\(with)SELECT \(list(key + names)) FROM (SELECT \(shown) FROM new) "
        + "WHERE NOT (\(table.tokens.text(check.range)))",
      key + names, doubt: "\(with)\(doubt(columns))")
  }

  /// - Parameter subject: the columns, each qualified with its table.
  func columns(in subject: String) -> [CreateTable.Column]? {
    let names = subject.parts(separatedBy: ", ")
    let columns = table.parsed.columns.filter { column in
      names.contains { $0 == "\(table.name).\(column.name.text)" }
    }
    return columns.count == names.count ? columns : nil
  }

  /// - Parameter isAsked: whether the query must also find values that become equal when they are stored.
  func repeating(
    _ columns: [CreateTable.Column], isAsked: Bool = false, _ isEmpty: (String) -> Bool
  ) -> RowQuery? {
    let names = columns.map(\.name.text)
    guard let (with, key) = new(names, isWhole: true) else { return nil }
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
      where: [], key: key, doubt: isAsked ? "\(with)\(doubt(columns))" : nil)
  }

  /// The rows that refer to a missing row of another table.
  private func orphans(
    _ columns: [CreateTable.Column], of parent: String, _ targets: [String]
  ) -> RowQuery? {
    let names = columns.map(\.name.text)
    guard let (with, key) = new(names) else { return nil }
    let condition = missesParent(names.map { "new.\(Quoting.quoted($0))" }, in: parent, targets)
    return RowQuery(
      "\(with)SELECT \(list(key + names)) FROM new WHERE \(condition)", key + names,
      doubt: "\(with)\(doubt(columns))")
  }

  /// A SELECT of the rows with a value that one of the columns would store in another form.
  private func doubt(_ columns: [CreateTable.Column]) -> String {
    let changed = columns.map { column in
      let (stored, name) = (stored(column), list([column.name.text]))
      return "\(stored) IS NOT \(name) OR typeof(\(stored)) <> typeof(\(name))"
    }
    return "SELECT 1 FROM new WHERE \(changed.joined(separator: " OR ")) LIMIT 1"
  }

  /// The value of the column in `new`, with the column's affinity and collation.
  private func stored(_ column: CreateTable.Column) -> String {
    let type = column.type.map(\.text) ?? ""
    let value = list([column.name.text])
    return (type.isEmpty ? value : "CAST(\(value) AS \(type))")
      + (column.collation.map { " COLLATE \(table.tokens.text($0.range))" } ?? "")
  }
}

extension WrittenRows {
  /// Asks whether the rows violate constraints that read a changed column, and CHECK constraints that the old
  /// table does not have.
  ///
  /// - Parameter parents: the schema of the tables whose rows stay unchanged.
  func questions(besides old: ParsedTable, in parents: Schema) -> [Question] {
    let nulls = table.parsed.columns.compactMap { column -> Question? in
      let name = "\(table.name).\(column.name.text)"
      let isNew = !(old.parsed.column(named: column.name.text).map(old.refusesNull) ?? false)
      let isChanged = changed.contains(column.name.text.identifier)
      guard table.refusesNull(column), isNew || isChanged, let rows = self.nulls(in: name)
      else { return nil }
      return Question(
        rows, of: old.name, promise: "`\(name)` holds no NULL",
        message: "`\(name)` would hold NULL in some rows: give them a value first")
    }
    let known = old.parsed.checks.map { old.tokens.normalTokens(in: $0.expression.range) }
    let checks = table.parsed.checks.compactMap { _, check, _ -> Question? in
      let isChanged = table.columns(in: check).contains {
        changed.contains($0.name.text.identifier)
      }
      guard isChanged || !known.contains(table.tokens.normalTokens(in: check.range)),
        let rows = violating(check)
      else { return nil }
      let text = "`CHECK (\(table.tokens.text(check.range)))`"
      return Question(
        rows, of: old.name, promise: "every row of `\(table.name)` meets \(text)",
        message: "some rows of `\(table.name)` do not meet \(text): correct them first")
    }
    return types(of: old) + nulls + checks + uniques(of: old) + references(of: old, in: parents)
  }

  /// Asks whether an alias of the rowid and the columns of a STRICT table accept computed values.
  private func types(of old: ParsedTable) -> [Question] {
    table.parsed.columns.compactMap { column in
      let (name, type) = (column.name.text, column.type?.text ?? "")
      guard computed.contains(name.identifier), let (with, key) = new([name]),
        table.isRowidAlias(column) || table.parsed.isStrict && !type.isSameName(as: "any")
      else { return nil }
      let refuses = table.affinity(of: column).refuses(list([name]))
      return Question(
        RowQuery("\(with)SELECT \(list(key + [name])) FROM new WHERE \(refuses)", key + [name]),
        of: old.name, promise: "`\(table.name).\(name)` accepts every new value",
        message: "`\(table.name).\(name)` has the type \(type) and does not accept some new values")
    }
  }

  private func isChanged(_ columns: [CreateTable.Column]) -> Bool {
    !columns.isEmpty && columns.contains { changed.contains($0.name.text.identifier) }
  }

  private func uniques(of old: ParsedTable) -> [Question] {
    let keys = [table.parsed.primaryKey?.key].compactMap(\.self) + table.parsed.uniques
    return keys.compactMap { key, _ in
      let columns = key.compactMap { table.parsed.column(named: $0.text) }
      guard isChanged(columns), let rows = repeating(columns, isAsked: true, { _ in true })
      else { return nil }
      let names = columns.map { column in
        let collation = column.collation.map { table.tokens.text($0.range) } ?? "BINARY"
        return "`\(column.name.text)`"
          + (collation.isSameName(as: "binary") ? "" : " (\(collation))")
      }.joined(separator: ", ")
      return Question(
        rows, of: old.name, promise: "the rows of `\(table.name)` are unique in \(names)",
        message: "rows of `\(table.name)` would have equal values in \(names)")
    }
  }

  private func references(of old: ParsedTable, in parents: Schema) -> [Question] {
    table.parsed.foreignKeys.compactMap { names, reference in
      let columns = names.compactMap { table.parsed.column(named: $0.text) }
      let parent = reference.table.text
      // A migration may keep rows that referred to a missing row before.
      let isNew = !old.parsed.foreignKeys.contains { $0.reference.table.isSame(as: parent) }
      guard isNew, isChanged(columns), columns.count == names.count,
        let parent = try? ParsedTable(named: parent, in: parents)
      else { return nil }
      let targets = reference.targets(in: parent)
      guard targets.count == columns.count,
        let rows = orphans(columns, of: parent.name, targets)
      else { return nil }
      let list = names.map { "`\($0.text)`" }.joined(separator: ", ")
      return Question(
        rows, of: old.name,
        promise: "every row of `\(table.name)` refers by \(list) to a row of `\(parent.name)`",
        message:
          "rows of `\(table.name)` would refer by \(list) to missing rows of `\(parent.name)`")
    }
  }
}

extension OperationPlan {
  /// The questions whether written rows violate constraints that they did not have to meet before.
  ///
  /// - Parameter schema: the schema before the operation.
  package func constraints(in schema: Schema) -> [Question] {
    let written = steps.compactMap { step -> String? in
      switch (step, operation.kind) {
      case (.copy(let copy), _): copy.table
      case (.update(let update), _): update.table
      case (.statement, .update(let table, _, _)): table
      default: nil
      }
    }
    let unchanged = Schema(
      objects: schema.objects.filter { object in
        !written.contains { object.name.isSameName(as: $0) }
      })
    func questions(
      _ table: String, as sql: String?, computing computed: [(column: String, value: String)],
      filter: String? = nil
    ) -> [Question] {
      guard let old = try? ParsedTable(named: table, in: schema), let sql,
        let new = try? ParsedTable(old, as: sql)
      else { return [] }
      return WrittenRows(of: old, as: new, computing: computed, filter: filter)
        .questions(besides: old, in: unchanged)
    }
    func expected(_ table: String) -> String? {
      expectations.first { $0.table.identifier == table.identifier }?.sql
    }
    if case .addColumn(let table, let column) = operation.kind {
      return questions(
        table, as: (try? ParsedTable(named: table, in: schema))?.adding(column.sql),
        computing: column.generated.map { [(column.name, "(\($0.expression.text))")] } ?? [])
    }
    return steps.flatMap { step -> [Question] in
      switch (step, operation.kind) {
      case (.copy, .convertPrimaryKey): []
      case (.copy(let copy), _):
        questions(
          copy.table, as: expected(copy.table), computing: copy.computed, filter: copy.filter)
      case (.update(let update), .moveColumn(let move)):
        questions(
          update.table, as: expected(update.table), computing: [(move.to.name, update.value)])
      case (.statement(let sql, _), .update):
        WrittenRows(TokenizedSQL(sql), in: schema).map {
          $0.questions(besides: $0.table, in: unchanged)
        } ?? []
      default: []
      }
    }
  }
}

extension ParsedTable {
  /// Whether the column refuses NULL. An alias of the rowid converts it.
  fileprivate func refusesNull(_ column: CreateTable.Column) -> Bool {
    let isStrictKey = isInPrimaryKey(column) && (parsed.isWithoutRowid || parsed.isStrict)
    return (column.notNull != nil || isStrictKey) && !isRowidAlias(column)
  }

  /// The columns that an expression names.
  fileprivate func columns(in expression: Expression) -> [CreateTable.Column] {
    parsed.columns.filter { tokens.names($0.name.text, in: expression.range) }
  }
}
