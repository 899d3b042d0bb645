import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaLint
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum FreezeCommand: Command {
  static let name = "freeze"
  static let declaration = CommandDeclaration(
    name: name, summary: "Records released migrations, which then must not change.",
    discussion: """
      Writes the digests of every draft to history.lock beside the manifests. From then on 'verify' \
      and 'migrate' refuse a frozen manifest that was edited, renamed or removed. Nothing is frozen \
      while lint finds an error that is not suppressed.

      An edit of a frozen manifest that no device has run can be accepted with --accept and a \
      reason, which every later 'verify' shows. A history.lock with conflict markers is read as the \
      union of both sides, and one in version 1 of the format is converted: then drafts are frozen only \
      with --release or --through.
      """,
    examples: [
      .init("schemactl freeze --release 1.4", "Freezes every draft as part of release 1.4."),
      .init("schemactl freeze --through 12", "Freezes the drafts through number 12."),
      .init(
        "schemactl freeze --accept 0005_limit_tags --reason 'never left the test devices'",
        "Accepts an edit."),
      .init("schemactl freeze", "Resolves a merge conflict in history.lock."),
    ],
    options: [
      OptionDeclaration("release", .text("NAME"), summary: "The release that ships them."),
      OptionDeclaration(
        "through", .text("ID"), summary: "The last migration to freeze, by its id or its number."),
      OptionDeclaration(
        "accept", .text("ID"), summary: "Accept the edit of a frozen migration; needs --reason."),
      OptionDeclaration(
        "reason", .text("TEXT"), summary: "Why the edit harms no device, on one line."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let acceptance = try acceptance(session)
    let release = session.invocation.text("release")
    if let release, !isReleaseName(release) {
      throw session.usageError(
        "this cannot be a release's name: '\(release.visible)'",
        hint: "Use 1 to 64 ASCII letters, digits, '.', '_', '+' or '-'.")
    }
    let settings = try Settings(session)
    let result = try attempt {
      try settings.withClaim {
        if let (id, reason) = acceptance { return try accept(id, reason, settings, session) }
        return try freeze(release, settings, session)
      }
    }
    if let failure = result.failure { session.report(.failed(.freeze, failure)) }
    return result.success ?? result.failure?.status ?? .bug
  }

  /// The edit to accept; nil when migrations are to be frozen.
  private static func acceptance(_ session: Session) throws -> (id: String, reason: String)? {
    let given = session.invocation
    guard let id = given.text("accept") else {
      guard given.isGiven("reason") else { return nil }
      throw session.usageError(
        "'--reason' says why an edit is accepted", hint: "Name the edit with --accept ID.")
    }
    guard !given.isGiven("release"), !given.isGiven("through") else {
      throw session.usageError(
        "'--accept' cannot be combined with '--release' or '--through'",
        hint: "Run one after the other.")
    }
    let reason = given.text("reason") ?? ""
    guard !reason.allSatisfy(\.isWhitespace), !reason.contains(where: \.isNewline) else {
      throw session.usageError(
        "an edit is accepted with a reason of one line",
        hint: "Say why no device is harmed: --reason 'no release had it yet'.")
    }
    return (id, reason)
  }

  private static func freeze(
    _ release: String?, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let through = session.invocation.text("through")
    let (project, repair) = try settings.repairedProject()
    let report = try project.freezing(
      release: release, through: through, repair: repair,
      freezesDrafts: repair == nil || release != nil || through != nil)
    if !report.frozen.isEmpty {
      let lint = try settings.linter(of: project)
        .lint(through: through, reporting: Set(report.frozen.map(\.exact)))
      guard lint.status == .success else {
        session.report(.refused(lint))
        return lint.status
      }
    }
    if report.isChanged { try write(report.lock, of: project, session) }
    session.report(.frozen(report, release: release, file: project.folder.lockFile))
    return .success
  }

  private static func accept(
    _ id: String, _ reason: String, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let project = try settings.project()
    let (lock, id) = try project.accepting(id, reason: reason)
    let lint = try settings.linter(of: project).lint(through: id, reporting: [id.exact])
    guard lint.status == .success else {
      session.report(.refused(lint))
      return lint.status
    }
    try write(lock, of: project, session)
    session.report(.accepted(id: id, reason: reason, file: project.folder.lockFile))
    return .success
  }

  /// Not when a manifest was saved in the meantime: the lock would be of another text.
  private static func write(
    _ lock: HistoryLock, of project: Project, _ session: Session
  ) throws {
    let now = try? project.folder.migrations()
    guard now?.map(\.digests) == project.migrations.map(\.digests) else {
      throw Failure(
        .busy,
        "the manifests of \(project.folder.path) changed while they were read: look at them, and try "
          + "again. Nothing was frozen")
    }
    try session.writing.close {
      do throws(FileError) {
        try project.folder.write(lock)
      } catch {
        throw Failure(error)
      }
    }
  }
}

extension Migration {
  fileprivate var digests: [String] { [id, rawDigest] }
}
