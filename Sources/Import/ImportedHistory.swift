import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The history of another tool as manifests.
package struct ImportedHistory: Sendable {
  package let foreign: ForeignHistory
  /// The manifests as a history, before they are written.
  package let project: Project
  /// The texts of the manifests, in order.
  package let texts: [String]
  /// Whether the migrations got new numbers.
  package let areCounted: Bool
  /// What manifests made of schemas alone may lose, a sentence each.
  package var droppedValues: [String] = []

  /// - Parameter ignored: globs of objects of a database that do not belong to the history.
  /// - Throws: `InvalidInput` when a manifest cannot be read again.
  init(
    _ foreign: ForeignHistory, _ bodies: [ManifestBody], in folder: MigrationFolder,
    _ application: Application, ignoring ignored: [String]
  ) throws {
    let (ids, areCounted) = foreign.ids
    var migrations: [Migration] = []
    var texts: [String] = []
    for ((step, body), id) in zip(zip(foreign.steps, bodies), ids) {
      let text = body.text(of: step)
      let file = folder.file(ofMigration: id)
      let bytes = Array(text.utf8)
      migrations.append(
        Migration(
          id: id, file: file, bytes: bytes, manifest: try decodeManifest(bytes, file: file)))
      texts.append(text)
    }
    self.foreign = foreign
    self.texts = texts
    self.areCounted = areCounted
    project = Project(
      folder: folder, migrations: migrations, lock: nil, application: application,
      foreign: ForeignObjects(ignoring: ignored))
  }
}

/// The content of a manifest.
struct ManifestBody: Sendable, Hashable {
  let operations: [WrittenOperation]
  var enforcesForeignKeys = false

  /// The SQL as it stands.
  init(sql step: ForeignStep) {
    operations =
      TokenizedSQL(step.sql).significant.isEmpty ? [] : [WrittenOperation(sql: step.sql)]
  }

  init(_ operations: [WrittenOperation]) { self.operations = operations }

  func text(of step: ForeignStep) -> String {
    var text = manifestText(description: "Imported from \(step.source).", operations)
    if enforcesForeignKeys { text += "foreign_keys: enforced\n" }
    if let item = step.replaces { text += "replaces:\n  - \(item.yaml)\n" }
    return text
  }
}

extension ImportedHistory {
  /// Writes the manifests: all of them, or none.
  package func write() throws(Failure) {
    var written: [String] = []
    do {
      for (migration, text) in zip(project.migrations, texts) {
        try createFileAtomically(Array(text.utf8), at: migration.file)
        written.append(migration.file)
      }
    } catch {
      for file in written { try? removeFile(file) }
      throw Failure(error)
    }
  }
}
