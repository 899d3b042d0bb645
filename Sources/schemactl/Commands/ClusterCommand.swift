import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaRemote
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The commands that write a dqlite cluster, used when `--database` or the configuration names one.
struct ClusterCommand {
  private let session: Session
  private let settings: Settings
  private let cluster: Cluster

  /// - Returns: nil when the target is not a cluster or the command does not support clusters.
  static func run(_ command: any Command.Type, _ session: Session) throws -> ExitStatus? {
    switch command.name {
    case MigrateCommand.name: return try Self(session)?.migrate()
    case PlanCommand.name: return try Self(session)?.plan()
    default: return nil
    }
  }

  private init?(_ session: Session) throws {
    let settings = try Settings(session)
    guard let cluster = try settings.cluster(session) else { return nil }
    self.session = session
    self.settings = settings
    self.cluster = cluster
  }

  private var database: String { cluster.address.text }

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
    session.report(.planned(report, database: database, isSQL: isSQL))
    return report.status
  }
}

extension Settings {
  /// The cluster that the options name; nil for a file.
  fileprivate func cluster(_ session: Session) throws -> Cluster? {
    try databaseName.flatMap { try ClusterAddress($0) }.map { address in
      Cluster(
        address, timeout: timeout, interruption: session.interruption,
        onWait: { session.report(.progress(.waiting(seconds: $0, isOnCluster: true))) })
    }
  }

  /// Reads the history, and opens the database that the options name: a file or a cluster.
  func projectAndDatabase(
    _ session: Session, asksGitAboutDrafts: Bool = true
  ) throws -> (project: Project, database: ReadableDatabase, isCluster: Bool) {
    if let cluster = try cluster(session) {
      let project = try project(asksGitAboutDrafts: asksGitAboutDrafts)
      return (project, try ClusterCopy(of: cluster, for: project).readable, true)
    }
    let file = try requiredDatabase()
    let project = try project(for: file, asksGitAboutDrafts: asksGitAboutDrafts)
    let database = try ReadableDatabase(
      file: file, timeout: timeout, interruption: session.interruption)
    return (project, database, false)
  }
}
