import SchemaApply
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

/// A file with the current schema as SQL, for reviewers and other tools.
package struct SchemaFile: Sendable {
  package let path: String

  package init(_ path: String) {
    self.path = path
  }

  /// The content that the file should have for the latest migration; nil if the file is current.
  package func newContent(for project: Project) throws(Failure) -> [UInt8]? {
    let script = try project.schema(through: nil).ours().script
    let content = Array(
      ("-- The schema of the latest migration; `schemactl inspect --write` writes this file.\n"
        + script).utf8)
    return (try? readFile(path)) == content ? nil : content
  }

  package var isMissing: Bool { FileStatus(path) == nil }

  /// The failure for an outdated file.
  package var outdated: Failure {
    let (problem, verb) =
      isMissing
      ? ("does not exist", "writes") : ("is not the schema of the latest migration", "updates")
    return Failure(
      .finding, "`\(path)` \(problem)", remedy: "`schemactl inspect --write` \(verb) it",
      place: Failure.Place(file: path, position: Position(line: 1, column: 1)))
  }
}

extension Schema {
  /// SQL for the `sqlite3` shell.
  package var script: String {
    withoutShadowTables().objects.compactMap(\.sql)
      .map { shellScript(terminated($0)) + "\n" }.joined()
  }
}

extension Project {
  /// The schema that the history promises after a migration; nil for the last one.
  package func schema(
    through: String?, interruption: Interruption = Interruption()
  ) throws(Failure) -> Schema {
    var options = MigrateOptions(database: "")
    options.through = through
    return try replay(targets(options), interruption: interruption).schema
  }
}
