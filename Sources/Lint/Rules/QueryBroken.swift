import SchemaHistory
import SchemaReplay

extension Rule {
  static let queryBroken = Rule(
    id: "query-broken",
    section: .breaksQueries,
    severities: .alwaysError,
    why: """
      The application's queries, `*.sql` in the folder `queries` beside the migrations or in the one \
      that `queries` of schemactl.yaml names, are compiled by SQLite on the schema that the history \
      ends with; nothing runs. One that does not compile fails on every device as soon as the \
      release is there. A name in double quotes that was a column and is none any more still compiles, and \
      is worse: SQLite takes it for a text, and gives every row the same one; where it never was a \
      column, that is a note. Parameters may stand wherever SQLite allows them; what a query needs \
      besides the schema (a temporary table, an attached database) is not there: a comment in its \
      file allows it, `-- schemactl: allow query-broken: reason`.
      """,
    fix: """
      Write the query for the schema as it is now, or change the migration that the finding names. \
      Functions and collations of the application are declared in schemactl.yaml.
      """,
    bad: Rule.Example(
      .local, queries: "SELECT id, titel FROM reminders WHERE isCompleted = :done",
      remindersManifest),
    good: Rule.Example(
      .local, queries: "SELECT id, title FROM reminders WHERE isCompleted = :done",
      remindersManifest),
    check: { timeline, _ in
      timeline.queries.compactMap { verdict in
        guard let breakage = verdict.breakage(timeline) else { return nil }
        var draft = timeline.draft(breakage, verdict)
        // Whoever wrote it may have meant the text.
        if case .holdsQuotedText = verdict.kind { draft.isNote = true }
        return draft
      }
    })
}

extension QueryVerdict {
  /// What is wrong with the query, when it is broken.
  fileprivate func breakage(_ timeline: Timeline) -> String? {
    let id = timeline.migrations[migration].id
    switch kind {
    case .broken(let message, let release):
      let since = release.map { ", and it did so at release \($0)" } ?? ""
      return "the query no longer compiles after \(id)\(since): \(message)"
    case .nameBecameText(let message):
      return
        "the query means something else after \(id): a name in double quotes that nothing has is "
        + "a text to SQLite (\(message))"
    case .neverCompiled(let message):
      return "the query does not compile: \(message)\(advice(on: message))"
    case .holdsQuotedText(let message):
      return
        "a name in double quotes that nothing has is a text to SQLite (\(message)): correct the "
        + "name, or write the text in single quotes"
    case .columnsChanged, .newer: return nil
    }
  }

  private func advice(on message: String) -> String {
    switch MissingName(message: message) {
    case .function(let name)?:
      ". If the application registers \(name), declare it under `functions` in schemactl.yaml"
    case .collation(let name)?:
      ". If the application registers \(name), declare it under `collations` in schemactl.yaml"
    case nil: ""
    }
  }
}

extension Timeline {
  func draft(_ message: String, _ verdict: QueryVerdict) -> Draft {
    Draft(
      message: message, query: verdict.query, isOfQueryAlone: verdict.isOfQueryAlone,
      migration: verdict.migration, operation: nil,
      position: verdict.query.position(ofByte: verdict.offset ?? 0), object: verdict.query.name,
      table: nil, fix: nil)
  }
}
