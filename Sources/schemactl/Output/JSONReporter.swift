import SchemaApply
import SchemaAuthoring
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaPreview
import SchemaTimeline
import SchemaTrials
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaYAML

/// Prints one JSON document on standard output, and nothing on standard error (docs/json).
final class JSONReporter: Reporter {
  private let output: Output
  /// Warnings so far, for the `notes` of documents that have them.
  private var warnings: [String] = []

  init(_ output: Output) {
    self.output = output
  }

  func report(_ event: Event) {
    if case .warning(let text) = event { warnings.append(text) }
    guard case .object(let members)? = document(event) else { return }
    let noted = members.map { key, value in
      guard key == "notes", case .array(let notes) = value else { return (key, value) }
      return (key, JSON.array(warnings.map(JSON.string) + notes))
    }
    output.write(JSON.object(noted).line)
  }

  /// Nil for an event that is not a result.
  private func document(_ event: Event) -> JSON? {
    switch event {
    // One document only: the plan of a repair is in the document that reports the repair.
    case .note, .warning, .progress, .repair(_, isDone: false), .refusedScript: nil
    case .stopped(let failure, let command):
      failure.isResult ? emptyDocument(of: command, failure) : ["error": failure.error]
    case .migrated(let report, let options): report.json + ["reset": options.reset]
    case .planned(let report, _, _): report.json
    case .tried(let report, _): report.json
    case .restored(let report, let state, _): restoration(report, state)
    case .backups(let backups, _): restoration() + ["backups": backups]
    case .stands(let report, _, _): report.json
    case .verified(let report, _, _): report.json
    case .checked(let report): report.json
    case .compared(let report, _):
      differences(report.changes, isEqual: report.changes.isEmpty)
        + ["hasLedger": report.hasLedger, "ledger": report.ledger]
    case .differs(let changes, _, _): differences(changes, isEqual: changes.isEmpty)
    case .inspected(let schema, let tables, _): schema.json + ["tables": tables]
    case .wroteSchema(let file): ["schema": file]
    case .initialized(let files, let report, let ledgers, _):
      ["files": files, "at": report?.at, "replaced": ledgers.map(\.table)] + adoption(report)
    case .adopted(let report, _):
      ["at": report.at, "unchecked": report.unchecked] + adoption(report)
    case .linted(let report): report.json
    case .created(let id, let file): ["id": id, "file": file]
    case .wroteBaseline(let file, let findings): ["baseline": file, "findings": findings]
    case .explained(let rule, let text): ["rule": rule, "explanation": text]
    case .refused(let report):
      emptyDocument(
        of: "freeze", Failure(.finding, "lint finds errors: schemactl froze nothing"))
        + ["findings": report.findings, "summary": report.summary]
    case .frozen(let report, let release, let file):
      [
        "frozen": report.frozen, "release": report.frozen.isEmpty ? nil : release, "file": file,
        "repair": report.repair?.rawValue, "inserted": report.inserted,
      ]
    case .accepted(let id, let reason, let file):
      [
        "frozen": [String](), "release": JSON.null, "file": file,
        "accepted": ["id": id, "reason": reason] as JSON,
      ]
    case .imported(let report): report.json
    case .squashed(let squashing, let folder):
      [
        "id": squashing.id, "file": folder.file(ofMigration: squashing.id),
        "replaced": squashing.replaced, "rows": squashing.rows, "releases": squashing.releases,
        "laterRowsCompared": squashing.areLaterRowsCompared,
      ]
    case .generated(let text, let file, let isStale):
      ["file": file, "stale": isStale, "text": text]
    case .bundled(let report, let file):
      ["file": file, "migrations": report.migrations, "drafts": report.drafts]
    case .fleet(let event): event.json
    case .renumbered(let renamings, let isRehearsal):
      ["renamed": renamings, "dryRun": isRehearsal]
    case .repair(let plan, isDone: true):
      [
        "repaired": plan.repair.id, "as": plan.repair.action.rawValue, "ledger": plan.after,
        "drift": plan.drift,
      ]
    }
  }
}

let nothing = [String]()

/// The document of a command that failed without a result.
private func emptyDocument(of command: String?, _ failure: Failure) -> JSON {
  let members: JSON =
    switch command {
    case "migrate": MigrateReport().json
    case "plan": ["migrations": nothing, "script": JSON.null]
    case "status": ["current": JSON.null, "pending": nothing, "applied": nothing]
    case "verify": ["ok": false, "history": nothing, "ledger": nothing, "drift": nothing]
    case "diff": differences([], isEqual: false)
    case "new": ["id": JSON.null, "file": JSON.null]
    case "inspect": ["objects": nothing, "manifest": JSON.null, "tables": nothing]
    case "import": ["tool": JSON.null, "migrations": nothing, "notes": nothing]
    case "squash": ["id": JSON.null, "file": JSON.null, "replaced": nothing]
    case "generate": ["file": JSON.null, "stale": false, "text": JSON.null]
    case "bundle": ["file": JSON.null, "migrations": 0, "drafts": nothing]
    case "init": ["files": nothing, "at": JSON.null] + adoption(nil)
    case "adopt": ["at": JSON.null] + adoption(nil)
    case "lint": ["profile": JSON.null, "findings": nothing, "summary": JSON.null]
    case "freeze": ["frozen": nothing, "release": JSON.null, "file": JSON.null]
    case "renumber": ["renamed": nothing]
    case "repair": ["ledger": nothing]
    case "restore": restoration()
    default: [:]
    }
  guard case .object(let all) = members else { return members }
  return .object(all.filter { $0.0 != "failed" }) + ["failed": failure]
}

private func differences(_ changes: [SchemaChange], isEqual: Bool) -> JSON {
  ["equal": isEqual, "changes": changes]
}

private func adoption(_ report: AdoptReport?) -> JSON {
  ["adopted": report?.adopted ?? nothing, "pending": report?.pending ?? nothing]
}
