import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaReplay
import SchemaReport
import SchemaSQLText
import SchemaTimeline

enum CheckCommand: Command {
  static let declaration = CommandDeclaration(
    name: "check", summary: "Check the whole project, for example in CI.",
    discussion: """
      Reads every manifest, compares the history with history.lock and with other git revisions, \
      replays it from the beginning and from each release, lints it, and compares the schema file, if \
      schemactl.yaml names one. Every check runs even if another one fails; the exit code is that of \
      the worst result. check needs no database and writes nothing.
      """,
    examples: [
      .init("schemactl check", "Check the project before a merge."),
      .init(
        "schemactl check --base origin/main --format github",
        "Check a branch and annotate the pull request."),
    ],
    options: [
      .base,
      OptionDeclaration(
        "full", summary: "Also replay and simulate every pair of releases, not only adjacent ones."),
      .profile, .strict,
      OptionDeclaration(
        "report", .text("FILE"), summary: "Also write the HTML page of `schemactl report`."),
    ] + .reporting)

  static func run(_ session: Session) throws -> ExitStatus {
    let base = try session.base
    let settings = try Settings(session)
    let isFull = session.invocation.flag("full")
    let page = session.invocation.text("report")
    var report = CheckReport()
    var chronicle: Chronicle?
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
          noting: &history, everyPair: isFull, interruption: session.interruption)
      }
      report.attempt(.history) { try project.showEdits(in: &history, compared?.1) }
      report.history = history
      if page != nil { chronicle = Chronicle(project) }
      report.lint = report.attempt(.lint) {
        try settings.lint(project, isFull: isFull) { step, scratch throws(Failure) in
          try chronicle?.note(step, scratch)
        }
      }
      if report.proof?.status == .success {
        report.schema =
          report.attempt(.schema) { try SchemaFile(settings)?.compare(with: project) }
          ?? nil
      }
    }
    if let page { write(chronicle, of: &report, toPage: page, settings, session) }
    session.report(.checked(report))
    return report.status
  }

  /// Writes the HTML page.
  private static func write(
    _ chronicle: Chronicle?, of report: inout CheckReport, toPage file: String,
    _ settings: Settings, _ session: Session
  ) {
    guard let project = report.project, let chronicle, let lint = report.lint else {
      let reason = report.project == nil ? "the manifests cannot be read" : "lint could not run"
      return session.report(.note("\(file) was not written, because \(reason)"))
    }
    report.attempt(.replay) {
      try settings.write(chronicle, of: project, lint, toPage: file, session)
    }
  }
}
