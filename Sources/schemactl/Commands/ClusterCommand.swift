import SchemaApply
import SchemaCommandLine
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaRemote
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The commands for a dqlite cluster, used when `--database` or the configuration names a cluster.
struct ClusterCommand {
  private let session: Session
  private let settings: Settings
  private let cluster: Cluster

  /// - Returns: nil when the target is not a cluster or the command does not support clusters.
  static func run(_ command: any Command.Type, _ session: Session) throws -> ExitStatus? {
    switch command.name {
    case MigrateCommand.name: return try Self(session)?.migrate()
    case StatusCommand.name: return try Self(session)?.status()
    case VerifyCommand.name: return try Self(session)?.verify()
    case PlanCommand.name: return try Self(session)?.plan()
    case DiffCommand.name where session.invocation.arguments.isEmpty:
      return try Self(session)?.diff()
    default: return nil
    }
  }

  private init?(_ session: Session) throws {
    let settings = try Settings(session)
    let name = session.invocation.text("database") ?? settings.configuration.database
    guard let address = try name.flatMap({ try ClusterAddress($0) }) else { return nil }
    self.session = session
    self.settings = settings
    cluster = Cluster(
      address, timeout: settings.timeout, interruption: session.interruption,
      onWait: { session.report(.progress(.waiting(seconds: $0, isOnCluster: true))) })
  }

  private var database: String { cluster.address.text }

  private func readable(_ project: Project) throws -> ReadableDatabase {
    try ClusterCopy(of: cluster, for: project).readable
  }

  private var options: MigrateOptions {
    var options = MigrateOptions(database: database)
    options.through = session.invocation.text("to")
    options.frozenOnly = session.invocation.flag("frozen")
    options.timeout = settings.timeout
    return options
  }

  private func migrate() throws -> ExitStatus {
    let given = session.invocation
    for option in ["backup", "reset-drafts", "paranoid"] where given.isGiven(option) {
      throw session.usageError(
        "--\(option) needs a database file, and \(database) is a cluster", hint: nil)
    }
    guard settings.backup() == nil else {
      throw session.usageError(
        "schemactl.yaml asks for a backup, and \(database) is a cluster, which schemactl cannot copy",
        hint: "Back the cluster up by other means, and use a configuration without `backup`.")
    }
    if given.flag("dry-run") { return try plan() }
    var options = options
    options.existing = given.flag("existing") || options.frozenOnly
    options.redactsValues = given.flag("redact")
    let report = try settings.project().migrate(options, on: cluster) {
      session.report(.progress($0))
    }
    session.report(.migrated(report, options))
    return report.status
  }

  private func plan() throws -> ExitStatus {
    guard !session.invocation.flag("on-copy") else {
      throw session.usageError(
        "--on-copy cannot copy \(database), which is a cluster", hint: "Leave out --on-copy.")
    }
    let isSQL = session.invocation.flag("sql")
    let report = try settings.project().plan(options, on: cluster)
    if isSQL, session.printsRawSQL { try report.plan.requirePlainText() }
    session.report(.planned(report, PlanView(database: database, isSQL: isSQL)))
    return report.status
  }

  private func status() throws -> ExitStatus {
    let project = try settings.project()
    let report = try project.status(of: readable(project), comparesSchema: true)
    session.report(.stands(report, database: database))
    let isBehind = session.invocation.flag("check") && !report.pending.isEmpty
    return ExitStatus.worst([report.status, isBehind ? .finding : .success])
  }

  private func verify() throws -> ExitStatus {
    let base = try session.base
    let project = try settings.project(asksGitAboutDrafts: false)
    let report = try project.verify(readable(project), base: base)
    session.report(.verified(report, of: project, database: database))
    return report.status
  }

  private func diff() throws -> ExitStatus {
    let project = try settings.project()
    let report = try project.diff(of: readable(project))
    session.report(.compared(report, database: database))
    return report.status
  }
}
