import SchemaApply
import SchemaAuthoring
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaTimeline
import SchemaTrials
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaYAML

/// One JSON document on standard output, and nothing else anywhere (DESIGN: exit codes and JSON).
final class JSONReporter: Reporter {
  private let output: Output
  /// For the notes of the document, where it has any.
  private var warnings: [String] = []

  init(_ output: Output) {
    self.output = output
  }

  func report(_ event: Event) {
    switch event {
    case .note, .progress: break
    case .warning(let text): warnings.append(text)
    case .stopped(let problem): write([("error", problem.json)])
    case .migrated(let report, let options):
      write(report.members + [("reset", options.reset?.json ?? .null)])
    case .rehearsed(let report, _):
      write(
        migration(
          failure: report.failure, drift: report.plan.drift, beyond: report.plan.beyond) + [
            ("plan", report.plan.json), ("answers", .array(report.answers.map(\.json))),
          ])
    case .tried(let report, _):
      write(
        migration(
          failure: report.run.failure, drift: report.run.drift, beyond: report.run.beyond) + [
            (
              "copy",
              .object([
                ("applied", .array(report.run.applied.map(\.json))),
                ("milliseconds", .integer(report.milliseconds)),
              ])
            )
          ])
    case .restored(let report, let state, _): write(restoration(report, state))
    case .backups(let backups, _):
      write(restoration() + [("backups", .array(backups.map(\.json)))])
    case .planned(let report):
      write(report.members + [("drift", .array(report.drift.map(\.json)))])
    case .stands(let report, _): write(report.members)
    case .verified(let report, _, _): write(report.members)
    case .checked(let report): write(report.members)
    case .compared(let report, _):
      write(
        differences(report.changes, isEqual: report.changes.isEmpty)
          + [
            ("hasLedger", .bool(report.hasLedger)),
            ("ledger", .array(report.ledger.map(\.json))),
          ])
    case .differs(let changes, _, _): write(differences(changes, isEqual: changes.isEmpty))
    case .inspected(let schema, let tables, _):
      write(schema.members + [("tables", .array(tables.map(\.json)))])
    case .adopted(let report, _):
      write([
        ("at", .string(report.at)), ("adopted", .list(report.adopted)),
        ("pending", .list(report.pending)),
      ])
    case .imported(let report): write(report.members)
    case .squashed(let squashing, let folder):
      write([
        ("id", .string(squashing.id)), ("file", .string(folder.file(ofMigration: squashing.id))),
        ("replaced", .list(squashing.replaced)), ("rows", .number(squashing.rows)),
        ("releases", .list(squashing.releases)),
      ])
    case .linted(let report): write(report.members)
    case .created(let id, let file): write([("id", .string(id)), ("file", .string(file))])
    case .wroteBaseline(let file, let findings):
      write([("baseline", .string(file)), ("findings", .integer(Int64(findings)))])
    case .explained(let rule, let text):
      write([("rule", .string(rule)), ("explanation", .string(text))])
    case .refused(let report):
      let reason = Failure(.finding, "lint finds errors: nothing was frozen")
      write(
        Event.CommandResult.freeze.members(for: reason)
          + report.members.filter { ["findings", "summary"].contains($0.0) })
    case .frozen(let report, let release, let file):
      write([
        ("frozen", .list(report.frozen)),
        ("release", report.frozen.isEmpty ? .null : .text(release)), ("file", .string(file)),
        ("repair", .text(report.repair?.rawValue)), ("inserted", .list(report.inserted)),
      ])
    case .accepted(let id, let reason, let file):
      write([
        ("frozen", .list([])), ("release", .null), ("file", .string(file)),
        ("accepted", .object([("id", .string(id)), ("reason", .string(reason))])),
      ])
    case .generated(let text, let file, let isStale):
      write([("file", .text(file)), ("stale", .bool(isStale)), ("text", .string(text))])
    case .bundled(let report, let file):
      write([
        ("file", .string(file)), ("migrations", .integer(Int64(report.migrations))),
        ("drafts", .list(report.drafts)),
      ])
    case .rebased(let renamings, let isRehearsal):
      write([("renamed", .array(renamings.map(\.json))), ("dryRun", .bool(isRehearsal))])
    case .ledger(let entries, let rows, let repairs):
      write([
        ("ledger", .array(entries.map { $0.json(rows) })),
        ("repairs", .array(repairs.map(\.json))),
      ])
    // One document only: what was to be recorded stands in the one that says that it was.
    case .repair(_, isDone: false): break
    case .repair(let plan, isDone: true):
      write([
        ("repaired", .string(plan.repair.id)), ("as", .string(plan.repair.action.rawValue)),
        ("ledger", .array(plan.after.map(\.json))), ("drift", .array(plan.drift.map(\.json))),
      ])
    case .fleet(let event): if let members = event.members { write(members) }
    case .failed(let result, let failure): write(result.members(for: failure))
    }
  }

  private func write(_ members: [(String, JSON)]) {
    let members = members.map { key, value in
      guard key == "notes", case .array(let notes) = value else { return (key, value) }
      return (key, JSON.array(warnings.map(JSON.string) + notes))
    }
    output.write(JSON.object(members).line)
  }
}

extension Event.CommandResult {
  /// The command's own keys with nothing in them, and why.
  fileprivate func members(for failure: Failure) -> [(String, JSON)] {
    let failed = ("failed", failure.json)
    switch self {
    case .migrate: return migration(failure: failure)
    case .plan: return [("migrations", .array([])), ("script", .null), failed]
    case .status:
      return [("current", .null), ("pending", .array([])), ("applied", .array([])), failed]
    case .verify:
      return [
        ("ok", .bool(false)), ("history", .array([])), ("ledger", .array([])),
        ("drift", .array([])), failed,
      ]
    case .diff: return differences([], isEqual: false) + [failed]
    case .new: return [("id", .null), ("file", .null), failed]
    case .inspect:
      return [("objects", .array([])), ("manifest", .null), ("tables", .array([])), failed]
    case .adopt:
      return [("at", .null), ("adopted", .array([])), ("pending", .array([])), failed]
    case .lint: return [("profile", .null), ("findings", .array([])), ("summary", .null), failed]
    case .ledger: return [("ledger", .array([])), ("repairs", .array([])), failed]
    case .freeze:
      return [("frozen", .array([])), ("release", .null), ("file", .null), failed]
    case .generate:
      return [("file", .null), ("stale", .bool(false)), ("text", .null), failed]
    case .bundle:
      return [("file", .null), ("migrations", .integer(0)), ("drafts", .array([])), failed]
    case .import:
      return [("tool", .null), ("migrations", .array([])), ("notes", .array([])), failed]
    case .squash: return [("id", .null), ("file", .null), ("replaced", .array([])), failed]
    case .rebase: return [("renamed", .array([])), failed]
    case .restore: return restoration() + [failed]
    }
  }
}

extension Problem {
  /// The value of `error`.
  var json: JSON {
    var members: [(String, JSON)] = [
      ("code", .integer(Int64(status.rawValue))), ("message", .string(message)),
      ("file", .text(place?.file)), ("line", .number(place?.position?.line)),
      ("column", .number(place?.position?.column)),
    ]
    if !diagnostics.isEmpty {
      members.append(
        (
          "diagnostics",
          .array(
            diagnostics.map { diagnostic in
              .object([
                ("message", .string(diagnostic.message)), ("file", .string(diagnostic.file)),
                ("line", .number(diagnostic.position?.line)),
                ("column", .number(diagnostic.position?.column)),
              ])
            })
        ))
    }
    return .object(members)
  }
}

extension Failure {
  /// The value of `failed`.
  var json: JSON {
    .object([
      ("id", .text(migration?.id)), ("operation", .text(migration?.operation)),
      ("statement", .text(migration?.statement)), ("message", .string(message)),
      ("file", .text(place?.file)), ("line", .number(place?.position?.line)),
      ("column", .number(place?.position?.column)),
    ])
  }

  /// `error`, for a failure from 64 up that comes in the middle of a command.
  fileprivate var errorMember: [(String, JSON)] {
    status.rawValue < ExitStatus.usage.rawValue ? [] : [("error", Problem(self).json)]
  }
}

extension MigrateReport {
  fileprivate var members: [(String, JSON)] {
    migration(
      applied: applied, failure: failure, backup: backup, created: created, drift: drift,
      beyond: beyond, adopted: adopted)
      + [("draftCopy", .text(draftCopy)), ("integrityCheck", .text(integrityCheck))]
  }
}

extension DraftCopy.Reset {
  fileprivate var json: JSON {
    .object([
      ("copy", .string(copy)),
      ("setAside", .string(setAside)),
    ])
  }
}

/// What was applied stays, whatever came after it: a failure from 64 up stands beside it.
private func migration(
  applied: [AppliedMigration] = [], failure: Failure?, backup: String? = nil,
  created: Bool = false, drift: [SchemaChange] = [], beyond: Beyond? = nil, adopted: [String] = []
) -> [(String, JSON)] {
  (failure?.errorMember ?? []) + [
    ("applied", .array(applied.map(\.json))), ("failed", failure?.json ?? .null),
    ("backup", .text(backup)), ("created", .bool(created)), ("drift", .array(drift.map(\.json))),
    ("beyond", .list(beyond?.applied ?? [])), ("adopted", .list(adopted)),
  ]
}

extension Schema {
  fileprivate var members: [(String, JSON)] {
    let visible = withoutShadowTables()
    return [
      (
        "objects",
        .array(
          visible.objects.map { object in
            .object([
              ("kind", .string(object.kind.rawValue)), ("name", .string(object.name)),
              ("table", .string(object.table)), ("sql", .text(object.sql)),
            ])
          })
      ), ("manifest", .string(manifestText(operations))),
    ]
  }
}

/// Without a report nothing was restored.
private func restoration(
  _ report: Restore.Report? = nil, _ state: Result<StatusReport, Failure>? = nil
) -> [(String, JSON)] {
  let status = state?.success
  return [
    ("restored", .text(report?.backup)),
    ("setAside", .text(report?.setAside)),
    ("current", .text(report?.current)),
    ("pending", status.map { .list($0.pending) } ?? .null),
    ("ledger", status.map { .array($0.ledger.map(\.json)) } ?? .null),
  ]
}

extension Backups.Entry {
  fileprivate var json: JSON {
    .object([
      ("file", .string(backup.path)), ("madeAt", .string(backup.madeAt)),
      ("bytes", .integer(backup.bytes)), ("last", .text(rows?.last?.id)),
      ("readable", .bool(rows != nil)), ("own", isOwn.map(JSON.bool) ?? .null),
      ("firstRunAt", .text(rows?.first?.startedAt)),
    ])
  }
}

extension AppliedMigration {
  fileprivate var json: JSON {
    .object([
      ("id", .string(id)), ("milliseconds", .integer(milliseconds)),
      ("strategy", .text(mainStrategy?.rawValue)),
      ("strategies", .list(strategies.map(\.rawValue))),
    ])
  }

  /// The one that did most to the rows.
  private var mainStrategy: Strategy? {
    let byWeight: [Strategy] = [
      .rewrite, .update, .schemaEdit, .sql, .native, .assertion,
    ]
    return byWeight.first(where: strategies.contains)
  }
}

extension PlanReport {
  fileprivate var members: [(String, JSON)] {
    (failure?.errorMember ?? []) + [
      ("migrations", .array(migrations.map(\.json))),
      ("cost", cost.map { $0.json(isPartial: isCostPartial) } ?? .null),
      ("script", .string(script)),
      ("failed", failure?.json ?? .null), ("beyond", .list(beyond?.applied ?? [])),
    ]
  }

  fileprivate var json: JSON { .object(members) }
}

extension PlannedMigration {
  fileprivate var json: JSON {
    .object([
      ("id", .string(migration.id)),
      (
        "operations",
        .array(
          operations.indices.map { index in
            let operation = operations[index]
            return .object([
              ("operation", .string(operation.operation.name)),
              ("strategy", .string(operation.strategy.rawValue)),
              ("explanation", .string(operation.explanation)),
              ("why", .string(operation.why)),
              ("work", .string(work[index].kind.rawValue)),
              ("cost", costs[index]?.json() ?? .null),
            ])
          })
      ),
    ])
  }
}

extension Cost {
  /// - Parameter isPartial: whether there is more that nobody can tell; nil where it makes no sense.
  fileprivate func json(isPartial: Bool? = nil) -> JSON {
    .object(
      [
        ("rowsRead", .integer(rowsRead)), ("rowsWritten", .integer(rowsWritten)),
        ("extraDisk", .integer(extraDisk)),
      ] + (isPartial.map { [("partial", .bool($0))] } ?? []))
  }
}

extension DryRunReport.Answer {
  fileprivate var json: JSON {
    .object([
      ("migration", .string(migration)), ("question", .string(question)),
      ("obstacle", .text(obstacle)), ("asked", .bool(isAsked)),
    ])
  }
}

extension StatusReport {
  fileprivate var members: [(String, JSON)] {
    let applied = applied.map { row in
      JSON.object([
        ("id", .string(row.id)), ("appliedAt", .string(row.startedAt)),
        ("milliseconds", .integer(row.milliseconds)),
      ])
    }
    return [
      ("current", .text(current)), ("pending", .list(pending)), ("applied", .array(applied)),
      ("ledger", .array(ledger.map(\.json))), ("broken", .list(broken.map(\.id))),
    ]
  }
}

extension VerifyReport {
  fileprivate var members: [(String, JSON)] {
    return (failure?.errorMember ?? []) + [
      ("ok", .bool(status == .success)), ("history", .array(historyJSON)),
      ("ledger", .array((ledger ?? []).map(\.json))),
      ("drift", .array((drift ?? []).map(\.json))), ("failed", failure?.json ?? .null),
      ("notes", .list(notes)), ("lock", .array(lock.map(\.json))),
    ]
  }
}

extension VerifyReport {
  fileprivate var historyJSON: [JSON] {
    history.map { entry in
      .object([
        ("id", .string(entry.id)), ("frozen", .bool(entry.frozen)),
        ("state", .string(entry.state.rawValue)), ("detail", .string(entry.detail)),
        ("edit", edits[entry.id]?.json ?? .null),
      ])
    }
  }
}

extension LockDifference {
  fileprivate var json: JSON {
    .object([
      ("state", .string(kind.rawValue)), ("against", .string(older)),
      ("detail", .string(message)),
    ])
  }
}

extension ManifestDiff {
  fileprivate var json: JSON {
    .object([
      ("diff", .string(text)), ("schema", .array(schema.map(\.json))), ("commit", .text(commit)),
      ("restore", .text(restore)), ("problem", .text(problem)),
    ])
  }
}

extension CheckReport {
  fileprivate var members: [(String, JSON)] {
    let errors = problems.map(\.problem).filter {
      $0.status.rawValue >= ExitStatus.usage.rawValue
    }
    let worst = ExitStatus.worst(errors.map(\.status))
    let error = errors.first { $0.status == worst }
    var members: [(String, JSON)] = error.map { [("error", $0.json)] } ?? []
    members += [
      ("ok", .bool(status == .success)),
      ("history", .array(history?.historyJSON ?? [])),
      ("lock", .array((history?.lock ?? []).map(\.json))),
      ("profile", .text(lint?.profile.rawValue)),
      ("findings", .array((lint?.findings ?? []).map(\.json))),
    ]
    members += [
      ("summary", lint?.summary.json ?? .null), ("replay", proof?.json ?? .null),
      ("failed", (failure ?? brokenLock)?.json ?? .null), ("errors", .array(errors.map(\.json))),
      ("notes", .list(notes)),
    ]
    return members
  }
}

extension ReplayProof {
  fileprivate var json: JSON {
    .object([
      ("ok", .bool(status == .success)), ("migrations", .number(migrations)),
      ("paths", .array(paths.map(\.json))),
    ])
  }
}

extension ReplayProof.Path {
  fileprivate var json: JSON {
    .object([
      ("from", .string(from.migration)), ("fromRelease", .text(from.release)),
      ("through", .string(through.migration)), ("throughRelease", .text(through.release)),
      ("ok", .bool(isProven)), ("changes", .array(changes.map(\.json))),
      ("failed", failure?.json ?? .null),
    ])
  }
}

extension LintReport.Summary {
  fileprivate var json: JSON {
    .object([
      ("errors", .number(errors)), ("warnings", .number(warnings)), ("notes", .number(notes)),
      ("waived", .number(suppressed)),
    ])
  }
}

extension LintReport {
  fileprivate var members: [(String, JSON)] {
    var members: [(String, JSON)] = failure?.errorMember ?? []
    members += [
      ("profile", .string(profile.rawValue)), ("findings", .array(findings.map(\.json))),
      ("summary", summary.json), ("failed", (failure ?? data?.failure)?.json ?? .null),
      ("data", data?.json ?? .null), ("queries", .number(queries)),
      ("notes", .list(notes)),
    ]
    if let fixes { members.append(("fixed", .array(fixes.map(\.json)))) }
    return members
  }
}

extension Fix {
  fileprivate var json: JSON {
    .object([
      ("rule", .string(rule)), ("migration", .string(migration)), ("file", .string(file)),
      ("line", .number(line)), ("column", .number(column)), ("message", .string(message)),
    ])
  }
}

extension DataReport {
  fileprivate var json: JSON {
    .object([
      ("database", .string(database)), ("applied", .list(applied)),
      ("tables", .array(tables.map(\.json))),
    ])
  }
}

extension DataReport.Table {
  fileprivate var json: JSON {
    .object([
      ("table", .string(name)), ("before", before.map(JSON.integer) ?? .null),
      ("after", after.map(JSON.integer) ?? .null),
    ])
  }
}

extension Finding {
  fileprivate var json: JSON {
    .object([
      ("rule", .string(rule)), ("severity", .string(severity.rawValue)),
      ("message", .string(message)), ("file", .string(file)), ("line", .number(line)),
      ("column", .number(column)), ("migration", .string(migration)), ("object", .text(object)),
      ("waived", .bool(isSuppressed)), ("reason", .text(reason)), ("fix", .text(fix)),
      ("frozen", .bool(isFrozen)),
    ])
  }
}

extension Renaming {
  fileprivate var json: JSON { .object([("from", .string(from)), ("to", .string(to))]) }
}

extension LedgerEntry {
  fileprivate var json: JSON {
    .object([
      ("id", .string(id)), ("state", .string(state.rawValue)), ("detail", .string(detail)),
    ])
  }
}

extension LedgerEntry {
  fileprivate func json(_ rows: [LedgerRow]) -> JSON {
    let row = rows.first { $0.id == id }
    return .object([
      ("id", .string(id)), ("state", .string(state.rawValue)), ("detail", .string(detail)),
      ("appliedAt", .text(row?.startedAt)),
      ("milliseconds", row.map { .integer($0.milliseconds) } ?? .null),
      ("toolVersion", .text(row?.toolVersion)),
    ])
  }
}

extension RecordedRepair {
  fileprivate var json: JSON {
    .object([
      ("at", .string(at)), ("id", .string(id)), ("as", .string(action)),
      ("reason", .string(reason)),
    ])
  }
}

extension SchemaChange {
  var json: JSON {
    .object([
      ("kind", .string(kind.rawValue)), ("object", .string(object)),
      ("change", .string(change.rawValue)), ("expected", .text(expected)),
      ("actual", .text(actual)),
    ])
  }
}

private func differences(_ changes: [SchemaChange], isEqual: Bool) -> [(String, JSON)] {
  [("equal", .bool(isEqual)), ("changes", .array(changes.map(\.json)))]
}
