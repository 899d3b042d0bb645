import SchemaApply
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaRemote
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension MigrateCommand {
  static func migrate(
    _ cluster: Cluster, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let given = session.invocation
    let database = cluster.address.text
    for option in ["backup", "reset-drafts", "paranoid"] where given.isGiven(option) {
      throw session.usageError(
        "--\(option) needs a database file, and \(database) is a cluster", hint: nil)
    }
    guard settings.backup() == nil else {
      throw session.usageError(
        "schemactl.yaml asks for a backup, and \(database) is a cluster, which schemactl cannot copy",
        hint: "Back the cluster up by other means, and use a configuration without `backup`.")
    }
    if given.flag("dry-run") { return try PlanCommand.plan(cluster, settings, session) }
    let options = settings.migrateOptions(database)
    let report = try settings.project().migrate(options, on: cluster) {
      session.report(.progress($0))
    }
    session.report(.migrated(report, options))
    return report.status
  }
}

extension PlanCommand {
  static func plan(
    _ cluster: Cluster, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    let database = cluster.address.text
    guard !session.invocation.flag("on-copy") else {
      throw session.usageError(
        "--on-copy cannot copy \(database), which is a cluster", hint: "Leave out --on-copy.")
    }
    let isSQL = session.invocation.flag("sql")
    var options = settings.migrateOptions(database)
    options.existing = false
    let report = try settings.project().plan(options, on: cluster)
    if isSQL, session.printsRawSQL { try report.plan.requirePlainText() }
    session.report(.planned(report, database: database, isSQL: isSQL))
    return report.status
  }
}

extension Settings {
  /// The cluster that the options name; nil for a file.
  func cluster(_ session: Session) throws -> Cluster? {
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
