import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText

enum RestoreCommand: Command {
  static let name = "restore"
  static let declaration = CommandDeclaration(
    name: name, summary: "Puts a backup back in a database's place.",
    discussion: """
      Takes the newest backup that 'migrate --backup' has made, or the one that is named, checks it \
      and writes it over the database as one transaction: who reads meanwhile sees the old content \
      or the new. What the database held is kept beside it, as FILE.before-restore. A database that \
      is damaged or gone is replaced as a file. The folder of the migrations need not be there.
      """,
    examples: [
      .init("schemactl restore --database app.sqlite", "Puts the newest backup back."),
      .init("schemactl restore --database app.sqlite --list", "Shows every backup."),
      .init(
        "schemactl restore --database app.sqlite --from /mnt/backups",
        "Puts the newest backup of that folder back."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "BACKUP", summary: "A file, or the name of one that --list shows.", required: false)
    ],
    options: [
      OptionDeclaration(
        "from", .text("PATH"),
        summary: "The folder with the backups, or a file; otherwise beside the database."),
      OptionDeclaration("list", summary: "Show the backups, and change nothing."),
      OptionDeclaration(
        "force",
        summary: "Also a backup of another database, or one that the history does not know."),
    ] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { !invocation.flag("list") }

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let database = try settings.requiredDatabase()
    let result = try attempt {
      session.invocation.flag("list")
        ? try list(database, settings, session) : try restore(database, settings, session)
    }
    if let failure = result.failure { session.report(.failed(.restore, failure)) }
    return result.success ?? result.failure?.status ?? .bug
  }

  // MARK: Which backup

  private static func backups(_ database: String, _ settings: Settings, _ session: Session)
    -> Backups
  {
    Backups(of: database, in: session.invocation.text("from") ?? settings.backupFolder)
  }

  private static func list(
    _ database: String, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let entries = try backups(database, settings, session).entries(timeout: settings.timeout)
    session.report(.backups(entries, database: database))
    return .success
  }

  private static func backup(
    of database: String, _ settings: Settings, _ session: Session
  ) throws -> String {
    let from = session.invocation.text("from")
    if let name = session.invocation.arguments.first {
      let all = (try? backups(database, settings, session).all()) ?? []
      return all.first { $0.path == name || $0.path.hasSuffix("/" + name) }?.path ?? name
    }
    if let from, DatabaseFile.isFile(from) { return from }
    let backups = backups(database, settings, session)
    if let newest = try backups.newest(timeout: settings.timeout) { return newest.path }
    throw Failure(
      .notFound,
      "there is no backup of \(database) in the folder \(backups.folder): name a file, or with "
        + "--from the folder that holds the backups")
  }

  // MARK: Putting it back

  private static func restore(
    _ database: String, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let project = project(settings, session)
    let backup = try backup(of: database, settings, session)
    var restore = Restore(
      database, from: backup, interruption: session.interruption,
      onEvent: { session.report(.progress($0)) })
    restore.force = session.invocation.flag("force")
    restore.timeout = settings.timeout
    let report = try restore.run(project)
    let state = state(of: database, in: project, timeout: settings.timeout)
    session.report(.restored(report, state, database: database))
    return .success
  }

  private static func state(
    of database: String, in project: Project?, timeout: Double
  ) -> Result<StatusReport, Failure>? {
    guard let project else { return nil }
    do {
      return .success(try project.status(database: database, timeout: timeout))
    } catch {
      return .failure(error)
    }
  }

  /// What stands in the way of the history is no reason not to restore.
  private static func project(_ settings: Settings, _ session: Session) -> Project? {
    do {
      return try settings.project()
    } catch let failure as Failure where failure.status == .notFound && !settings.namesProject {
      session.report(
        .note(
          "the backup is not held against the history: there is no folder \(settings.migrations)"))
      return nil
    } catch {
      session.report(
        .note("the backup is not held against the history: \(Problem(error).message)"))
      return nil
    }
  }
}
