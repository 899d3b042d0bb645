import SchemaAuthoring
import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaPlatform
import SchemaPreview
import SchemaSQLText
import SchemaYAML

enum RenumberCommand: Command {
  static let declaration = CommandDeclaration(
    name: "renumber", summary: "Give drafts new numbers after the latest migration.",
    discussion: """
      Renames the files of drafts, in their order, to the numbers after the latest migration. Use it \
      when two branches added a migration with the same number. schemactl never renames a frozen \
      migration and never overwrites a file.
      """,
    examples: [
      .init("schemactl renumber 0008_add_tags", "Give one draft the next number."),
      .init("schemactl renumber 8 9 --dry-run", "Show the new names of two drafts."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "ID", summary: "A draft, by id, number or file.", repeats: true,
        completion: .migrations)
    ],
    options: [.dryRun] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let folder = MigrationFolder(settings.migrations)
    let isRehearsal = session.invocation.flag("dry-run")
    let done = try settings.withClaim {
      let found = try renamings(of: session.invocation.arguments, folder)
      if !isRehearsal { try session.writing.close { try folder.rename(found) } }
      return found
    }
    session.report(.renumbered(done, isRehearsal: isRehearsal))
    return .success
  }

  private static func renamings(
    of names: [String], _ folder: MigrationFolder
  ) throws -> [Renaming] {
    // Users run this command with two manifests of one number, or with merge conflicts in the lock.
    try renumbering(
      names, in: folder.path, among: folder.ids(), frozen: folder.frozenIDs(), now: .now)
  }
}
