import SchemaHistory
import SchemaSQLText

extension Rule {
  static let queryNeedsNewerRelease = Rule(
    id: "query-needs-newer-release",
    section: .breaksQueries,
    severities: Severities(.note, .note, .note),
    why: """
      `sync.oldest_release` names the oldest release whose databases are still there, and a query \
      does not compile on its schema. An app migrates its own database before it asks, and then \
      nothing is wrong; a widget, an extension or a tool that opens the database without migrating it \
      must not run the query on one that is so old. It is looked for only where \
      `sync.oldest_release` is given.
      """,
    fix:
      "Migrate before the query runs, or run it only from the release on that the finding names.",
    bad: Rule.Example(
      .local, releases: ["1.0": 1], configuration: "sync: { engine: none, oldest_release: '1.0' }",
      queries: "SELECT id, notes FROM reminders",
      remindersManifest, addNotesManifest),
    good: Rule.Example(
      .local, releases: ["1.0": 2], configuration: "sync: { engine: none, oldest_release: '1.0' }",
      queries: "SELECT id, notes FROM reminders",
      remindersManifest, addNotesManifest),
    check: { timeline, _ in
      timeline.queries.compactMap { verdict in
        guard case .newer(let oldest, let release) = verdict.kind else { return nil }
        let id = timeline.migrations[verdict.migration].id
        return timeline.draft(
          "release \(oldest) does not understand the query: it compiles since \(id), "
            + (release.map { "which release \($0) has" } ?? "which no release has yet"), verdict)
      }
    })
}
