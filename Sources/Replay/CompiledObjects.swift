import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite

extension SchemaDelta {
  /// The views and triggers that a migration has broken: they compiled before it. SQLite does not check them when
  /// a table is dropped and recreated.
  ///
  /// Only a migration that writes rows of a table that was there, and changes the definition of what
  /// stays, is looked at closer.
  ///
  /// - Parameters:
  ///   - before: the schema before the migration, and after it.
  ///   - written: the tables whose rows it writes.
  /// - Throws: when SQLite cannot be asked.
  package func brokenObjects(
    from before: Schema, to now: Schema, writing written: Set<Identifier>,
    _ application: Application
  ) throws(DatabaseError) -> String? {
    guard self.before.keys.contains(where: { after[$0] != nil }),
      written.contains(where: { before.table($0) != nil && now.table($0) != nil })
    else { return nil }
    let broken = try now.objectsBroken(since: before, application)
    guard !broken.isEmpty else { return nil }
    let names = broken.map { "\($0.object.kind.rawValue) \($0.object.name) (\($0.message))" }
    return "this migration breaks \(names.joined(separator: ", ")). Drop these objects "
      + "before the change and create them again after it"
  }
}
