import SchemaAuthoring
import SchemaHistory
import SchemaSQLText

extension TextReporter {
  func show(_ squashing: Squashing, _ folder: MigrationFolder) {
    say(folder.file(ofMigration: squashing.id).visible)
    mention(
      "It creates the schema and \(counted(squashing.rows, "row")) of "
        + "\(counted(squashing.replacedCount, "migration")), whose manifests are now in \(folder.squashed.path.visible)."
    )
    if !squashing.areLaterRowsCompared {
      mention(
        "The rows that the later migrations leave were not compared, only their schema: they need random values "
          + "that differ from each other.")
    }
    if !squashing.releases.isEmpty {
      mention(
        "Databases of \(squashing.releases.map(\.visible).joined(separator: ", ")) continue with that "
          + "folder.")
    }
    mention(
      "Run `schemactl verify`, and commit the folder"
        + (squashing.lock == nil ? "." : " and \(folder.lockFile.visible)."))
  }
}
