import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText

enum RestoreCommand: Command {
  static let declaration = CommandDeclaration(
    name: "restore", summary: "Put a backup back in place of a database.",
    discussion: """
      Checks the newest backup that `migrate --backup` made, or BACKUP, and writes it over the \
      database in one transaction: other processes read either the old or the new content. restore \
      keeps the old content in FILE.before-restore. It replaces the file of a damaged or missing \
      database. It works without the migrations.
      """,
    examples: [
      .init("schemactl restore --database app.sqlite", "Restore the newest backup."),
      .init("schemactl restore --database app.sqlite --dry-run", "List the backups."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "BACKUP", summary: "A file, or a name from the list of backups.", required: false)
    ],
    options: [
      OptionDeclaration(
        "from", .text("PATH"),
        summary: "The directory of the backups, or a backup file; default: beside the database."),
      OptionDeclaration("dry-run", summary: "List the backups, newest first, and change nothing."),
      .force("Also accept a backup of another database, or with unknown migrations."),
    ] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool { !invocation.flag("dry-run") }

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let database = try settings.requiredDatabase()
    let backups = Backups(
      of: database, settings.ledger, in: session.invocation.text("from") ?? settings.backupFolder)
    if session.invocation.flag("dry-run") {
      session.report(
        .backups(try backups.entries(timeout: settings.timeout), database: database))
      return .success
    }
    let project = project(settings, session)
    var restore = Restore(
      database, from: try backup(among: backups, of: database, settings, session),
      settings.ledger,
      interruption: session.interruption, onEvent: { session.report(.progress($0)) })
    restore.force = session.invocation.flag("force")
    restore.timeout = settings.timeout
    let report = try restore.run(project)
    session.report(.restored(report, state(of: database, project, settings), database: database))
    return .success
  }

  private static func state(
    of database: String, _ project: Project?, _ settings: Settings
  ) -> Result<StatusReport, Failure>? {
    project.map { project in
      Result { () throws(Failure) in
        try project.status(of: ReadableDatabase(file: database, timeout: settings.timeout))
      }
    }
  }

  private static func backup(
    among backups: Backups, of database: String, _ settings: Settings, _ session: Session
  ) throws -> String {
    if let name = session.invocation.arguments.first {
      let all = (try? backups.all()) ?? []
      return all.first { $0.path == name || $0.path.hasSuffix("/" + name) }?.path ?? name
    }
    if let from = session.invocation.text("from"), DatabaseFile.isFile(from) { return from }
    if let newest = try backups.newest(timeout: settings.timeout) { return newest.path }
    throw Failure(
      .notFound, "\(backups.folder) has no backup of \(database)",
      remedy: "Name a backup file, or the directory of the backups with --from")
  }

  /// Nil for a broken history, which must not prevent a restore.
  private static func project(_ settings: Settings, _ session: Session) -> Project? {
    do {
      return try settings.project()
    } catch {
      let failure = Failure(of: error)
      let isMissing = failure.status == .notFound && !settings.namesProject
      let reason =
        isMissing ? "\(settings.migrations) does not exist" : failure.message
      session.report(.note("schemactl did not compare the backup with the history: \(reason)"))
      return nil
    }
  }
}
