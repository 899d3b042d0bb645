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

extension Failure.Place? {
  fileprivate var members: JSON {
    ["file": self?.file, "line": self?.position?.line, "column": self?.position?.column]
  }
}

extension Diagnostic: JSONConvertible {
  package var json: JSON {
    [
      "message": message, "help": help, "file": file, "line": position?.line,
      "column": position?.column,
    ]
  }
}

extension Failure: JSONConvertible {
  /// The value of the member `error`.
  var error: JSON {
    ["code": Int(status.rawValue)] + json
      + (diagnostics.isEmpty ? [:] : ["diagnostics": diagnostics])
  }

  /// The value of the member `failed`.
  package var json: JSON { json(adding: nil) }

  /// - Parameter advice: the advice of the command, if the failure itself has none.
  fileprivate func json(adding advice: String?) -> JSON {
    [
      "id": migration?.id, "operation": migration?.operation, "statement": migration?.statement,
      "message": message, "help": remedy ?? diagnostics.first?.help ?? advice,
    ] + place.members
  }

  /// The member `error`, if the exit status of the failure is 64 or higher; otherwise no members.
  var errorMember: JSON { status.isResult ? [:] : ["error": error] }
}

// MARK: Databases

/// Reports the applied migrations even if the run failed later. The failure is an additional member.
extension MigrateReport: JSONConvertible {
  package var json: JSON {
    (failure?.errorMember ?? [:]) + [
      "applied": applied, "failed": failure?.json(adding: advice), "backup": backup,
      "created": created, "drift": drift,
      "beyond": beyond?.applied ?? [], "adopted": adopted, "draftCopy": draftCopy,
      "integrityCheck": integrityCheck,
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

/// Returns the document of a restore. Without a report, nothing was restored.
func restoration(_ report: Restore.Report? = nil, _ status: StatusReport? = nil) -> JSON {
  [
    "restored": report?.backup, "setAside": report?.setAside, "current": report?.current,
    "pending": status?.pending, "ledger": status?.ledger,
  ]
}

extension Backups.Entry: JSONConvertible {
  package var json: JSON {
    [
      "file": backup.path, "madeAt": backup.madeAt, "bytes": backup.bytes, "last": rows?.last?.id,
      "readable": rows != nil, "firstRunAt": rows?.first?.startedAt,
    ]
  }
}

extension StatusReport: JSONConvertible {
  package var json: JSON {
    let applied = applied.map { row -> JSON in
      [
        // A migration that another tool applied has no ledger row yet, and no time.
        "id": row.id, "appliedAt": adoptable == 0 ? row.startedAt : nil,
        "milliseconds": row.milliseconds, "adopted": row.isAdopted, "toolVersion": row.toolVersion,
      ]
    }
    let repairs = repairs.map {
      ["at": $0.at, "id": $0.id, "as": $0.action, "reason": $0.reason] as JSON
    }
    return [
      "current": current, "pending": pending, "applied": applied, "ledger": ledger,
      "broken": broken.map(\.id), "repairs": repairs, "drift": drift, "failed": failure,
    ]
  }
}

extension LedgerEntry: JSONConvertible {
  package var json: JSON { ["id": id, "state": state.rawValue, "detail": detail] }
}

// MARK: Plans

extension DryRunReport: JSONConvertible {
  package var json: JSON {
    let cost = plan.cost.map { $0.json + ["partial": plan.isCostPartial] }
    return (failure?.errorMember ?? [:]) + [
      "migrations": plan.migrations, "cost": cost, "script": script, "failed": failure,
      "beyond": plan.beyond?.applied ?? [], "adopted": plan.adopted.map(\.id), "drift": plan.drift,
      "answers": answers, "notes": notes,
    ]
  }
}

extension RehearsalReport: JSONConvertible {
  package var json: JSON {
    (run.failure?.errorMember ?? [:]) + [
      "migrations": [String](), "script": JSON.null, "failed": run.failure,
      "beyond": run.beyond?.applied ?? [], "adopted": run.adopted, "drift": run.drift,
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
      "explanation": plan.explanation, "why": plan.why, "work": work.kind.rawValue, "cost": cost,
    ]
  }
}

extension Cost: JSONConvertible {
  package var json: JSON {
    ["rowsRead": rowsRead, "rowsWritten": rowsWritten, "extraDisk": extraDisk]
  }
}

extension DryRunReport.Answer: JSONConvertible {
  package var json: JSON {
    ["migration": migration, "question": question, "obstacle": obstacle, "asked": isAsked]
  }
}

// MARK: The history

extension VerifyReport: JSONConvertible {
  package var json: JSON {
    (failure?.errorMember ?? [:]) + [
      "ok": status == .success, "history": historyJSON, "ledger": ledger ?? [],
      "drift": drift ?? [], "failed": failure, "notes": notes, "lock": lock,
    ]
  }

  var historyJSON: [JSON] {
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

extension PendingReplay: JSONConvertible {
  package var json: JSON {
    ["ok": failure == nil, "migrations": steps.count]
  }
}

// MARK: Lint

extension LintReport: JSONConvertible {
  package var json: JSON {
    let report: JSON = [
      "profile": profile.rawValue, "findings": findings, "summary": summary,
      "failed": failure ?? data?.failure, "data": data, "queries": queries, "notes": notes,
    ]
    let fixed = fixes?.map { fix -> JSON in
      [
        "rule": fix.rule, "migration": fix.migration, "file": fix.file, "line": fix.line,
        "column": fix.column, "message": fix.correctionInWords,
      ]
    }
    return (failure?.errorMember ?? [:]) + report + (fixed.map { ["fixed": $0] } ?? [:])
  }
}

extension LintReport.Summary: JSONConvertible {
  package var json: JSON {
    ["errors": errors, "warnings": warnings, "notes": notes, "waived": suppressed]
  }
}

extension Finding: JSONConvertible {
  package var json: JSON {
    [
      "rule": rule, "severity": severity.rawValue, "message": message, "file": file, "line": line,
      "column": column, "migration": migration, "object": object, "waived": isSuppressed,
      "reason": reason, "help": help, "fix": fix, "fixPlace": fix.map { _ in fixPlace.rawValue },
      "frozen": isFrozen,
    ]
  }
}

extension DataReport: JSONConvertible {
  package var json: JSON {
    let tables = tables.map { ["table": $0.name, "before": $0.before, "after": $0.after] as JSON }
    return ["database": database, "applied": applied, "tables": tables]
  }
}

// MARK: Schemas

extension SchemaChange: JSONConvertible {
  package var json: JSON {
    [
      "kind": kind.rawValue, "object": object, "change": change.rawValue, "expected": expected,
      "actual": actual,
    ]
  }
}

extension Schema: JSONConvertible {
  package var json: JSON {
    ["objects": withoutShadowTables().objects, "manifest": manifestText(operations)]
  }
}

extension SchemaObject: JSONConvertible {
  package var json: JSON { ["kind": kind.rawValue, "name": name, "table": table, "sql": sql] }
}

extension StoredTable: JSONConvertible {
  package var json: JSON {
    let columns = columns.map { column -> JSON in
      [
        "name": column.name, "type": column.type, "nullable": isNullable(column),
        "default": column.defaultText, "generated": column.isGenerated,
      ]
    }
    let keys = foreignKeys.map { key -> JSON in
      [
        "columns": key.columns, "table": key.table, "parentColumns": key.parentColumns,
        "onDelete": key.onDelete, "onUpdate": key.onUpdate,
      ]
    }
    return [
      "name": name, "kind": isView ? "view" : "table", "strict": isStrict, "columns": columns,
      "primaryKey": primaryKey, "unique": unique, "foreignKeys": keys,
    ]
  }
}
