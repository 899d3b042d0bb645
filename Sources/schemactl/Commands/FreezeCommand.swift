import CommandLineParsing
import History
import Linting
import Migrating
import SQLText
import SchemaKit

enum FreezeCommand: Command {
  static let name = "freeze"
  static let declaration = CommandDeclaration(
    name: name, summary: "Records what ships, so that it is never changed again.",
    discussion: """
      Writes the digests of every draft to history.lock beside the manifests. From then on 'verify' \
      and 'migrate' refuse a frozen manifest that was edited, renamed or removed. It refuses itself \
      while lint finds an error that no waiver allows.

      An edit of a frozen manifest that no device has run can be accepted with --accept and a \
      reason, which every later 'verify' shows. After a merge in which both branches froze \
      something, --resolve makes one history.lock of the two.
      """,
    examples: [
      .init("schemactl freeze --release 1.4", "Freezes every draft as part of release 1.4."),
      .init("schemactl freeze --through 12", "Freezes the drafts through number 12."),
      .init(
        "schemactl freeze --accept 0005_limit_tags --reason 'never left the test devices'",
        "Accepts an edit."),
      .init("schemactl freeze --resolve", "Ends a merge conflict in history.lock."),
    ],
    options: [
      OptionDeclaration("release", .text("NAME"), summary: "The release that ships them."),
      OptionDeclaration(
        "through", .text("ID"), summary: "The last migration to freeze, by its id or its number."),
      OptionDeclaration(
        "accept", .text("ID"), summary: "Accept the edit of a frozen migration; needs --reason."),
      OptionDeclaration(
        "reason", .text("TEXT"), summary: "Why the edit harms no device, on one line."),
      OptionDeclaration(
        "resolve", summary: "Make one history.lock of the two sides of a merge conflict."),
      OptionDeclaration(
        "gitattributes",
        summary: "Write the .gitattributes that keep git from changing or merging the files."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let mode = try mode(session)
    let settings = try Settings(session)
    let result = try attempt {
      try settings.withClaim {
        switch mode {
        case .freeze(let release): try freeze(release, settings, session)
        case .accept(let id, let reason): try accept(id, reason, settings, session)
        case .resolve: try resolve(settings, session)
        case .attributes: try writeAttributes(settings, session)
        }
      }
    }
    if let failure = result.failure { session.report(.failed(.freeze, failure)) }
    return result.success ?? result.failure?.status ?? .bug
  }

  private enum Mode {
    case freeze(release: String?)
    case accept(id: String, reason: String)
    case resolve
    case attributes
  }

  private static func mode(_ session: Session) throws -> Mode {
    let given = session.invocation
    let modes = ["accept", "resolve", "gitattributes"].filter(given.isGiven)
    if modes.count > 1 || (!modes.isEmpty && (given.isGiven("release") || given.isGiven("through")))
    {
      throw session.usageError(
        "'--\(modes[0])' goes with no other option that says what to do",
        hint: "Run one after the other.")
    }
    if given.isGiven("reason"), modes != ["accept"] {
      throw session.usageError(
        "'--reason' says why an edit is accepted", hint: "Name the edit with --accept ID.")
    }
    switch modes.first {
    case "accept":
      let reason = given.text("reason") ?? ""
      guard !reason.allSatisfy(\.isWhitespace), !reason.contains(where: \.isNewline) else {
        throw session.usageError(
          "an edit is accepted with a reason of one line",
          hint: "Say why no device is harmed: --reason 'no release had it yet'.")
      }
      return .accept(id: given.text("accept") ?? "", reason: reason)
    case "resolve": return .resolve
    case "gitattributes": return .attributes
    default:
      let release = given.text("release")
      if let release, !isReleaseName(release) {
        throw session.usageError(
          "this cannot be a release's name: '\(release.visible)'",
          hint: "Use 1 to 64 ASCII letters, digits, '.', '_', '+' or '-'.")
      }
      return .freeze(release: release)
    }
  }

  private static func freeze(
    _ release: String?, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let through = session.invocation.text("through")
    let project = try settings.project()
    let report = try project.freezing(release: release, through: through)
    if !report.frozen.isEmpty {
      let lint = try settings.linter(of: project)
        .lint(through: through, reporting: Set(report.frozen.map(\.exact)))
      guard lint.status == .success else {
        session.report(.refused(lint))
        return lint.status
      }
      try write(report.lock, of: project, settings, session)
    }
    session.report(.frozen(report, release: release, file: project.folder.lockFile))
    if project.lock == nil, !report.frozen.isEmpty { offerAttributes(project.folder, session) }
    return .success
  }

  /// Once, when the lock is new; whoever does without is not asked again.
  private static func offerAttributes(_ folder: MigrationFolder, _ session: Session) {
    guard let git = try? GitRepository(containing: folder.path),
      let missing = try? GitAttributes.missing(in: git), !missing.isEmpty
    else { return }
    session.report(
      .note(
        "git may change line ends and merge two locks by itself; `schemactl freeze "
          + "--gitattributes` writes into \(folder.attributesFile): "
          + missing.map { "`\($0)`" }.joined(separator: ", ")))
  }

  // MARK: Other ways to write the lock

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
    try write(lock, of: project, settings, session)
    session.report(.accepted(id: id, reason: reason, file: project.folder.lockFile))
    return .success
  }

  private static func resolve(_ settings: Settings, _ session: Session) throws -> ExitStatus {
    let folder = MigrationFolder(settings.migrations)
    do {
      guard let conflict = try folder.lockConflict() else {
        session.report(.resolved(nil, file: folder.lockFile))
        return .success
      }
      let report = try resolveLock(conflict, in: folder, settings.application)
      try write(report.lock, of: folder, session)
      session.report(.resolved(report, file: folder.lockFile))
      return .success
    } catch let error as HistoryReadError {
      throw error.problem(ofFolder: folder.path)
    } catch let error as LockError {
      throw Failure(error, file: folder.lockFile)
    }
  }

  private static func writeAttributes(
    _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let folder = MigrationFolder(settings.migrations)
    let added = try session.writing.close {
      do throws(FileError) {
        return try folder.writeGitAttributes()
      } catch {
        throw Failure(error)
      }
    }
    session.report(.attributes(added: added, file: folder.attributesFile))
    return .success
  }

  /// Not when a manifest was saved while the lock was made: the lock would not be of what is there.
  private static func write(
    _ lock: HistoryLock, of project: Project, _ settings: Settings, _ session: Session
  ) throws {
    let now = try settings.project().migrations
    guard now.map(\.digests) == project.migrations.map(\.digests) else {
      throw Failure(
        .busy,
        "the manifests of \(project.folder.path) have changed while they were read: look at them, "
          + "and try again. Nothing was frozen")
    }
    try write(lock, of: project.folder, session)
  }

  private static func write(
    _ lock: HistoryLock, of folder: MigrationFolder, _ session: Session
  ) throws {
    try session.writing.close {
      do throws(FileError) {
        try folder.write(lock)
      } catch {
        throw Failure(error)
      }
    }
  }
}

extension Migration {
  fileprivate var digests: [String] { [id, rawDigest] }
}
