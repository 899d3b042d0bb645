import SchemaManifest
import SchemaSQLText
import SchemaSQLite

// The SQL of the definitions in a manifest. The SQL of created objects must never change: it is part of
// fingerprints, which locks and ledgers keep for ever.

extension Value {
  /// The value as an SQL literal.
  package var sql: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): integer == .min ? "(-9223372036854775807 - 1)" : "\(integer)"
    case .real(let real): real.isInfinite ? (real < 0 ? "-9e999" : "9e999") : "\(real)"
    case .text(let text): Quoting.stringLiteral(text)
    case .blob(let bytes): Quoting.blobLiteral(bytes)
    }
  }
}

extension Literal {
  /// The literal as SQL. An expression is put in parentheses.
  package var sql: String {
    switch self {
    case .value(let value): value.sql
    case .sql(let source): "(\(expression(source)))"
    }
  }

  /// The SQL of the manifest, if the literal is an expression.
  package var source: SQLSource? {
    if case .sql(let source) = self { source } else { nil }
  }
}

/// An expression to be put in parentheses. A line end follows a trailing `-- comment`, which would otherwise
/// contain the closing parenthesis.
func expression(_ source: SQLSource) -> String {
  let endsInComment = TokenizedSQL(source.text).tokens.last?.kind == .comment
  return endsInComment ? source.text + "\n" : source.text
}

extension ColumnDefinition {
  /// The column definition for CREATE TABLE and ADD COLUMN.
  package var sql: String {
    var sql = Quoting.quoted(name)
    if let type { sql += " \(type)" }
    if primaryKey { sql += autoincrement ? " PRIMARY KEY AUTOINCREMENT" : " PRIMARY KEY" }
    if let notNull { sql += " \(notNull.sql)" }
    if unique { sql += " UNIQUE" }
    if let check { sql += " CHECK (\(expression(check)))" }
    if let value = self.default { sql += " DEFAULT \(value.sql)" }
    if let collate { sql += " COLLATE \(Quoting.quoted(collate))" }
    if let references { sql += " \(references.sql)" }
    if let generated { sql += " \(generated.sql)" }
    return sql
  }
}

extension NotNull {
  var sql: String {
    switch self {
    case .plain: "NOT NULL"
    case .onConflict(let action): "NOT NULL ON CONFLICT \(action.rawValue)"
    }
  }
}

extension Generated {
  var sql: String {
    "GENERATED ALWAYS AS (\(SchemaPlanning.expression(expression)))"
      + (stored ? " STORED" : " VIRTUAL")
  }
}

extension Reference {
  var sql: String {
    var sql = "REFERENCES \(Quoting.quoted(table))"
    if !columns.isEmpty { sql += "(\(quotedList(columns)))" }
    if let onDelete { sql += " ON DELETE \(onDelete.rawValue)" }
    if let onUpdate { sql += " ON UPDATE \(onUpdate.rawValue)" }
    if deferrable { sql += " DEFERRABLE INITIALLY DEFERRED" }
    return sql
  }
}

extension TableDefinition {
  package var sql: String {
    var items = columns.map(\.sql)
    if !primaryKey.isEmpty { items.append("PRIMARY KEY (\(quotedList(primaryKey)))") }
    items += unique.map { "UNIQUE (\(quotedList($0)))" }
    items += checks.map { "CHECK (\(expression($0)))" }
    items += foreignKeys.map { key in
      "FOREIGN KEY (\(quotedList(key.columns))) \(key.reference.sql)"
    }
    var options: [String] = []
    if strict { options.append("STRICT") }
    if withoutRowid { options.append("WITHOUT ROWID") }
    let suffix = options.isEmpty ? "" : " " + options.joined(separator: ", ")
    return
      "CREATE TABLE \(Quoting.quoted(name)) (\n  \(items.joined(separator: ",\n  "))\n)\(suffix)"
  }
}

extension IndexDefinition {
  package var sql: String {
    let terms = columns.map { column in
      var sql =
        switch column.term {
        case .column(let name): Quoting.quoted(name)
        case .expression(let source): "(\(expression(source)))"
        }
      if let collate = column.collate { sql += " COLLATE \(Quoting.quoted(collate))" }
      if column.descending { sql += " DESC" }
      return sql
    }
    var sql =
      "CREATE \(unique ? "UNIQUE " : "")INDEX \(Quoting.quoted(name)) ON \(Quoting.quoted(table))"
    sql += " (\(terms.joined(separator: ", ")))"
    if let condition = self.where { sql += " WHERE \(expression(condition))" }
    return sql
  }
}

/// A CREATE VIRTUAL TABLE statement. Its arguments are in the module's own language and remain unchanged,
/// except for a line end after a comment.
package func virtualTableSQL(_ name: String, _ module: String, _ arguments: [SQLSource]) -> String {
  "CREATE VIRTUAL TABLE \(Quoting.quoted(name)) USING \(Quoting.quoted(module))"
    + "(\(arguments.map { expression($0) }.joined(separator: ", ")))"
}

/// Quoted names with commas between them, as SQL.
package func quotedList(_ names: [String]) -> String {
  names.map { Quoting.quoted($0) }.joined(separator: ", ")
}

/// A CREATE statement with its object in the main database: an unqualified index or trigger would belong to a
/// temporary table of the same name. SQLite stores the text without the qualifier.
func qualified(_ sql: String) -> String {
  let tokens = TokenizedSQL(sql)
  guard let parsed = try? parseCreate(tokens), parsed.schema == nil else { return sql }
  var bytes = tokens.bytes
  bytes.insert(contentsOf: "main.".utf8, at: parsed.name.range.lowerBound)
  return String(decoding: bytes, as: UTF8.self)
}
