import SchemaManifest

extension Grammar {
  package static let configuration = MappingRule(
    "the configuration",
    [
      .optional("migrations", .text(.filled), "The folder of the manifests."),
      .optional("database", .text(.filled), "The database file."),
      .optional(
        "queries", .text(.filled),
        "The folder of the application's queries, `*.sql`; `queries` beside the migrations when absent."
      ),
      .optional(
        "schema", .text(.filled),
        "A file that schemactl keeps equal to the current schema in SQL, such as `schema.sql`."),
      .optional(
        "timeout", .number(0...Configuration.maximumTimeout),
        "How many seconds to wait for a lock."),
      .optional(
        "minimum_sqlite", .text(.version), "The oldest SQLite that the application meets."),
      .optional("sync", .mapping(sync), "What syncs the database between devices."),
      .optional(
        "functions", .list(of: .mapping(function), atLeast: 0),
        "SQL functions that the application registers."),
      .optional(
        "collations", .list(of: .text(.name), atLeast: 0),
        "Collations that the application registers."),
      .optional(
        "backup", .either(.consent, backup),
        "Whether `migrate` makes a backup every time: `true`, or where and how many."),
      .optional("replay", .mapping(replay), "Limits of a replay of the history."),
      .optional("lint", .mapping(lintConfiguration), "Which rules of lint hold."),
      .optional(
        "ignore", .list(of: .text(.filled), atLeast: 0),
        "Patterns (globs) of the objects of a live database that are not ours."),
    ])

  private static let sync = MappingRule(
    "`sync`",
    [
      .required(
        "engine", .choice(SyncEngine.allCases.map(\.rawValue)),
        "The engine, or what is known of it."),
      .optional(
        "tables", .list(of: .text(.name), atLeast: 0), "The tables that sync; all when absent."),
      .optional(
        "local_tables", .list(of: .text(.name), atLeast: 0), "The tables that do not sync."),
      .optional(
        "since", .text(.filled),
        "The first migration with which anything synced: what those before it did is judged as local."
      ),
      .optional(
        "oldest_release", .text(.filled), "The oldest release that still runs on a device."),
    ])

  private static let replay = MappingRule(
    "`replay`",
    [
      .optional(
        "seconds", .number(0.1...Configuration.maximumTimeout),
        "Seconds that the statements of a replay may run; 60 when absent."),
      .optional(
        "megabytes", .integer(1...1_000_000),
        "Maximum size of the scratch database and of each value in it, in MB; 512 when absent."),
    ])

  private static let backup = MappingRule(
    "`backup`",
    [
      .optional(
        "path", .text(.filled), "The folder of the backups; beside the database when absent."),
      .optional(
        "keep", .integer(1...1_000_000), "How many of them stay; 5 when absent."),
    ])

  private static let function = MappingRule(
    "a function",
    [
      .required("name", .text(.name), "The function's name."),
      .optional("arguments", .integer(-1...127), "How many arguments it takes; -1: any number."),
    ])

  private static let lintConfiguration = MappingRule(
    "`lint` of the configuration",
    [
      .optional(
        "rules",
        .map(
          key: .text(.name), value: .choice(RuleSeverity.allCases.map(\.rawValue)), atLeast: 0),
        "For each rule its severity."),
      .optional(
        "baseline", .text(.filled),
        "The file of the findings that were there when lint was adopted."),
    ])
}

extension JSONSchema {
  /// Of `schemactl.yaml`.
  package static var configuration: String {
    document(
      "The configuration of schemactl", "schemactl.yaml: each key has a flag, and the flag wins.",
      Grammar.configuration, mayBeEmpty: true)
  }
}
