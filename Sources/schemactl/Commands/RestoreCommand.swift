import SchemaCommandLine
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum RestoreCommand: Command {
  static let declaration = CommandDeclaration(
    name: "restore", summary: "Put a backup back in place of a database.",
    discussion: """
      Checks the newest backup that `migrate --backup` made, or BACKUP, and writes it over the \
      database in one transaction. Other processes read either the old or the new content. \
      `restore` keeps the old content in `FILE.before-restore`. It replaces the file of a damaged \
      or missing database. It works without the migrations.
      """,
    examples: [
      "schemactl restore --database app.sqlite": "Restore the newest backup.",
      "schemactl restore --database app.sqlite --dry-run": "List the backups.",
    ],
    arguments: [
      .init(name: "BACKUP", summary: "A file, or a name from the list of backups.", required: false)
    ],
    options: [
      .init(
        "from", .text("PATH"),
        summary: "The directory of the backups, or a backup file; default: beside the database."),
      .init(
        "dry-run", summary: "List the backups, newest first, or check BACKUP; change nothing."),
      .force("Also accept a backup of another database, or with unknown migrations."),
    ] + .database + .common)

  static func heedsInterruptions(_ invocation: Invocation) -> Bool {
    !invocation.isGiven("dry-run")
  }

  static func run(_ session: Session) throws -> ExitStatus {
    let database = try session.requiredDatabase()
    let backups = Backups(
      of: database, session.ledger, in: session.text("from") ?? session.backupFolder)
    let isDryRun = session.flag("dry-run")
    let from = session.text("from").flatMap { DatabaseFile.isFile($0) ? $0 : nil }
    let name = session.arguments.first ?? from
    if isDryRun, name == nil {
      let entries = try backups.entries()
      session.report(restoration() + ["backups": entries]) { $0.show(entries, database.visible) }
      return .success
    }
    let project = project(session)
    var restore = Restore(
      database, from: try backups.file(named: name), session.ledger,
      interruption: session.interruption, onEvent: session.follow)
    restore.force = session.flag("force")
    restore.timeout = session.timeout
    if isDryRun {
      let report = try restore.check(project)
      session.report(["restored": JSON.null, "setAside": JSON.null, "current": report.current]) {
        $0.mention("schemactl would restore `\(database.visible)` from `\(report.backup.visible)`.")
        $0.mention(report.lastMigration + ".")
      }
      return .success
    }
    let report = try restore.run(project)
    let state = project.map { project in
      Result { () throws(Failure) in
        try project.status(of: ReadableDatabase(file: database, timeout: session.timeout))
      }
    }
    session.report(restoration(report, try? state?.get())) {
      $0.show(report, state, database.visible)
    }
    return .success
  }

  /// Returns nil if the project cannot be read: a broken history must not prevent a restore.
  private static func project(_ session: Session) -> Project? {
    do {
      return try session.project()
    } catch {
      let reason = Failure(of: error).message
      session.note("schemactl did not compare the backup with the history: \(reason)")
      return nil
    }
  }
}

extension TextReporter {
  fileprivate func show(_ entries: [Backups.Entry], _ database: String) {
    list(entries, "backup") { entry in
      // An unreadable backup does not end the list.
      let last =
        switch entry.ledger {
        case .success(let rows): rows.last?.id ?? "no migration"
        case .failure(let failure): "cannot be read: \(failure.message)"
        }
      let (path, size) = (entry.backup.path.visible, FreeSpace.size(Double(entry.backup.bytes)))
      say("\(path)  \(entry.backup.madeAt)  \(size)  \(last.visible)")
    }
    mention("Found \(counted(entries.count, "backup")) of `\(database)`.")
  }

  fileprivate func show(
    _ report: Restore.Report, _ state: Result<StatusReport, Failure>?, _ database: String
  ) {
    var pending: [String] = []
    switch state {
    case .success(let status)?:
      for entry in status.ledger where entry.state.stops {
        note("`\(entry.id)` is \(entry.state.rawValue): \(entry.detail)")
      }
      pending = status.pending
    case .failure(let failure)?: note(failure.message)
    case nil: break
    }
    mention("Restored `\(database)` from `\(report.backup.visible)`.")
    mention(
      report.lastMigration
        + (pending.isEmpty ? "." : "; \(counted(pending.count, "migration")) pending."))
  }
}

extension Restore.Report {
  /// The last migration of the backup, in a sentence without its full stop.
  fileprivate var lastMigration: String {
    current.map { "Its last migration is `\($0.visible)`" } ?? "It has run no migration"
  }
}
