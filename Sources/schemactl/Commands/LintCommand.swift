import CommandLineParsing
import Linting
import Migrating

enum LintCommand: Command {
  static let declaration = CommandDeclaration(
    name: "lint", summary: "Finds what a migration would do to data and to other devices.",
    discussion: """
      Replays the history in memory and judges what each migration does, however it is written. A \
      finding names the place, what will happen to whom and, where there is one, a way to do it \
      safely. Warnings and notes alone exit with 0.

      Where something syncs, devices of two releases in the history lock exchange rows in memory: what \
      one of them refuses or loses is shown with the SQL to see it in two sqlite3 shells.
      """,
    examples: [
      .init("schemactl lint", "Judges every migration."),
      .init("schemactl lint --full", "Tries every pair of releases with each other."),
      .init("schemactl lint --explain drop-column", "Says what a rule is for."),
    ],
    options: [
      .profile, .strict,
      OptionDeclaration(
        "full", summary: "Try devices of all pairs of releases, not only of neighbours."),
      OptionDeclaration(
        "explain", .text("ID"), offers: Rule.all.map(\.id), summary: "Print a rule instead."),
    ] + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    if let rule = session.invocation.text("explain") { return try explain(rule, session) }
    let settings = try Settings(session)
    let profile = session.invocation.text("profile").flatMap(Profile.init)
    let result = try attempt {
      try settings.linter(of: settings.project(), profile: profile)
        .lint(
          isStrict: session.invocation.flag("strict"), isFull: session.invocation.flag("full"))
    }
    switch result {
    case .success(let report):
      session.report(.linted(report))
      return report.status
    case .failure(let failure):
      session.report(.failed(.lint, failure))
      return failure.status
    }
  }

  private static func explain(_ rule: String, _ session: Session) throws -> ExitStatus {
    let format = session.invocation.text("format").flatMap(OutputFormat.init) ?? .text
    guard OutputFormat.common.contains(format) else {
      throw session.usageError("--explain does not go with --format \(format.rawValue)", hint: nil)
    }
    guard let text = explanation(of: rule) else {
      throw session.usageError(
        "there is no rule '\(rule.visible)'",
        hint: ruleSuggestion(for: rule).map { "Did you mean '\($0)'?" })
    }
    session.report(.explained(rule: rule, text))
    return .success
  }
}
