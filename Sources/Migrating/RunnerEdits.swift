import Planning
import SQLText
import SQLite

extension SchemaEdit {
  /// A row of `sqlite_schema` gets another text. Where the rows are exchanged, two rows get each
  /// other's root page: FROM is read as a whole before anything is written (UPDATE, section 2.3).
  var statement: String {
    let name = Quoting.stringLiteral(table)
    let text = Quoting.stringLiteral(sql)
    guard let rows else {
      return "UPDATE main.sqlite_schema SET sql = \(text) WHERE type = 'table' AND name = \(name)"
    }
    let other = Quoting.stringLiteral(rows)
    return "UPDATE main.sqlite_schema SET rootpage = other.page, "
      + "sql = CASE name WHEN \(name) THEN \(text) ELSE sql END "
      + "FROM (SELECT name AS other_name, rootpage AS page FROM main.sqlite_schema "
      + "WHERE type = 'table') AS other WHERE type = 'table' "
      + "AND (name = \(name) AND other_name = \(other) OR name = \(other) AND other_name = \(name))"
  }

  /// How many rows of `sqlite_schema` it changes.
  fileprivate var count: Int64 { rows == nil ? 1 : 2 }

  /// For the `sqlite3` shell.
  var script: [String] {
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
  func run(_ edit: SchemaEdit, _ context: Context) throws(Failure) {
    let wasDefensive = connection.isOn(.defensive)
    let wasWritable = connection.isOn(.writableSchema)
    connection.set(.defensive, to: false)
    connection.set(.writableSchema, to: true)
    defer {
      connection.set(.writableSchema, to: wasWritable)
      connection.set(.defensive, to: wasDefensive)
    }
    do {
      let before = connection.totalChanges
      try connection.execute(edit.statement)
      guard connection.totalChanges == before + edit.count else {
        throw context.failure(
          .bug, "\(edit.table) does not stand once in sqlite_schema. Nothing was changed")
      }
      let version = try connection.value("PRAGMA main.schema_version")?.integer ?? 0
      // Every connection, this one too, reads the schema again when its version has changed.
      try connection.execute("PRAGMA main.schema_version = \(version + 1)")
      // What does not compile shows now, inside the savepoint; to run it reads the schema again.
      _ = try connection.value("SELECT 1 FROM main.\(Quoting.quoted(edit.table)) LIMIT 1")
    } catch let error as DatabaseError {
      throw context.failure(error, onShadow: target == .shadow)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw context.failure(.bug, "\(error)")
    }
  }
}
