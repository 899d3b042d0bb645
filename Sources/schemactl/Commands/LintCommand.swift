import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaLint
import SchemaTimeline
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum LintCommand: Command {
  static let name = "lint"
  static let declaration = CommandDeclaration(
    name: name, summary: "Finds what a migration would do to data and to other devices.",
    discussion: """
      Replays the history in memory and judges what each migration does, however it is written. A \
      finding names the place, what will happen to whom and, where there is one, a way to do it \
      safely. Warnings and notes alone exit with 0.

      Each step also runs on tables that lint has filled with rows, as many kinds as the schema \
      allows: what works only without rows is found, and what takes rows of other tables along. With \
      --data the migrations that a real database has not run yet run on a private copy of it instead: \
      the file itself is only read, the copy stands beside it and is removed, and how many rows each \
      table has before and after is printed. A migration that fails there exits with 3.

      Where something syncs, devices of two releases in the history lock exchange rows in memory: what \
      one of them refuses or loses is shown with the SQL to see it in two sqlite3 shells.

      To adopt lint for an old history, --write-baseline writes today's findings to a file. With \
      --baseline, or `lint: { baseline: FILE }` in schemactl.yaml, those are not reported, wherever \
      their lines move, and an entry without its finding is a warning.

      --fix changes the drafts where the safe form of what was meant is certain, says what it changed, \
      and reports what remains; a frozen manifest is never changed. A change is kept only when the \
      whole history, replayed with it, has the finding no more and no new error.

      The application's queries, in `queries/*.sql` beside the migrations or where `queries` in \
      schemactl.yaml says, are compiled on the schema as it is now and on those of the releases.
      """,
    examples: [
      .init("schemactl lint", "Judges every migration."),
      .init("schemactl lint --full", "Tries every pair of releases with each other."),
      .init(
        "schemactl lint --data app.sqlite", "Tries what is pending on a copy of a real database."),
      .init("schemactl lint --explain drop-column", "Says what a rule is for."),
      .init("schemactl lint --fix", "Changes what is certain."),
      .init(
        "schemactl lint --write-baseline --baseline lint.baseline", "Accepts what is there today."),
    ],
    options: [
      .profile, .strict, .verbose, .queries,
      OptionDeclaration("fix", summary: "Change drafts where what to do is certain."),
      OptionDeclaration(
        "full", summary: "Try devices of all pairs of releases, not only of adjacent ones."),
      OptionDeclaration(
        "data", .text("FILE"),
        summary: "Run what is pending on a copy of this database, and count its rows."),
      .timeout,
      OptionDeclaration(
        "explain", .text("ID"), offers: Rule.all.map(\.id), summary: "Print a rule instead."),
      OptionDeclaration(
        "baseline", .text("FILE"), summary: "Do not report the findings that this file lists."),
      OptionDeclaration(
        "write-baseline", summary: "Write today's findings to the file of --baseline."),
    ] + .reporting)

  /// The copy is not left behind.
  static func heedsInterruptions(_ invocation: Invocation) -> Bool { invocation.isGiven("data") }

  static func run(_ session: Session) throws -> ExitStatus {
    try requireSense(session)
    if let rule = session.invocation.text("explain") { return try explain(rule, session) }
    let settings = try Settings(session)
    let profile = session.invocation.text("profile").flatMap(Profile.init)
    if session.invocation.flag("write-baseline") {
      return try writeBaseline(settings, profile, session)
    }
    let result = try attempt {
      session.invocation.flag("fix")
        ? try settings.withClaim { try fix(settings, profile, session) }
        : try lint(settings, profile, session)
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

  private static func lint(
    _ settings: Settings, _ profile: Profile?, _ session: Session
  ) throws -> LintReport {
    let database = session.invocation.text("data")
    let project = try settings.project(for: database)
    let copy = try database.map { database in
      try project.trialCopy(
        of: database, timeout: settings.timeout, interruption: session.interruption
      ) { session.report(.progress($0)) }
    }
    return try lint(project, settings, profile, session, on: copy)
  }

  private static func lint(
    _ project: Project, _ settings: Settings, _ profile: Profile?, _ session: Session,
    on copy: TrialCopy? = nil
  ) throws -> LintReport {
    try settings.linter(of: project, profile: profile, interruption: session.interruption).lint(
      isStrict: session.invocation.flag("strict"), isFull: session.invocation.flag("full"),
      isVerbose: session.invocation.flag("verbose"), on: copy)
  }

  private static func fix(
    _ settings: Settings, _ profile: Profile?, _ session: Session
  ) throws -> LintReport {
    let (project, texts) = try settings.projectWithDraftTexts()
    let result = try Fixer.fix(project, texts) {
      try lint($0, settings, profile, session)
    }
    try session.writing.close {
      for (file, bytes) in result.files {
        do throws(FileError) {
          try writeFileAtomically(bytes, to: file)
        } catch {
          throw Failure(error)
        }
      }
    }
    return result.report
  }

  private static let conflicts = [
    ("data", ["explain", "write-baseline", "fix"]), ("explain", ["write-baseline", "fix"]),
    ("write-baseline", ["fix"]),
  ]

  private static func requireSense(_ session: Session) throws {
    for (option, others) in conflicts where session.invocation.isGiven(option) {
      for other in others where session.invocation.isGiven(other) {
        throw session.usageError("--\(option) cannot be combined with --\(other)", hint: nil)
      }
    }
  }

  private static func writeBaseline(
    _ settings: Settings, _ profile: Profile?, _ session: Session
  ) throws -> ExitStatus {
    guard let file = settings.baselineFile else {
      throw session.usageError(
        "no baseline is named",
        hint: "Name it with --baseline FILE, or as `lint: { baseline: FILE }` in schemactl.yaml.")
    }
    let result = try attempt {
      try settings.requireReplaceable(baseline: file)
      let report = try settings.linter(
        of: settings.project(), profile: profile, isForBaseline: true
      ).lint(isFull: session.invocation.flag("full"))
      // What comes after a migration that fails is not known.
      if let failure = report.failure { throw failure }
      do throws(FileError) {
        try writeFileAtomically(Array(Baseline.text(report.findings).utf8), to: file)
      } catch {
        throw Failure(error)
      }
      return Baseline.count(report.findings)
    }
    switch result {
    case .success(let count):
      session.report(.wroteBaseline(file: file, findings: count))
      return .success
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
      if let problem = Rule.problem(withOldID: rule) { throw Failure(.invalidInput, problem) }
      throw session.usageError(
        "there is no rule '\(rule.visible)'",
        hint: ruleSuggestion(for: rule).map { "Did you mean '\($0)'?" })
    }
    session.report(.explained(rule: rule, text))
    return .success
  }
}
