@_exported import SchemaKit
import SchemaPlanning
import SchemaReplay
import SchemaYAML

extension SchemaMigrator {
  /// Reads the history in a folder of manifests, for tools and tests. An app ships a bundle.
  ///
  /// - Parameters:
  ///   - folder: the folder with the manifests and their `history.lock`.
  ///   - functions: what the app registers on its connections and the schema calls.
  ///   - collations: likewise.
  ///   - timeout: how long to wait for a lock, in seconds.
  /// - Throws: `SchemaError` when the folder is missing or a manifest is invalid.
  public init(
    migrations folder: String, functions: [AppFunction] = [], collations: [AppCollation] = [],
    timeout: Double = 5
  ) throws(SchemaError) {
    do {
      let project = try Project.load(
        migrations: folder, application: Application(functions, collations))
      self.init(project, timeout: timeout)
    } catch {
      throw SchemaError(error)
    }
  }
}
