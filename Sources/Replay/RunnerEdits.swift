import SchemaHistory
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

extension SchemaEdit {
  /// An UPDATE of the rows of `sqlite_schema`. FROM is read as a whole before anything is written
  /// (UPDATE, section 2.3).
  var statement: String {
    let name = Quoting.stringLiteral(table)
    let text = Quoting.stringLiteral(sql)
    /// What tells automatic indexes of one table apart.
    func number(_ of: String) -> String {
      "CASE type WHEN 'index' THEN substr(name, length('sqlite_autoindex_' || \(of)) + 1) END"
    }
    switch change {
    case .text:
      return "UPDATE main.sqlite_schema SET sql = \(text) WHERE type = 'table' AND name = \(name)"
    case .exchange(let other, _):
      let both =
        "tbl_name IN (\(name), \(Quoting.stringLiteral(other))) "
        + "AND (type = 'table' OR type = 'index' AND sql IS NULL)"
      return "UPDATE main.sqlite_schema SET rootpage = other.page, "
        + "sql = CASE WHEN type = 'table' AND name = \(name) THEN \(text) ELSE sql END "
        + "FROM (SELECT tbl_name AS owner, type AS kind, \(number("tbl_name")) AS number, "
        + "rootpage AS page FROM main.sqlite_schema WHERE \(both)) AS other "
        + "WHERE \(both) AND owner <> tbl_name AND kind = type AND number IS \(number("tbl_name"))"
    case .takeName(let other, _):
      let old = Quoting.stringLiteral(other)
      return "UPDATE main.sqlite_schema SET tbl_name = \(name), name = CASE type "
        + "WHEN 'table' THEN \(name) ELSE 'sqlite_autoindex_' || \(name) || \(number(old)) END, "
        + "sql = CASE type WHEN 'table' THEN \(text) END WHERE tbl_name = \(old)"
    }
  }

  /// How many rows of `sqlite_schema` it changes.
  fileprivate var count: Int64 {
    switch change {
    case .text: 1
    case .exchange(_, let automaticIndexes): 2 * (1 + Int64(automaticIndexes))
    case .takeName(_, let automaticIndexes): 1 + Int64(automaticIndexes)
    }
  }

  /// For the `sqlite3` shell.
  package var script: [String] {
    [
      ".dbconfig defensive off", "PRAGMA writable_schema = ON;", statement + ";",
      // A change that SQLite itself makes: other connections notice it by the schema's version.
      "CREATE TABLE main.schemactl_notice (a);", "DROP TABLE main.schemactl_notice;",
      "PRAGMA writable_schema = RESET;",
    ]
  }
}

extension Runner {
  /// Edits the stored schema in place. The edit is part of the transaction, and is undone with it;
  /// defensive mode, which forbids it, is off only while it runs.
  func run(_ edit: SchemaEdit, _ context: Context) throws {
    let wasDefensive = connection.isOn(.defensive)
    let wasWritable = connection.isOn(.writableSchema)
    connection.set(.defensive, to: false)
    connection.set(.writableSchema, to: true)
    defer {
      connection.set(.writableSchema, to: wasWritable)
      connection.set(.defensive, to: wasDefensive)
    }
    let before = connection.totalChanges
    try connection.execute(edit.statement)
    guard connection.totalChanges == before + edit.count else {
      throw context.failure(
        .bug, "`sqlite_schema` does not hold `\(edit.table)` as planned")
    }
    let version = try connection.value("PRAGMA main.schema_version")?.integer ?? 0
    // Every connection, this one too, reads the schema again when its version has changed.
    try connection.execute("PRAGMA main.schema_version = \(version + 1)")
    // What does not compile shows now, inside the savepoint; to run it reads the schema again.
    _ = try connection.value("SELECT 1 FROM main.\(Quoting.quoted(edit.table)) LIMIT 1")
  }
}
