import SchemaApply
import SchemaAuthoring
import SchemaCopies
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaTimeline
import SchemaTrials
import SchemaYAML

extension Diagnostic: JSONConvertible {
  package var json: JSON {
    ["message": message, "file": file, "line": position?.line, "column": position?.column]
  }
}

extension Failure: JSONConvertible {
  /// The value of `error`.
  var error: JSON {
    let error: JSON = [
      "code": Int(status.rawValue), "message": message, "file": place?.file,
      "line": place?.position?.line, "column": place?.position?.column,
    ]
    return diagnostics.isEmpty ? error : error + ["diagnostics": diagnostics]
  }

  /// The value of `failed`.
  package var json: JSON {
    [
      "id": migration?.id, "operation": migration?.operation, "statement": migration?.statement,
      "message": message, "file": place?.file, "line": place?.position?.line,
      "column": place?.position?.column,
    ]
  }

  /// The member `error`, for a failure with exit status 64 or higher in the middle of a command.
  fileprivate var errorMember: JSON {
    isResult ? [:] : ["error": error]
  }
}

/// Reports the applied migrations even when the run failed afterwards; the failure is a further
/// member.
extension MigrateReport: JSONConvertible {
  package var json: JSON {
    (failure?.errorMember ?? [:]) + [
      "applied": applied, "failed": failure, "backup": backup, "created": created, "drift": drift,
      "beyond": beyond?.applied ?? [], "adopted": adopted, "draftCopy": draftCopy,
      "integrityCheck": integrityCheck,
    ]
  }
}

extension DraftCopy.Reset: JSONConvertible {
  package var json: JSON { ["copy": copy, "setAside": setAside] }
}

extension Schema: JSONConvertible {
  package var json: JSON {
    ["objects": withoutShadowTables().objects, "manifest": manifestText(operations)]
  }
}

extension SchemaObject: JSONConvertible {
  package var json: JSON { ["kind": kind.rawValue, "name": name, "table": table, "sql": sql] }
}

/// A missing report means that nothing was restored.
func restoration(
  _ report: Restore.Report? = nil, _ state: Result<StatusReport, Failure>? = nil
) -> JSON {
  let status = state?.success
  return [
    "restored": report?.backup, "setAside": report?.setAside, "current": report?.current,
    "pending": status?.pending, "ledger": status?.ledger,
  ]
}

extension Backups.Entry: JSONConvertible {
  package var json: JSON {
    [
      "file": backup.path, "madeAt": backup.madeAt, "bytes": backup.bytes, "last": rows?.last?.id,
      "readable": rows != nil, "own": isOwn, "firstRunAt": rows?.first?.startedAt,
    ]
  }
}

extension AppliedMigration: JSONConvertible {
  package var json: JSON {
    [
      "id": id, "milliseconds": milliseconds, "strategy": mainStrategy?.rawValue,
      "strategies": strategies.map(\.rawValue),
    ]
  }

  /// The strategy that changed the most rows.
  private var mainStrategy: Strategy? {
    [.rewrite, .update, .schemaEdit, .sql, .native, .assertion].first(where: strategies.contains)
  }
}

extension DryRunReport: JSONConvertible {
  package var json: JSON {
    (failure?.errorMember ?? [:]) + [
      "migrations": plan.migrations,
      "cost": plan.cost.map { $0.json(isPartial: plan.isCostPartial) },
      "script": script, "failed": failure, "beyond": plan.beyond?.applied ?? [],
      "drift": plan.drift, "answers": answers, "notes": notes,
    ]
  }
}

extension RehearsalReport: JSONConvertible {
  package var json: JSON {
    (run.failure?.errorMember ?? [:]) + [
      "migrations": nothing, "script": JSON.null, "failed": run.failure,
      "beyond": run.beyond?.applied ?? [], "drift": run.drift,
      "copy": ["applied": run.applied, "milliseconds": milliseconds] as JSON,
    ]
  }
}

extension PlannedMigration: JSONConvertible {
  package var json: JSON { ["id": migration.id, "operations": operations] }
}

extension PlannedOperation: JSONConvertible {
  package var json: JSON {
    [
      "operation": plan.operation.name, "strategy": plan.strategy.rawValue,
      "explanation": plan.explanation, "why": plan.why, "work": work.kind.rawValue,
      "cost": cost?.json(),
    ]
  }
}

extension Cost {
  /// - Parameter isPartial: whether the costs of some operations are unknown; nil where that does
  ///   not apply.
  fileprivate func json(isPartial: Bool? = nil) -> JSON {
    ["rowsRead": rowsRead, "rowsWritten": rowsWritten, "extraDisk": extraDisk]
      + (isPartial.map { ["partial": $0] } ?? [:])
  }
}

extension DryRunReport.Answer: JSONConvertible {
  package var json: JSON {
    ["migration": migration, "question": question, "obstacle": obstacle, "asked": isAsked]
  }
}

extension StatusReport: JSONConvertible {
  package var json: JSON {
    [
      "current": current, "pending": pending,
      "applied": applied.map { $0.json(isWritten: adoptable == 0) },
      "ledger": ledger, "broken": broken.map(\.id), "repairs": repairs, "drift": drift,
      "failed": failure,
    ]
  }
}

extension LedgerRow {
  /// - Parameter isWritten: false for a row that the ledger does not have yet.
  fileprivate func json(isWritten: Bool) -> JSON {
    [
      "id": id, "appliedAt": isWritten ? startedAt : nil, "milliseconds": milliseconds,
      "adopted": isAdopted,
      "toolVersion": toolVersion,
    ]
  }
}

extension VerifyReport: JSONConvertible {
  package var json: JSON {
    (failure?.errorMember ?? [:]) + [
      "ok": status == .success, "history": historyJSON, "ledger": ledger ?? [],
      "drift": drift ?? [], "failed": failure, "notes": notes, "lock": lock,
    ]
  }

  fileprivate var historyJSON: [JSON] {
    history.map { entry in
      [
        "id": entry.id, "frozen": entry.frozen, "state": entry.state.rawValue,
        "detail": entry.detail, "edit": edits[entry.id],
      ]
    }
  }
}

extension LockDifference: JSONConvertible {
  package var json: JSON { ["state": kind.rawValue, "against": older, "detail": message] }
}

extension ManifestDiff: JSONConvertible {
  package var json: JSON {
    ["diff": text, "schema": schema, "commit": commit, "restore": restore, "problem": problem]
  }
}

extension CheckReport: JSONConvertible {
  package var json: JSON {
    let errors = problems.map(\.failure).filter { !$0.isResult }
    let worst = ExitStatus.worst(errors.map(\.status))
    return (errors.first { $0.status == worst }.map { ["error": $0.error] } ?? [:]) + [
      "ok": status == .success, "history": history?.historyJSON ?? [],
      "lock": history?.lock ?? [], "profile": lint?.profile.rawValue,
      "findings": lint?.findings ?? [], "summary": lint?.summary, "replay": proof,
      "schema": schema, "failed": failure ?? brokenLock, "errors": errors.map(\.error),
      "notes": notes,
    ]
  }
}

extension CheckReport.SchemaFile: JSONConvertible {
  package var json: JSON { ["file": file, "current": isCurrent] }
}

extension ReplayProof: JSONConvertible {
  package var json: JSON { ["ok": status == .success, "migrations": migrations, "paths": paths] }
}

extension ReplayProof.Path: JSONConvertible {
  package var json: JSON {
    [
      "from": from.migration, "fromRelease": from.release, "through": through.migration,
      "throughRelease": through.release, "ok": isProven, "changes": changes, "failed": failure,
    ]
  }
}

extension LintReport.Summary: JSONConvertible {
  package var json: JSON {
    ["errors": errors, "warnings": warnings, "notes": notes, "waived": suppressed]
  }
}

extension LintReport: JSONConvertible {
  package var json: JSON {
    let report: JSON = [
      "profile": profile.rawValue, "findings": findings, "summary": summary,
      "failed": failure ?? data?.failure, "data": data, "queries": queries, "notes": notes,
    ]
    return (failure?.errorMember ?? [:]) + report + (fixes.map { ["fixed": $0] } ?? [:])
  }
}

extension Fix: JSONConvertible {
  package var json: JSON {
    [
      "rule": rule, "migration": migration, "file": file, "line": line, "column": column,
      "message": message,
    ]
  }
}

extension DataReport: JSONConvertible {
  package var json: JSON { ["database": database, "applied": applied, "tables": tables] }
}

extension DataReport.Table: JSONConvertible {
  package var json: JSON { ["table": name, "before": before, "after": after] }
}

extension Finding: JSONConvertible {
  package var json: JSON {
    [
      "rule": rule, "severity": severity.rawValue, "message": message, "file": file, "line": line,
      "column": column, "migration": migration, "object": object, "waived": isSuppressed,
      "reason": reason, "fix": fix, "fixPlace": fix.map { _ in fixPlace.rawValue },
      "frozen": isFrozen,
    ]
  }
}

extension Renaming: JSONConvertible { package var json: JSON { ["from": from, "to": to] } }

extension LedgerEntry: JSONConvertible {
  package var json: JSON { ["id": id, "state": state.rawValue, "detail": detail] }
}

extension RecordedRepair: JSONConvertible {
  package var json: JSON { ["at": at, "id": id, "as": action, "reason": reason] }
}

extension SchemaChange: JSONConvertible {
  package var json: JSON {
    [
      "kind": kind.rawValue, "object": object, "change": change.rawValue, "expected": expected,
      "actual": actual,
    ]
  }
}
