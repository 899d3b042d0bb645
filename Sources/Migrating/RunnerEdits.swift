import Planning
import SQLText
import SQLite

extension SchemaEdit {
  /// One row of `sqlite_schema` gets another text.
  var statement: String {
    "UPDATE main.sqlite_schema SET sql = \(Quoting.stringLiteral(sql)) "
      + "WHERE type = 'table' AND name = \(Quoting.stringLiteral(table))"
  }

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
      guard connection.totalChanges == before + 1 else {
        throw context.failure(
          .bug, "\(edit.table) does not stand once in sqlite_schema. Nothing was changed")
      }
      let version = try connection.value("PRAGMA main.schema_version")?.integer ?? 0
      // Every connection, this one too, reads the schema again when its version has changed.
      try connection.execute("PRAGMA main.schema_version = \(version + 1)")
      // What does not compile shows now, inside the savepoint.
      _ = try connection.prepare("SELECT 1 FROM main.\(Quoting.quoted(edit.table))")
    } catch let error as DatabaseError {
      throw context.failure(error, onShadow: target == .shadow)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw context.failure(.bug, "\(error)")
    }
  }
}
