import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaSQLText

enum VerifyCommand: Command {
  static let declaration = CommandDeclaration(
    name: "verify", summary: "Check that released migrations are unchanged.",
    discussion: """
      Compares the manifests with history.lock and replays the whole history in memory. If a \
      database is named, compares its ledger and its schema with the history. In a git repository, \
      compares history.lock with that of HEAD, of every tag, and of the parents of an open merge, \
      rebase or cherry-pick, and shows edits of frozen manifests. It writes nothing.
      """,
    examples: [
      .init("schemactl verify", "Verify the history."),
      .init("schemactl verify --database app.sqlite", "Verify a database against it as well."),
      .init("schemactl verify --base origin/main", "Verify a branch before it is merged."),
    ],
    options: [.base] + .databaseOrCluster + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base
    let settings = try Settings(session)
    let opened =
      try settings.databaseName == nil
      ? nil : settings.projectAndDatabase(session, asksGitAboutDrafts: false)
    let project = try opened?.project ?? settings.project(asksGitAboutDrafts: false)
    let report = try project.verify(
      opened?.database, base: base, interruption: session.interruption)
    session.report(.verified(report, of: project, database: opened?.database.name))
    return report.status
  }
}
