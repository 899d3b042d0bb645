import SchemaHistory
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

/// A temporary table, view or trigger that a migration left behind.
package struct TemporaryObject: Sendable {
  /// `table`, `view` or `trigger`.
  package let kind: String
  package let name: String

  /// The statement that removes it.
  package var drop: String { "DROP \(kind.uppercased()) temp.\(Quoting.quoted(name))" }
}

/// What a migration may switch on or make for itself, and what ends with it.
extension Runner {
  /// Ends what `PRAGMA writable_schema` and its like began: they outlive transactions.
  func putBackSettings(_ migration: Migration) throws(Failure) {
    do {
      if !connection.isOn(.defensive) {
        // Other connections notice an edited schema by its version only.
        let version = try connection.value("PRAGMA schema_version")?.integer ?? 0
        try connection.execute("PRAGMA schema_version = \(version + 1)")
        try connection.execute("PRAGMA writable_schema = RESET")
      }
      try resetSettings()
    } catch {
      throw Context(migration: migration).failure(error, onScratch: target == .scratch)
    }
  }

  /// What is temporary ends with its migration: otherwise the next one would find it or not,
  /// depending on whether both run at once.
  ///
  /// - Returns: what it was.
  func dropTemporaryObjects(_ migration: Migration) throws(Failure) -> [TemporaryObject] {
    var objects: [TemporaryObject] = []
    do {
      // Tables first: they take their indexes and triggers along.
      let order = "ORDER BY type = 'trigger', type = 'view'"
      while let object = try connection.rows(
        """
        SELECT type, name FROM temp.sqlite_schema
        WHERE type <> 'index' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' \(order)
        """
      ).first(where: { !foreignTemporaries.contains($0[1].text?.identifier ?? "") }),
        let kind = object[0].text, let name = object[1].text
      {
        objects.append(TemporaryObject(kind: kind, name: name))
        try connection.execute(objects[objects.count - 1].drop)
      }
    } catch {
      throw Context(migration: migration).failure(error, onScratch: target == .scratch)
    }
    return objects
  }

  /// Temporary triggers fire regardless of SQLITE_DBCONFIG_ENABLE_TRIGGER (since SQLite 3.35).
  func refuseTemporaryTriggers(_ context: Context) throws {
    let name = try connection.rows("SELECT name FROM temp.sqlite_schema WHERE type = 'trigger'")
      .compactMap(\.first?.text).first { !foreignTemporaries.contains($0.identifier) }
    guard let name else { return }
    throw context.failure(
      .invalidInput,
      "the temporary trigger \(name) would fire while rows are rewritten: make it later, or drop it "
        + "first")
  }

  /// Also for a migration that failed in the middle.
  package func resetSettings() throws(DatabaseError) {
    connection.set(.writableSchema, to: false)
    connection.set(.legacyAlterTable, to: false)
    connection.set(.triggers, to: true)
    connection.set(.defensive, to: true)
    try connection.execute("PRAGMA ignore_check_constraints = OFF")
  }
}

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
