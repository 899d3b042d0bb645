import SchemaAuthoring
import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaPlatform
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
      "schemactl renumber 0008_add_tags": "Give one draft the next number.",
      "schemactl renumber 8 9 --dry-run": "Show the new names of two drafts.",
    ],
    arguments: [
      .init(
        name: "ID", summary: "A draft, by id, number or file.", repeats: true,
        completion: .migrations)
    ],
    options: [.dryRun] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let folder = MigrationFolder(session.migrations)
    let isRehearsal = session.flag("dry-run")
    let renamings = try session.withClaim {
      // Do not read the whole project: users run this command when two manifests have the same number, or
      // when the lock has merge conflicts.
      let ids = try folder.ids()
      let found = try renumbering(
        session.arguments, in: folder.path, among: ids, frozen: folder.frozenIDs(),
        now: .now)
      if !isRehearsal { try session.writing.withLock { _ in try folder.rename(found) } }
      return found
    }
    let renamed = renamings.map { ["from": $0.from, "to": $0.to] as JSON }
    session.report(["renamed": renamed, "dryRun": isRehearsal]) {
      if renamings.isEmpty {
        return $0.mention("Nothing to renumber: these drafts come last.")
      }
      for renaming in renamings {
        $0.mention(
          "\(isRehearsal ? "Would rename" : "Renamed") `\(renaming.from.visible)` to "
            + "`\(renaming.to.visible)`.")
      }
      $0.mention(
        isRehearsal
          ? "Nothing changed."
          : "A database that has run a draft under its old name does not know the new name: run "
            + "`schemactl migrate --reset-drafts` there.")
    }
    return .success
  }
}
