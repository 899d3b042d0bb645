import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaTimeline
import SchemaReplay

enum CheckCommand: Command {
  static let name = "check"
  static let declaration = CommandDeclaration(
    name: name, summary: "Checks all that has to hold before a change is merged.",
    discussion: """
      Reads every manifest, compares the history with history.lock and that with other revisions in \
      git, replays it, also from each release on, and lints it. All of that is done, whatever is found \
      on the way; the exit code is that of the worst finding. With --base, the lock of the merge base of \
      HEAD and REV is compared, too. No database is needed and nothing is written.
      """,
    examples: [
      .init("schemactl check", "Checks the history, as before every merge."),
      .init(
        "schemactl check --base origin/main --format github",
        "Checks a branch, and annotates the pull request."),
      .init(
        "schemactl check --full", "The same, with a replay from each release to every later one."),
    ],
    options: [
      .base,
      OptionDeclaration(
        "full",
        summary: "Replay from each release to every later one, and let devices of all pairs sync."),
      .profile, .strict, .verbose, .queries,
      OptionDeclaration(
        "report", .text("FILE"), summary: "Also write the HTML page of `schemactl report`."),
    ] + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base
    let settings = try Settings(session)
    let profile = session.invocation.text("profile").flatMap(Profile.init)
    var report = CheckReport()
    report.project = report.attempt(.manifests) {
      try settings.project(asksGitAboutDrafts: false)
    }
    if var project = report.project {
      let compared = report.attempt(.history) { try project.verifyHistory(base: base) }
      project.keptIDs = compared?.1?.keptIDs ?? []
      report.project = project
      var history = compared?.0 ?? VerifyReport(comparing: project)
      report.proof = report.attempt(.replay) {
        try project.proveReplay(
          noting: &history, everyPair: session.invocation.flag("full"),
          interruption: session.interruption)
      }
      report.attempt(.history) { try project.showEdits(in: &history, compared?.1) }
      report.history = history
      report.lint = report.attempt(.lint) {
        try settings.linter(of: project, profile: profile)
          .lint(
            isStrict: session.invocation.flag("strict"), isFull: session.invocation.flag("full"),
            isVerbose: session.invocation.flag("verbose"))
      }
    }
    if let file = session.invocation.text("report") {
      writePage(of: &report, to: file, settings, session)
    }
    session.report(.checked(report))
    return report.status
  }

  /// What stops the replay is in the report of the check already.
  private static func writePage(
    of report: inout CheckReport, to file: String, _ settings: Settings, _ session: Session
  ) {
    guard let project = report.project else {
      return session.report(
        .note("\(file) was not written, because the manifests cannot be read"))
    }
    let lint = report.lint
    report.attempt(.replay) {
      _ = try settings.writeReport(of: project, lint: lint, to: file, session)
    }
  }
}
