import SchemaAuthoring
import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaLint
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum FreezeCommand: Command {
  static let declaration = CommandDeclaration(
    name: "freeze", summary: "Record released migrations in `history.lock`.",
    discussion: """
      Adds the digest of every draft to `history.lock`, beside the manifests. From then on \
      schemactl reports an error if you edit, rename or remove a frozen manifest. If lint reports \
      an error, or a draft has no operations, `freeze` writes nothing.

      `--accept` records an edit of a frozen manifest that no device has run. If `history.lock` \
      has conflict markers or an old format, `freeze` repairs it. It then freezes drafts only with \
      `--release` or `--to`.
      """,
    examples: [
      "schemactl freeze --release 1.4": "Freeze every draft as part of release 1.4.",
      "schemactl freeze --to 12": "Freeze the drafts up to number 12.",
      "schemactl freeze --accept 0005_limit_tags --reason 'only test devices ran it'":
        "Accept an edit.",
    ],
    options: [
      .init(
        "release", .text("NAME"), completion: .nothing, claims: isReleaseName,
        summary: "The name of the release."),
      .to("The last migration to freeze."),
      .init(
        "accept", .text("ID"), completion: .migrations,
        summary: "Accept the edit of a frozen migration; needs `--reason`."),
      .init("reason", .text("TEXT"), summary: "The reason, on one line."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let acceptance = try acceptance(session)
    let release = try session.release()
    return try session.withClaim {
      if let (id, reason) = acceptance { return try accept(id, reason, session) }
      return try freeze(release, session)
    }
  }

  /// Returns the edit of a frozen manifest to accept; nil if the command freezes migrations.
  private static func acceptance(_ session: Session) throws -> (id: String, reason: String)? {
    guard let id = session.text("accept") else {
      try session.require(!session.flag("reason"), "`--reason` needs `--accept`")
      return nil
    }
    try session.require(
      !session.flag("release") && !session.flag("to"),
      "`--accept` excludes `--release` and `--to`", hint: "Run one after the other.")
    let reason = try session.reason(
      for: "`--accept`",
      hint: "Say why no device is affected: `--reason 'no release had it yet'`.")
    return (id, reason)
  }

  private static func freeze(_ release: String?, _ session: Session) throws -> ExitStatus {
    let last = session.text("to")
    let (project, repair) = try Project.loadRepaired(
      migrations: session.migrations, application: session.application,
      ignoring: session.configuration.ignore)
    try project.requireNoLostLines()
    let report = try project.freezing(
      release: release, through: last, repair: repair,
      freezesDrafts: repair == nil || release != nil || last != nil)
    let file = project.folder.lockFile
    if !report.frozen.isEmpty {
      try project.requireOperations(of: report.frozen)
      let frozen = Set(report.frozen.map(\.exact))
      let lint = try session.linter(of: project).lint(through: last, reporting: frozen)
      if let status = refusal(lint, session) { return status }
    }
    if report.isChanged { try write(report.lock, of: project, session) }
    session.report(
      [
        "frozen": report.frozen, "release": report.frozen.isEmpty ? nil : release, "file": file,
        "repair": report.repair?.rawValue, "inserted": report.inserted,
      ]
    ) { $0.show(report, release, file) }
    return .success
  }

  private static func accept(
    _ id: String, _ reason: String, _ session: Session
  ) throws -> ExitStatus {
    let project = try session.project()
    let (lock, id) = try project.accepting(id, reason: reason)
    let lint = try session.linter(of: project).lint(through: id, reporting: [id.exact])
    if let status = refusal(lint, session) { return status }
    try write(lock, of: project, session)
    let file = project.folder.lockFile
    session.report(
      [
        "frozen": [String](), "release": JSON.null, "file": file,
        "accepted": ["id": id, "reason": reason] as JSON,
      ]
    ) {
      $0.mention("Accepted the edit of `\(id.visible)`: \(reason.visible).")
      $0.mention(
        "`\(file.visible)` records it, and `schemactl verify` reports it. Commit the file.")
    }
    return .success
  }

  /// If lint found an error, reports that nothing was frozen and returns the exit status; otherwise nil.
  private static func refusal(_ lint: LintReport, _ session: Session) -> ExitStatus? {
    guard lint.status != .success else { return nil }
    let errors = lint.findings.filter { $0.severity == .error && !$0.isSuppressed }
    let failure = Failure(
      lint.status, "lint found \(counted(errors.count, "error")), so schemactl froze nothing",
      remedy: "Change the migrations, or suppress a finding with a reason under `lint.allow` in "
        + "its manifest")
    session.report(
      ["error": failure.error, "findings": lint.findings, "summary": lint.summary]
    ) { text in
      text.list(errors, "error") { text.show($0.annotation) }
      text.complain(failure)
    }
    return lint.status
  }

  private static func write(_ lock: HistoryLock, of project: Project, _ session: Session) throws {
    try project.requireSameManifests()
    try session.writing.withLock { _ in
      try project.folder.write(lock)
      try session.writeSchemaFile(of: project)
    }
  }
}

extension TextReporter {
  fileprivate func show(_ report: FreezeReport, _ release: String?, _ file: String) {
    let lock = "`\(file.visible)`"
    switch report.repair {
    case .joined?:
      mention(
        "\(lock) now has the lines of both sides: \(counted(report.lock.entries.count, "migration")) "
          + "frozen. Run `schemactl verify`, then `git add \(shellQuoted(file).visible)`.")
    case .converted?: mention("Converted \(lock) to version 2 of the format. Commit it.")
    case nil: break
    }
    if !report.inserted.isEmpty {
      mention(
        "Drafts come before frozen migrations: run `\(renumberCommand(report.inserted).visible)`.")
    }
    guard report.frozen.isEmpty else {
      list(report.frozen, "migration") { mention("Froze `\($0.visible)`.") }
      let name = release.map { " for release \($0.visible)" } ?? ""
      if release == nil { mention("Without `--release`, they stay without a release name.") }
      return mention(
        "\(counted(report.frozen.count, "migration")) frozen\(name). Commit \(lock), and do not change "
          + "these manifests any more.")
    }
    if report.repair != nil { return }
    if report.isChanged {
      return mention(
        "Updated fingerprints in \(lock), because earlier migrations changed. Commit it.")
    }
    let reason = report.isHistoryEmpty ? "the history is empty" : "every migration is frozen"
    let known = report.lock.releases.map(\.name)
    let release =
      release.map { name in
        " Release \(name.visible) \(known.contains(name) ? "is already" : "was not") recorded."
      } ?? ""
    mention("Nothing to freeze: \(reason).\(release)")
  }
}
