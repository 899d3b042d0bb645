import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaLint
import SchemaPreview
import SchemaTimeline
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum LintCommand: Command {
  static let declaration = CommandDeclaration(
    name: "lint", summary: "Find migrations that lose data or break other devices.",
    discussion: """
      Replays the history in memory on generated rows, and reports the effects of each migration \
      on rows, on devices that sync with an older release, and on the application's queries. Each \
      finding names the place, the consequence and, where possible, a safe alternative. Warnings \
      and notes alone exit with 0.

      --on-copy runs the pending migrations on a temporary copy of the database instead and prints \
      the row counts before and after. --fix changes drafts where the safe form is certain.

      To adopt lint for an old history, name a file as `lint: { baseline: FILE }` in \
      schemactl.yaml and run --write-baseline: lint does not report the findings in that file.
      """,
    examples: [
      .init("schemactl lint", "Check every migration."),
      .init("schemactl lint --on-copy --database app.sqlite", "Try the drafts on real rows."),
      .init("schemactl lint --explain drop-column", "Explain a rule."),
    ],
    options: [
      .profile, .strict,
      OptionDeclaration("fix", summary: "Correct drafts where the correction is certain."),
      OptionDeclaration(
        "full", summary: "Simulate every pair of releases, not only adjacent ones."),
      OptionDeclaration("on-copy", summary: "Run pending migrations on a copy of the database."),
      OptionDeclaration(
        "explain", .text("RULE"), completion: .words(Rule.all.map(\.id)),
        summary: "Explain a rule."),
      OptionDeclaration("write-baseline", summary: "Write today's findings to the baseline."),
    ] + .database + .reporting)

  /// With `--on-copy`, an interrupted command must delete its copy.
  static func heedsInterruptions(_ invocation: Invocation) -> Bool { invocation.flag("on-copy") }

  static func run(_ session: Session) throws -> ExitStatus {
    let given = session.invocation
    let modes = ["on-copy", "explain", "write-baseline", "fix"].filter(given.isGiven)
    guard modes.count < 2 else {
      throw session.usageError("--\(modes[0]) cannot be combined with --\(modes[1])", hint: nil)
    }
    if let rule = given.text("explain") { return try explain(rule, session) }
    let settings = try Settings(session)
    if given.flag("write-baseline") { return try writeBaseline(settings, session) }
    let isFull = given.flag("full")
    let report =
      given.flag("fix")
      ? try settings.withClaim { try fix(settings, isFull, session) }
      : try lint(settings, isFull, session)
    session.report(.linted(report))
    return report.status
  }

  private static func lint(
    _ settings: Settings, _ isFull: Bool, _ session: Session
  ) throws -> LintReport {
    guard session.invocation.flag("on-copy") else {
      return try settings.lint(settings.project(), isFull: isFull)
    }
    let database = try settings.requiredDatabase()
    let project = try settings.project(for: database).view(
      of: database, timeout: settings.timeout, interruption: session.interruption)
    let copy = try project.trialCopy(
      of: database, timeout: settings.timeout, interruption: session.interruption
    ) { session.report(.progress($0)) }
    return try settings.lint(project, isFull: isFull, on: copy)
  }

  private static func fix(
    _ settings: Settings, _ isFull: Bool, _ session: Session
  ) throws -> LintReport {
    let (project, texts) = try settings.projectWithDraftTexts()
    let result = try Fixer.fix(project, texts) { try settings.lint($0, isFull: isFull) }
    try session.writing.close {
      for (file, bytes) in result.files { try writeFileAtomically(bytes, to: file) }
    }
    return result.report
  }

  private static func writeBaseline(
    _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    guard let file = settings.baselineFile else {
      throw session.usageError(
        "schemactl.yaml names no baseline",
        hint: "Add a line such as `lint: { baseline: lint.baseline }`.")
    }
    try settings.requireReplaceable(baseline: file)
    let report = try settings.linter(of: settings.project(), isForBaseline: true)
      .lint(isFull: session.invocation.flag("full"))
    // Lint cannot judge the migrations after one that fails.
    if let failure = report.failure { throw failure }
    try writeFileAtomically(Array(Baseline.text(report.findings).utf8), to: file)
    session.report(.wroteBaseline(file: file, findings: Baseline.count(report.findings)))
    return .success
  }

  private static func explain(_ rule: String, _ session: Session) throws -> ExitStatus {
    guard OutputFormat.common.contains(session.format) else {
      throw session.usageError(
        "--explain cannot be combined with --format \(session.format.rawValue)", hint: nil)
    }
    guard let text = explanation(of: rule) else {
      if let problem = Rule.problem(withOldID: rule) { throw Failure(.invalidInput, problem) }
      throw session.usageError(
        "'\(rule.visible)' is not a rule",
        hint: ruleSuggestion(for: rule).map { "Did you mean '\($0)'?" })
    }
    session.report(.explained(rule: rule, text))
    return .success
  }
}
