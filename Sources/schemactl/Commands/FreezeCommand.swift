import CommandLineParsing
import History
import Linting
import Migrating
import SchemaKit

enum FreezeCommand: Command {
  static let declaration = CommandDeclaration(
    name: "freeze", summary: "Records what ships, so that it is never changed again.",
    discussion: """
      Writes the digests of every draft to history.lock beside the manifests. From then on 'verify' \
      and 'migrate' refuse a frozen manifest that was edited, renamed or removed. It refuses itself \
      while lint finds an error that no waiver allows.
      """,
    examples: [
      .init("schemactl freeze --release 1.4", "Freezes every draft as part of release 1.4."),
      .init("schemactl freeze --through 12", "Freezes the drafts through number 12."),
    ],
    options: [
      OptionDeclaration("release", .text("NAME"), summary: "The release that ships them."),
      OptionDeclaration(
        "through", .text("ID"), summary: "The last migration to freeze, by its id or its number."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let release = session.invocation.text("release")
    if let release, !isReleaseName(release) {
      throw session.usageError(
        "this cannot be a release's name: '\(release.visible)'",
        hint: "Use 1 to 64 ASCII letters, digits, '.', '_', '+' or '-'.")
    }
    let settings = try Settings(session)
    let result = try attempt { try freeze(release, settings, session) }
    if let failure = result.failure { session.report(.failed(.freeze, failure)) }
    return result.success ?? result.failure?.status ?? .bug
  }

  private static func freeze(
    _ release: String?, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let through = session.invocation.text("through")
    let project = try settings.project()
    let report = try project.freezing(release: release, through: through)
    if !report.frozen.isEmpty {
      let lint = try settings.linter(of: project)
        .lint(through: through, reporting: Set(report.frozen))
      guard lint.status == .success else {
        session.report(.refused(lint))
        return lint.status
      }
      try write(report.lock, of: project)
    }
    session.report(.frozen(report, release: release, file: project.folder.lockFile))
    return .success
  }

  private static func write(_ lock: HistoryLock, of project: Project) throws {
    do throws(FileError) {
      try project.folder.write(lock)
    } catch {
      throw Failure(error)
    }
  }
}
