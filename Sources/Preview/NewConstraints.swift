import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A key whose values are unique among the rows of a table: a unique index, a UNIQUE constraint or a primary
/// key.
struct UniqueKey {
  let table: String
  /// The columns and expressions of the key.
  let terms: [Term]
  /// The condition of a partial index.
  let condition: String?
  /// The name of the index; nil for a constraint of the table.
  let index: String?

  struct Term {
    let sql: String
    /// The name of the column; nil for an expression.
    let column: String?
    /// The collation of the index. It decides which values are equal, whatever the collation of the column
    /// (CREATE INDEX, section 1.4).
    let collation: String
  }

  /// The columns that identify a row of the table.
  private let rowKey: [String]

  /// The query for values that several rows share. NULLs are never equal (CREATE INDEX, section 1.2).
  ///
  /// - Parameter filter: the condition for the rows that count; nil for all rows.
  func repeated(where filter: String?) -> RowQuery {
    RowQuery(
      repeating: terms.map(\.sql),
      by: terms.map { "\($0.sql) COLLATE \(Quoting.identifier($0.collation))" },
      in: "main.\(Quoting.identifier(table))",
      where: [filter, condition].compactMap { $0.map { "(\($0)\n)" } }, key: rowKey)
  }

  /// Asks whether rows exist that have the key of one of these rows. Nil if the key has an expression or a
  /// condition, and if each row lacks a value for it.
  fileprivate func taken(by rows: [[Cell]], of table: SchemaObject) -> Question? {
    let columns = terms.compactMap(\.column)
    let keys = rows.compactMap { row -> String? in
      let values = columns.compactMap { column in
        row.first { $0.column.isSameName(as: column) }?.value.value?.sql
      }
      return values.count == columns.count ? "(\(values.joined(separator: ", ")))" : nil
    }
    guard condition == nil, columns.count == terms.count, !keys.isEmpty else { return nil }
    let names = terms.map { "\($0.sql) COLLATE \(Quoting.identifier($0.collation))" }
    return table.question(
      where: "(\(names.joined(separator: ", "))) IN (VALUES \(keys.joined(separator: ", ")))",
      showing: columns, promise: "no row of `\(table.name)` has the new values in \(inWords)",
      message: "rows of `\(table.name)` already have these values in \(inWords)")
  }

  /// For messages: the columns and expressions in backquotes, such as title, lower(name) (NOCASE).
  var inWords: String {
    terms.map { term in
      let isUsual = term.collation.identifier == "binary"
      return "`\(term.column ?? term.sql)`" + (isUsual ? "" : " (\(term.collation))")
    }.joined(separator: ", ")
  }

  /// Whether rows that are unique in this key are also unique in `other`.
  private func implies(_ other: UniqueKey) -> Bool {
    (condition == nil || condition == other.condition)
      && terms.allSatisfy { term in
        other.terms.contains { $0.sql == term.sql && $0.collation == term.collation }
      }
  }

  /// The keys that a change adds to tables that existed before it.
  static func added(
    from before: Schema, to after: Schema, _ application: Application
  ) throws(DatabaseError) -> [UniqueKey] {
    let delta = SchemaDelta(from: before, to: after)
    var names: Set<Identifier> = []
    for object in Array(delta.before.values) + Array(delta.after.values) {
      if [.table, .index].contains(object.kind) { names.insert(object.table.identifier) }
    }
    var added: [UniqueKey] = []
    for name in names.sorted() {
      guard let old = before.table(name.text), let new = after.table(name.text), new.rootPage != 0
      else {
        continue
      }
      let known = try keys(of: old, in: before, application)
      added += try keys(of: new, in: after, application).filter { key in
        !known.contains { $0.implies(key) }
      }
    }
    return added
  }

  /// The keys of a table, as SQLite reports them in a scratch database with only this table and its indexes.
  fileprivate static func keys(
    of table: SchemaObject, in schema: Schema, _ application: Application
  ) throws(DatabaseError) -> [UniqueKey] {
    let objects = [table] + schema.objects(.index, on: table.name)
    let stored = try StoredTable(
      table.name, on: Schema(objects: objects).scratch(application))
    var keys = stored.indexes.filter(\.isUnique).map { UniqueKey(table, $0) }
    // An INTEGER PRIMARY KEY is the rowid and has no index.
    if !stored.indexes.contains(where: \.isOfPrimaryKey) {
      keys += stored.columns.primaryKey.map { UniqueKey(table, rowid: $0.name) }
    }
    return keys
  }

  private init(_ table: SchemaObject, rowid: String) {
    self.table = table.name
    rowKey = table.rowKey
    index = nil
    terms = [Term(sql: Quoting.identifier(rowid), column: rowid, collation: "BINARY")]
    condition = nil
  }

  private init(_ table: SchemaObject, _ stored: StoredTable.Index) {
    self.table = table.name
    rowKey = table.rowKey
    index = stored.sql == nil ? nil : stored.name
    let tokens = TokenizedSQL(stored.sql ?? "")
    var parsed: CreateIndex?
    if case .createIndex(let index)? = try? parseCreate(tokens) { parsed = index }
    terms = zip(stored.columns, stored.collations).enumerated().map { place, column in
      let expression = parsed.flatMap { index in
        index.terms.indices.contains(place) ? tokens.text(index.terms[place].expression.range) : nil
      }
      return Term(
        sql: column.0.map { Quoting.identifier($0) } ?? "(\(expression ?? "NULL"))",
        column: column.0, collation: column.1)
    }
    condition = parsed?.condition.map { tokens.text($0.range) }
  }
}

extension OperationPlan {
  /// The questions whether the rows meet the unique keys and the foreign keys that the operation adds. Omits
  /// keys over columns that the operation adds or computes.
  ///
  /// - Parameter written: the tables that have been written when the operation is complete.
  func newKeys(
    from before: Schema, to after: Schema, writing written: Set<Identifier>,
    _ application: Application
  ) throws(DatabaseError) -> [Question] {
    let computed = Set(operation.computedColumns.map(\.identifier))
    func isCarried(_ table: String, _ columns: [String?]) -> Bool {
      guard operation.carriesValues else { return !written.contains(table) }
      let old = before.table(table)?.createTable
      return columns.allSatisfy { column in
        column.map { old?.column(named: $0) != nil && !computed.contains($0) } ?? computed.isEmpty
      }
    }
    let unique = try UniqueKey.added(from: before, to: after, application)
      .filter { isCarried($0.table, $0.terms.map(\.column)) }.map { key in
        let what =
          key.index.map { "SQLite cannot create unique index `\($0)`" }
          ?? "SQLite cannot add the unique constraint"
        return Question(
          key.repeated(where: operation.rowFilter), of: key.table,
          promise: "the rows of `\(key.table)` are unique in \(key.inWords)",
          message: "rows of `\(key.table)` have equal values in \(key.inWords): \(what)")
      }
    return unique
      + EndangeredReference.added(from: before, to: after).filter {
        isCarried($0.table, $0.columns)
      }
      .map { $0.question(where: operation.rowFilter) }
  }
}

extension OperationPlan {
  /// The questions whether rows have the keys of rows that the operation inserts.
  func takenKeys(
    in schema: Schema, _ application: Application
  ) throws(DatabaseError) -> [Question] {
    guard case .insert(let name, let rows) = operation.kind, let table = schema.table(name) else {
      return []
    }
    return try UniqueKey.keys(of: table, in: schema, application)
      .compactMap { $0.taken(by: rows, of: table) }
  }
}

extension Operation {
  /// The columns whose values the operation computes.
  fileprivate var computedColumns: [String] {
    switch kind {
    case .moveColumn(let move): [move.to.name]
    case .rebuildTable(let rebuild): rebuild.copy.map(\.column)
    default: []
    }
  }

  /// The condition for the rows that remain; nil for all rows.
  fileprivate var rowFilter: String? {
    if case .rebuildTable(let rebuild) = kind { rebuild.where?.text } else { nil }
  }

  /// Whether the operation leaves all values unchanged, except those of `computedColumns`.
  fileprivate var carriesValues: Bool {
    switch kind {
    case .sql, .convertPrimaryKey: false
    default: true
    }
  }
}
