@_exported import SchemaKit
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension SchemaMigrator {
  /// Reads the history in a folder of manifests, for tools and tests. An app ships a bundle.
  ///
  /// - Parameters:
  ///   - folder: the folder with the manifests and their `history.lock`.
  ///   - functions: the functions that the app registers on its connections and the schema calls.
  ///   - collations: the collations that the app registers on its connections and the schema uses.
  ///   - ledgerTable: the table in a database that records its applied migrations; `ledger_table` of
  ///     `schemactl.yaml`, which a bundle contains.
  ///   - ignored: patterns (globs) of objects that do not belong to the history, such as those of another
  ///     history in the same database; `ignore` of `schemactl.yaml`.
  ///   - timeout: the time to wait for a lock, in seconds.
  /// - Throws: `SchemaError` if the folder is missing or a manifest is invalid.
  public init(
    migrations folder: String, functions: [AppFunction] = [], collations: [AppCollation] = [],
    ledgerTable: String = "schemactl_migrations", ignoring ignored: [String] = [],
    timeout: Double = 5
  ) throws(SchemaError) {
    do {
      if let problem = Ledger.problem(ofName: ledgerTable) {
        throw Failure(.invalidInput, "the name of the ledger's table \(problem): \(ledgerTable)")
      }
      var application = Application(functions, collations)
      application.ledger = Ledger(table: ledgerTable.identifier)
      let project = try Project.load(
        migrations: folder, application: application, ignoring: ignored)
      self.init(project, timeout: timeout)
    } catch {
      throw SchemaError(error)
    }
  }
}
