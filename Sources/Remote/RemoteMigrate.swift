import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

extension Project {
  /// Plans the pending migrations of a cluster, and checks whether they can run there. Changes nothing.
  package func plan(
    _ options: MigrateOptions, on cluster: Cluster
  ) throws(Failure) -> DryRunReport {
    let (_, plan, sending) = try prepared(options, on: cluster)
    var report = DryRunReport(plan: plan)
    report.failure = sending.refusals.first ?? report.failure
    report.notes = sending.notes
    report.clusterScript = sending.script(of: plan)
    return report
  }

  private func prepared(
    _ options: MigrateOptions, on cluster: Cluster
  ) throws(Failure) -> (copy: ClusterCopy, plan: PlanReport, sending: RemoteSending) {
    let copy = try ClusterCopy(of: cluster, for: self)
    var project = try view(of: copy.readable)
    // Several operations that share a rewrite need an edit of `sqlite_schema`, which dqlite does not allow.
    // Plan each operation alone, because then an ALTER TABLE statement may be sufficient.
    project.application.plansOperationsAlone = true
    let plan = try project.plan(options, for: copy.readable, isMeasured: false)
    return (copy, plan, try project.sending(plan, copy.live, on: cluster))
  }

  private func sending(
    _ report: PlanReport, _ live: Schema, on cluster: Cluster
  ) throws(Failure) -> RemoteSending {
    var sending = RemoteSending()
    var limits = RowLimits()
    for planned in report.migrations {
      do throws(Failure) {
        var plan = try RemotePlan(planned, application)
        try limits.measure(&plan, cluster)
        sending.plans.append(plan)
      } catch {
        guard error.status == .invalidInput else { throw error }
        sending.refusals.append(error)
      }
    }
    if sending.refusals.isEmpty {
      sending.refusals = try RowLimits.refusals(
        bySampleOf: sending.plans, live, application, on: cluster)
    }
    let refused = sending.refusals.first?.migration?.id
    let count = report.migrations.prefix { $0.migration.id != refused }.count
    sending.plans = Array(sending.plans.prefix(count))
    return sending
  }

  /// Applies the pending migrations to the database of a cluster, each in one transaction.
  ///
  /// - Throws: the failure that prevented the run. The report contains later failures.
  package func migrate(
    _ options: MigrateOptions, on cluster: Cluster,
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> MigrateReport {
    let (copy, plan, sending) = try prepared(options, on: cluster)
    if let trigger = copy.live.objects.first(where: { $0.isOf(ledger) && $0.kind == .trigger }) {
      throw Failure(
        .invalidInput,
        "the trigger `\(trigger.name)` belongs to `\(ledger)`, and dqlite cannot write the ledger "
          + "without firing it. Nothing changed", remedy: "Drop the trigger")
    }
    if let refusal = sending.refusals.first { throw refusal }
    var migration = RemoteMigration(
      project: self, options: options, cluster: cluster, onEvent: onEvent,
      unknown: copy.live.promised(besides: ledger).subtracting(copy.recreatedObjects),
      hasLedger: plan.hasLedger)
    return migration.run(plan, sending.plans)
  }
}

/// A run of `migrate` on a cluster: one transaction after the other. A transaction starts again if the leader
/// is lost.
private struct RemoteMigration {
  let project: Project
  let options: MigrateOptions
  let cluster: Cluster
  let onEvent: (MigrateEvent) -> Void
  let unknown: Set<SchemaObject>
  var hasLedger: Bool
  var report = MigrateReport()

  mutating func run(_ plan: PlanReport, _ plans: [RemotePlan]) -> MigrateReport {
    report.beyond = plan.beyond
    report.isHistoryEmpty = plan.isHistoryEmpty
    report.drift = plan.drift
    do throws(Failure) {
      try adopt(plan.adopted)
      for (index, plan) in plans.enumerated() {
        onEvent(.started(id: plan.migration.id, number: index + 1, of: plans.count))
        try apply(plan)
        onEvent(.committed(ids: [plan.migration.id]))
      }
      report.failure = plan.failure
    } catch {
      report.failure = error
    }
    report.failedFrozen = project.holdsFrozen(report.failure)
    return report
  }

  /// Writes the ledger rows of the migrations that another tool has applied.
  private mutating func adopt(_ rows: [LedgerRow]) throws(Failure) {
    guard !rows.isEmpty else { return }
    let creates = !hasLedger
    let ledger = project.ledger
    try cluster.ask { (leader) throws(DatabaseError) in
      // An earlier attempt may have written the rows, and its answer may have been lost.
      let written = try leader.ids(in: ledger)
      guard !rows.allSatisfy({ written.contains($0.id) }) else { return }
      try leader.execute("BEGIN IMMEDIATE")
      if creates { try leader.execute(ledger.createStatement) }
      for row in rows { try leader.execute(row.insertStatement(into: ledger)) }
      try leader.execute("COMMIT")
    }
    hasLedger = true
    report.adopted = rows.map(\.id)
  }

  /// Runs one migration, and runs it again after each loss of the leader, until it is committed or the time
  /// is up.
  private mutating func apply(_ plan: RemotePlan) throws(Failure) {
    let id = plan.migration.id
    /// The time since the first failed attempt.
    var time: Stopwatch?
    var isUncertain = false
    while true {
      let failure: Failure
      do {
        let leader = try cluster.leader()
        if time != nil, try hasRun(plan, leader) {
          // If the result of an earlier COMMIT is unknown, this run probably applied the migration. Otherwise
          // another process has applied it.
          if isUncertain { note(plan, milliseconds: 0) }
          return
        }
        let milliseconds = try RemoteTransaction(
          plan: plan, leader: leader, unknown: unknown, ledger: project.ledger,
          createsLedger: !hasLedger,
          redactsValues: options.redactsValues, interruption: cluster.interruption,
          onEvent: onEvent
        ).run()
        hasLedger = true
        return note(plan, milliseconds: milliseconds)
      } catch AttemptError.hasLedgerRow {
        // The process that wrote the row has committed.
        hasLedger = true
        failure = Failure(
          .busy, "another process migrates `\(cluster.address.text)`", remedy: "Try again later")
      } catch AttemptError.busy(let error) {
        failure = cluster.failure(error)
      } catch AttemptError.leaderLost(let error, let isCommitLost) {
        cluster.disconnect()
        isUncertain = isUncertain || isCommitLost
        failure = cluster.failure(error)
      } catch AttemptError.failed(let failure) {
        cluster.disconnect()
        throw failure
      } catch {
        throw given(
          up: id, isUncertain, after: Failure(of: error, database: cluster.address.text))
      }
      let waiting = time ?? Stopwatch()
      time = waiting
      guard waiting.seconds < cluster.timeout else {
        throw given(up: id, isUncertain, after: failure)
      }
      try cluster.pause(since: waiting)
    }
  }

  private mutating func given(
    up id: String, _ isUncertain: Bool, after failure: Failure
  ) -> Failure {
    guard isUncertain else { return failure }
    report.uncertain = [id]
    return Failure(uncertain: [id], after: failure)
  }

  /// Whether the ledger of the current leader contains the migration.
  private mutating func hasRun(
    _ plan: RemotePlan, _ leader: NodeConnection
  ) throws(AttemptError) -> Bool {
    do {
      let ids = try leader.ids(in: project.ledger)
      if !ids.isEmpty { hasLedger = true }
      return ids.contains(plan.migration.id)
    } catch {
      throw error.asksForAnotherLeader
        ? .leaderLost(error, isUncertain: false) : .failed(cluster.failure(error))
    }
  }

  private mutating func note(_ plan: RemotePlan, milliseconds: Int64) {
    report.applied.append(
      AppliedMigration(
        id: plan.migration.id, milliseconds: milliseconds,
        strategies: plan.planned.operations.map(\.plan.strategy)))
  }
}

extension NodeConnection {
  /// Returns the ids of the migrations in the ledger; empty without a ledger.
  fileprivate func ids(in ledger: Ledger) throws(DatabaseError) -> Set<ExactText> {
    guard try sql(ofTable: ledger.table.text) != nil else { return [] }
    return Set(
      try rows("SELECT id FROM main.\(ledger.name)").compactMap { $0[0].text?.exact })
  }
}
