import SchemaHistory
import SchemaPlanning
import SchemaQueries
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let queryBroken = Rule(
    id: "query-broken",
    section: .breaksQueries,
    severities: .alwaysError,
    why: """
      SQLite compiles the application's queries on the latest schema and on the schemas of the \
      releases, and does not run them. The queries are `*.sql` in the folder `queries` beside the \
      migrations, or in the folder that `queries` in `schemactl.yaml` names. A query that no \
      longer compiles fails on every device. A name in double quotes that is no longer a column \
      still compiles and returns a text instead. A result with other columns than at a release is \
      a warning: code that reads columns by position gets wrong values. `SELECT *` has this effect \
      with each new column.
      """,
    fix: """
      Write the query for the latest schema and name its columns, or change the migration. Declare \
      the app's functions and collations in `schemactl.yaml`. A comment suppresses the finding: \
      `-- schemactl: allow query-broken: reason`.
      """,
    wrong: "SELECT id, titel FROM reminders WHERE isCompleted = :done",
    right: "SELECT id, title FROM reminders WHERE isCompleted = :done",
    check: .queries { verdicts, timeline in
      verdicts.map { verdict in
        Draft(
          message: verdict.message(timeline), query: verdict.query,
          isOfQueryAlone: verdict.isOfQueryAlone, migration: verdict.migration, operation: nil,
          position: verdict.query.position(ofByte: verdict.offset ?? 0),
          object: verdict.query.name, table: nil, fix: nil, severity: verdict.severity)
      }
    })
}

extension QueryVerdict {
  fileprivate var severity: Severity? {
    switch kind {
    case .broken, .nameBecameText, .neverCompiled: nil
    case .columnsChanged(_, _, _, let isReleased): isReleased ? .note : .warning
    // The author may have intended a string.
    case .holdsQuotedText: .note
    }
  }

  fileprivate func message(_ timeline: Timeline) -> String {
    let id = timeline.migrations[migration].id
    switch kind {
    case .broken(let message, let release):
      let since = release.map { "; at release \($0) it did" } ?? ""
      return "the query does not compile after `\(id)`\(since): \(message)"
    case .nameBecameText(let message):
      return "after `\(id)` SQLite reads a name in double quotes as a string (\(message))"
    case .neverCompiled(let message):
      return "the query does not compile: \(message)\(advice(on: message))"
    case .holdsQuotedText(let message):
      return
        "SQLite reads a name in double quotes as a string (\(message)): correct the name, or put "
        + "the string in single quotes"
    case .columnsChanged(let old, let new, let release, _):
      return "`\(id)` changes the query's result: \(difference(old, new)) since release \(release)"
    }
  }

  private func advice(on message: String) -> String {
    switch MissingName(message: message) {
    case .function(let name)?:
      ". If the application registers `\(name)`, declare it under `functions` in `schemactl.yaml`"
    case .collation(let name)?:
      ". If the application registers `\(name)`, declare it under `collations` in `schemactl.yaml`"
    case nil: ""
    }
  }
}

/// Describes new, removed and retyped columns. If only the order changed, lists all columns before
/// and after.
private func difference(
  _ old: [CompiledQuery.Column], _ new: [CompiledQuery.Column]
) -> String {
  func list(_ columns: [CompiledQuery.Column]) -> String {
    columns.map(\.description).joined(separator: ", ")
  }
  let (added, removed) = (
    new.filter { !old.contains($0) }, old.filter { !new.contains($0) }
  )
  switch (added.isEmpty, removed.isEmpty) {
  case (false, true): return "added \(list(added))"
  case (true, false): return "removed \(list(removed))"
  case (false, false): return "\(list(removed)) became \(list(added))"
  case (true, true): return "\(list(old)) became \(list(new))"
  }
}
