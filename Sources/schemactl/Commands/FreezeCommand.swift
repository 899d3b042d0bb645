import SchemaAuthoring
import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaLint
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum FreezeCommand: Command {
  static let declaration = CommandDeclaration(
    name: "freeze", summary: "Record released migrations in history.lock.",
    discussion: """
      Adds the digest of every draft to history.lock, beside the manifests. From then on schemactl \
      refuses a frozen manifest that was edited, renamed or removed. If lint reports an error, \
      or a draft has no operations, freeze writes nothing.

      --accept records an edit of a frozen manifest that no device has run. If history.lock has \
      conflict markers or an old format, freeze repairs it; it then freezes drafts only if \
      --release or --to is given.
      """,
    examples: [
      .init("schemactl freeze --release 1.4", "Freeze every draft as part of release 1.4."),
      .init("schemactl freeze --to 12", "Freeze the drafts up to number 12."),
      .init(
        "schemactl freeze --accept 0005_limit_tags --reason 'only test devices ran it'",
        "Accept an edit."),
    ],
    options: [
      OptionDeclaration(
        "release", .text("NAME"), completion: .nothing, summary: "The release that ships them."),
      .to("The last migration to freeze."),
      OptionDeclaration(
        "accept", .text("ID"), completion: .migrations,
        summary: "Accept the edit of a frozen migration; needs --reason."),
      OptionDeclaration("reason", .text("TEXT"), summary: "The reason, on one line."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let acceptance = try acceptance(session)
    let release = try session.release
    let settings = try Settings(session)
    return try settings.withClaim {
      if let (id, reason) = acceptance { return try accept(id, reason, settings, session) }
      return try freeze(release, settings, session)
    }
  }

  /// The edit of a frozen manifest to accept; nil when the command freezes migrations.
  private static func acceptance(_ session: Session) throws -> (id: String, reason: String)? {
    let given = session.invocation
    guard let id = given.text("accept") else {
      guard given.isGiven("reason") else { return nil }
      throw session.usageError("--reason needs --accept", hint: nil)
    }
    guard !given.isGiven("release"), !given.isGiven("to") else {
      throw session.usageError(
        "--accept cannot be combined with --release or --to", hint: "Run one after the other.")
    }
    let reason = try session.reason(
      for: "--accept", hint: "Say why no device is affected: --reason 'no release had it yet'.")
    return (id, reason)
  }

  private static func freeze(
    _ release: String?, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let last = session.invocation.text("to")
    let (project, repair) = try settings.repairedProject()
    if project.lock == nil { try requireNoLock(elsewhere: project) }
    let report = try project.freezing(
      release: release, through: last, repair: repair,
      freezesDrafts: repair == nil || release != nil || last != nil)
    if !report.frozen.isEmpty {
      let frozen = Set(report.frozen.map(\.exact))
      if let draft = project.migrations.first(where: {
        frozen.contains($0.id.exact) && $0.manifest.isEmpty
      }) {
        throw Failure(
          .finding, "this migration has no operations, and nothing can be added once it is frozen",
          remedy:
            "Write its operations, delete the file, or freeze only earlier migrations with --to",
          place: Failure.Place(file: draft.file, position: Position(line: 1, column: 1)))
      }
      let lint = try settings.linter(of: project)
        .lint(through: last, reporting: frozen)
      if let status = refusal(lint, session) { return status }
    }
    if report.isChanged { try write(report.lock, of: project, settings, session) }
    session.report(.frozen(report, release: release, file: project.folder.lockFile))
    return .success
  }

  /// A new lock must not replace one that was deleted: it would accept every edit.
  private static func requireNoLock(elsewhere project: Project) throws {
    var problems: [String] = []
    let others = try project.otherRevisions(nil, noting: &problems)
    guard let difference = others?.differences(in: project.folder).first else { return }
    throw Failure(.brokenHistory, "\(difference.message). Nothing was frozen")
  }

  private static func accept(
    _ id: String, _ reason: String, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let project = try settings.project()
    let (lock, id) = try project.accepting(id, reason: reason)
    let lint = try settings.linter(of: project).lint(through: id, reporting: [id.exact])
    if let status = refusal(lint, session) { return status }
    try write(lock, of: project, settings, session)
    session.report(.accepted(id: id, reason: reason, file: project.folder.lockFile))
    return .success
  }

  private static func refusal(_ lint: LintReport, _ session: Session) -> ExitStatus? {
    guard lint.status != .success else { return nil }
    session.report(.refused(lint))
    return lint.status
  }

  /// Writes the lock, unless a manifest changed meanwhile: the lock would record its old text.
  private static func write(
    _ lock: HistoryLock, of project: Project, _ settings: Settings, _ session: Session
  ) throws {
    let now = try? project.folder.migrations()
    guard now?.map(\.digests) == project.migrations.map(\.digests) else {
      throw Failure(
        .busy,
        "the manifests in \(project.folder.path) changed while schemactl read them. Nothing was frozen",
        remedy: "Check them, and try again")
    }
    try session.writing.close {
      try project.folder.write(lock)
      _ = try SchemaFile(settings)?.write(project)
    }
  }
}

extension Migration {
  fileprivate var digests: [String] { [id, rawDigest] }
}
