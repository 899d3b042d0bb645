import CommandLineParsing
import Migrating

enum VerifyCommand: Command {
  static let declaration = CommandDeclaration(
    name: "verify", summary: "Checks that what shipped is still what shipped.",
    discussion: """
      Holds the manifests against history.lock, replays the whole history in memory, and, when a \
      database is named, compares its ledger and its schema with the history. In a git repository it \
      shows what an edit of a frozen manifest changed, and finds a history.lock that was cut short \
      or rewritten since the last commit. With --base, what HEAD and REV have in common is frozen \
      too: it may not change, and what is new must come last. Nothing is written.
      """,
    examples: [
      .init("schemactl verify", "Checks the history alone, as before every merge."),
      .init("schemactl verify --database app.sqlite", "Checks a database against it as well."),
      .init("schemactl verify --base origin/main", "Checks a branch before it is merged."),
    ],
    options: [
      OptionDeclaration(
        "base", .text("REV"),
        summary: "A git revision: what it shares with HEAD may not change either.")
    ] + .database + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    if let base = session.invocation.text("base"), base.isEmpty || base.hasPrefix("-") {
      throw session.usageError(
        "this cannot be a revision: '\(base.visible)'",
        hint: "Name a branch, a tag or a commit, like 'origin/main'.")
    }
    let settings = try Settings(session)
    let result = try attempt {
      let database = try settings.optionalDatabase()
      let project = try settings.project(for: database)
      let report = try project.verify(
        database: database, timeout: settings.timeout, interruption: session.interruption,
        versionControl: .git(base: session.invocation.text("base")))
      return (report, database)
    }
    switch result {
    case .success(let (report, database)):
      session.report(.verified(report, database: database))
      return report.status
    case .failure(let failure):
      session.report(.failed(.verify, failure))
      return failure.status
    }
  }
}
