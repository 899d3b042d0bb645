import SchemaApply
import SchemaHistory
import SchemaRemote
import SchemaReplay
import SchemaSQLText
import SchemaYAML

extension MigrateCommand {
  static func migrate(_ cluster: Cluster, _ session: Session) throws -> ExitStatus {
    let database = cluster.address.text
    for option in ["backup", "reset-drafts", "paranoid"] {
      try session.require(
        !session.flag(option),
        "`--\(option)` needs a database file, but `\(database)` is a cluster")
    }
    try session.require(
      session.backup() == nil,
      "`schemactl.yaml` requests a backup, but schemactl cannot copy the cluster `\(database)`",
      hint: "Back the cluster up by other means, and use a configuration without `backup`.")
    if session.flag("dry-run") { return try PlanCommand.plan(cluster, session) }
    let options = session.migrateOptions(database)
    let report = try session.project().migrate(options, on: cluster, onEvent: session.follow)
    session.report(report.json + ["reset": JSON.null]) { $0.show(report, options) }
    return report.status
  }
}

extension PlanCommand {
  static func plan(_ cluster: Cluster, _ session: Session) throws -> ExitStatus {
    let database = cluster.address.text
    try session.require(
      !session.flag("on-copy"), "`--on-copy` cannot copy `\(database)`, which is a cluster",
      hint: "Leave out `--on-copy`.")
    var options = session.migrateOptions(database)
    options.existing = false
    return try show(session.project().plan(options, on: cluster), of: database, session)
  }
}

extension Session {
  /// The cluster that the options name; nil if they name a file.
  var cluster: Cluster? {
    get throws {
      try databaseName.flatMap { try ClusterAddress($0) }.map { address in
        Cluster(
          address, timeout: timeout, interruption: interruption,
          onWait: { follow(.waiting(seconds: $0, isOnCluster: true)) })
      }
    }
  }

  /// Reads the history, and opens the database that the options name: a file or a cluster.
  func projectAndDatabase() throws -> (
    project: Project, database: ReadableDatabase, isCluster: Bool
  ) {
    if let cluster = try cluster {
      let project = try project()
      return (project, try ClusterCopy(of: cluster, for: project).readable, true)
    }
    let database = try open(requiredDatabase())
    return (try project(), database, false)
  }
}
