import SchemaModel
import SchemaSQLText
import SchemaSQLite

extension Schema {
  /// A private database in memory with this schema and no rows, to ask SQLite what a change does.
  ///
  /// Omits objects that cannot be recreated, such as a view that names a dropped table.
  package func scratch(_ application: Application) throws(DatabaseError) -> Connection {
    let connection = try application.scratch()
    try application.registerStubs(on: connection)
    if table("sqlite_stat1") != nil {
      // The only way to have SQLite's own tables of statistics.
      try connection.execute("ANALYZE")
    }
    for kind in [SchemaObject.Kind.table, .index, .view, .trigger] {
      for object in objects where object.kind == kind && !object.isInternal {
        guard let sql = object.sql else { continue }
        // A virtual table brings its shadow tables itself: making them again fails, rightly.
        do {
          try connection.execute(sql)
        } catch  where !error.isFault {}
      }
    }
    return connection
  }
}

extension Application {
  /// A private database in memory that holds nothing, with the limits of one.
  package func scratch() throws(DatabaseError) -> Connection {
    let connection = try Connection(path: nil)
    try connection.limitWork(to: limit)
    return connection
  }
}
