import SchemaHistory
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
