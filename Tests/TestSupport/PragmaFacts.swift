import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// Returns the differences between the parser and SQLite's PRAGMAs for all tables, indexes, triggers and
/// views of a database.
package func parserDisagreements(with connection: Connection) throws -> [String] {
  let schema = try Schema(of: connection)
  var found: [String] = []
  for object in schema.ours().withoutShadowTables().objects where object.sql != nil {
    let facts = PragmaFacts(object: object, schema: schema, connection: connection)
    for (what, parsed, told) in try facts.pairs() where parsed != told {
      found.append("\(object.kind.rawValue) \(object.name), \(what): read \(parsed), told \(told)")
    }
  }
  return found
}

private struct PragmaFacts {
  let object: SchemaObject
  let schema: Schema
  let connection: Connection

  typealias Pair = (what: String, parsed: [String], told: [String])

  func pairs() throws -> [Pair] {
    let tokens = TokenizedSQL(object.sql ?? "")
    switch try parseCreate(tokens) {
    case .createTable(let table): return try pairs(table, tokens)
    case .createIndex(let index): return try pairs(index, tokens)
    case .createView(let view):
      guard !view.columns.isEmpty else { return [] }
      return [("columns", view.columns.map(\.text), try columnNames())]
    case .createTrigger(let trigger):
      return [
        ("table", [trigger.table.name.text.asciiLowercased], [object.table.asciiLowercased]),
        ("name", [trigger.name.text], [object.name]),
      ]
    case .createVirtualTable(let table):
      let type = try list("SELECT type FROM pragma_table_list WHERE name = ?1")
      return [("kind", ["virtual"], type), ("name", [table.name.text], [object.name])]
    }
  }

  private func list(_ sql: String) throws -> [String] {
    try connection.rows(sql, [.text(object.name)]).map { $0.map(Self.text).joined(separator: " ") }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): text
    case .blob(let bytes): "\(bytes)"
    }
  }

  private func columnNames() throws -> [String] {
    try list("SELECT name FROM pragma_table_xinfo(?1) ORDER BY cid")
  }

  // MARK: Tables

  private func pairs(_ table: CreateTable, _ tokens: TokenizedSQL) throws -> [Pair] {
    let key = primaryKey(of: table)
    let alias = rowidAlias(of: table)
    return [
      ("name", [table.name.text], [object.name]),
      ("columns", table.columns.map(\.name.text), try columnNames()),
      (
        "types", table.columns.map { $0.type?.text.asciiLowercased ?? "" },
        try list("SELECT lower(type) FROM pragma_table_xinfo(?1) ORDER BY cid").enumerated().map {
          // SQLite reports `GENERATED ALWAYS` as a part of the type (Generated Columns, section 2.1).
          let suffix = " generated always"
          return table.columns[$0].generated != nil && $1.hasSuffix(suffix)
            ? String($1.dropLast(suffix.count)) : $1
        }
      ),
      (
        "NOT NULL",
        table.columns.map { column in
          // The key columns of a STRICT table are also NOT NULL, except for the rowid (STRICT Tables, section
          // 2).
          let isKey =
            (table.isWithoutRowid || table.isStrict && alias.isEmpty)
            && key.contains { column.name.isSame(as: $0) }
          return column.notNull != nil || isKey ? "1" : "0"
        }, try list("SELECT \"notnull\" FROM pragma_table_xinfo(?1) ORDER BY cid")
      ),
      (
        "primary key",
        table.columns.map { column in "\((key.firstIndex { column.name.isSame(as: $0) } ?? -1) + 1)"
        },
        try list("SELECT pk FROM pragma_table_xinfo(?1) ORDER BY cid")
      ),
      (
        "generated",
        table.columns.map { $0.generated.map { $0.isStored ? "3" : "2" } ?? "0" },
        try list("SELECT hidden FROM pragma_table_xinfo(?1) ORDER BY cid")
      ),
      (
        "defaults",
        table.columns.map { column in
          column.defaultExpression.map { normal(tokens.text($0.range)) } ?? "null"
        },
        try connection.rows(
          "SELECT dflt_value FROM pragma_table_xinfo(?1) ORDER BY cid", [.text(object.name)]
        ).map { $0[0].text.map(normal) ?? "null" }
      ),
      (
        "options", ["\(table.isWithoutRowid ? 1 : 0) \(table.isStrict ? 1 : 0)"],
        try list("SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?1")
      ), ("foreign keys", foreignKeys(of: table), try toldForeignKeys()),
      ("AUTOINCREMENT", [isAutoincrement(table) ? "1" : "0"], [try toldAutoincrement()]),
      ("rowid alias", alias, try toldRowidAlias(table)),
      ("collations", try collations(of: table, tokens), try reportedCollations(table)),
    ]
  }

  private func normal(_ sql: String) -> String {
    // The PRAGMA omits the outermost parentheses, and reports a quoted string without its quotes.
    var tokens = TokenizedSQL(sql).significant.map { TokenizedSQL(sql).text($0) }
    while tokens.first == "(", tokens.last == ")" { tokens = Array(tokens.dropFirst().dropLast()) }
    return tokens.joined(separator: " ")
  }

  private func primaryKey(of table: CreateTable) -> [String] {
    if let column = table.columns.first(where: { $0.primaryKey != nil }) {
      return [column.name.text]
    }
    for constraint in table.constraints {
      guard case .primaryKey(let terms, _, _) = constraint.kind else { continue }
      var names: [String] = []
      // Count a repeated column only once.
      for name in terms.compactMap({ $0.column?.text.asciiLowercased }) where !names.contains(name)
      {
        names.append(name)
      }
      return names
    }
    return []
  }

  private func isAutoincrement(_ table: CreateTable) -> Bool {
    table.columns.contains { $0.primaryKey?.isAutoincrement ?? false }
      || table.constraints.contains {
        if case .primaryKey(_, true, _) = $0.kind { true } else { false }
      }
  }

  /// Returns "1" if the table has AUTOINCREMENT. Only the program of an INSERT shows that: it opens
  /// `sqlite_sequence`.
  private func toldAutoincrement() throws -> String {
    guard let root = schema.table("sqlite_sequence")?.rootPage else { return "0" }
    // A trigger may write to another table with AUTOINCREMENT.
    connection.set(.triggers, to: false)
    defer { connection.set(.triggers, to: true) }
    let program = try connection.rows(
      "EXPLAIN INSERT INTO \(Quoting.quoted(object.name)) DEFAULT VALUES")
    return program.contains {
      ["OpenRead", "OpenWrite"].contains($0[1].text) && $0[3] == .integer(root)
    }
      ? "1" : "0"
  }

  private func rowidAlias(of table: CreateTable) -> [String] {
    guard !table.isWithoutRowid else { return [] }
    let key = primaryKey(of: table)
    guard key.count == 1, let column = table.column(named: key[0]),
      column.type?.text.asciiLowercased == "integer"
    else { return [] }
    if let inline = column.primaryKey, inline.order == .descending { return [] }
    return [column.name.text]
  }

  /// Returns the alias of the rowid. Any other primary key has its own index.
  private func toldRowidAlias(_ table: CreateTable) throws -> [String] {
    guard !table.isWithoutRowid else { return [] }
    let key = try list("SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0")
    let indexes = try list("SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'")
    return key.count == 1 && indexes.isEmpty ? key : []
  }

  private func foreignKeys(of table: CreateTable) -> [String] {
    var keys = table.columns.flatMap { column in
      column.references.map { describe([column.name], $0) }
    }
    for constraint in table.constraints {
      if case .foreignKey(let columns, let reference) = constraint.kind {
        keys.append(describe(columns, reference))
      }
    }
    return keys.sorted()
  }

  private func describe(_ columns: [Name], _ reference: CreateTable.Reference) -> String {
    let parents =
      reference.columns.isEmpty
      ? columns.map { _ in "null" } : reference.columns.map(\.text.asciiLowercased)
    let pairs = zip(columns, parents).map { "\($0.text.asciiLowercased)=\($1)" }
    return "\(pairs.joined(separator: ",")) \(reference.table.text.asciiLowercased) "
      + "\(reference.onDelete.rawValue) \(reference.onUpdate.rawValue)"
  }

  private func toldForeignKeys() throws -> [String] {
    try list(
      """
      SELECT group_concat(lower("from") || '=' || coalesce(lower("to"), 'null')), lower("table"),
        on_delete, on_update
      FROM (SELECT * FROM pragma_foreign_key_list(?1) ORDER BY id, seq) GROUP BY id
      """
    ).sorted()
  }

  /// Returns the collations of the columns, as the parser reads them.
  private func collations(of table: CreateTable, _ tokens: TokenizedSQL) throws -> [String] {
    table.columns.map { $0.collation?.text.asciiLowercased ?? "binary" }
  }

  private func reportedCollations(_ table: CreateTable) throws -> [String] {
    try connection.execute("SAVEPOINT facts")
    defer { try? connection.execute("ROLLBACK TO facts; RELEASE facts") }
    return try table.columns.map { column in
      try connection.execute(
        "CREATE INDEX schemactl_facts ON \(Quoting.quoted(object.name)) (\(Quoting.quoted(column.name.text)))"
      )
      defer { try? connection.execute("DROP INDEX schemactl_facts") }
      return try connection.value(
        "SELECT lower(coll) FROM pragma_index_xinfo('schemactl_facts') WHERE seqno = 0")?.text ?? ""
    }
  }

  // MARK: Indexes

  private func pairs(_ index: CreateIndex, _ tokens: TokenizedSQL) throws -> [Pair] {
    let columns = try connection.rows(
      "SELECT name FROM pragma_table_xinfo(?1)", [.text(object.table)]
    ).compactMap { $0[0].text?.asciiLowercased }
    return [
      ("name", [index.name.text], [object.name]),
      ("table", [index.table.text.asciiLowercased], [object.table.asciiLowercased]),
      (
        "terms",
        index.terms.map { term in
          let name = term.column?.text.asciiLowercased ?? ""
          let isColumn = columns.contains(name)
          return (isColumn ? name : "expression")
            + (term.order == .descending ? " 1" : " 0")
        },
        try list(
          """
          SELECT CASE cid WHEN -2 THEN 'expression' ELSE lower(name) END, desc
          FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno
          """
        )
      ),
      (
        "collations",
        index.terms.compactMap { $0.collation?.text.asciiLowercased },
        try zip(
          index.terms,
          list("SELECT lower(coll) FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")
        ).filter { $0.0.collation != nil }.map(\.1)
      ),
      (
        "options", ["\(index.isUnique ? 1 : 0) \(index.condition == nil ? 0 : 1)"],
        try connection.rows(
          "SELECT \"unique\", partial FROM pragma_index_list(?1) WHERE name = ?2",
          [.text(object.table), .text(object.name)]
        ).map { $0.map(Self.text).joined(separator: " ") }
      ),
    ]
  }
}

extension String {
  /// The name with lower-case ASCII letters. SQLite folds only these letters.
  var asciiLowercased: String { String(decoding: Array(identifier.folded), as: UTF8.self) }
}
