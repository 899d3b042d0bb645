import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaInspect

enum VerifyCommand: Command {
  static let name = "verify"
  static let declaration = CommandDeclaration(
    name: name, summary: "Checks that released migrations are unchanged.",
    discussion: """
      Compares the manifests with history.lock, replays the whole history in memory, and, when a \
      database is named, compares its ledger and its schema with the history. In a git repository it \
      compares history.lock with that of HEAD, of the parents of an open merge, rebase or cherry-pick, \
      and of every tag, and shows edits of frozen manifests. With --base, it compares the lock of the \
      merge base of HEAD and REV, too, and fails when it cannot. Nothing is written.
      """,
    examples: [
      .init("schemactl verify", "Checks the history alone, as before every merge."),
      .init("schemactl verify --database app.sqlite", "Checks a database against it as well."),
      .init("schemactl verify --base origin/main", "Checks a branch before it is merged."),
    ],
    options: [.base] + .database + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base
    let settings = try Settings(session)
    let result = try attempt {
      let database = try settings.database()
      let project = try settings.project(for: database, asksGitAboutDrafts: false)
      let report = try project.verify(
        database: database, timeout: settings.timeout, interruption: session.interruption,
        base: base)
      return (report, project, database)
    }
    switch result {
    case .success(let (report, project, database)):
      session.report(.verified(report, of: project, database: database))
      return report.status
    case .failure(let failure):
      session.report(.failed(.verify, failure))
      return failure.status
    }
  }
}
