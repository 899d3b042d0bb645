import SchemaManifest

extension Grammar {
  package static let configuration = MappingRule(
    "the configuration",
    [
      .optional("migrations", .text(.filled), "The folder of the manifests."),
      .optional("database", .text(.filled), "The database file."),
      .optional(
        "queries", .text(.filled),
        "The folder of the application's queries, `*.sql`; default: `queries` beside the "
          + "migrations."
      ),
      .optional(
        "schema", .text(.filled),
        "A file that schemactl keeps equal to the current schema in SQL, such as `schema.sql`."),
      .optional(
        "ledger_table", .text(.name),
        "The table in the database that records the applied migrations; default: `schemactl_migrations`."
      ),
      .optional(
        "timeout", .number(0...Configuration.maximumTimeout),
        "How long to wait for a lock, in seconds; default: 5."),
      .optional(
        "minimum_sqlite", .text(.version), "The oldest SQLite that the application supports."),
      .optional("sync", .mapping(sync), "How the database syncs between devices."),
      .optional(
        "functions", .list(of: .mapping(function), atLeast: 0),
        "SQL functions that the application registers."),
      .optional(
        "collations", .list(of: .text(.name), atLeast: 0),
        "Collations that the application registers."),
      .optional(
        "backup", .either(.consent, backup),
        "Backups in every run of `migrate`: `true`, or the folder and the number of backups."),
      .optional("replay", .mapping(replay), "Limits of a replay of the history."),
      .optional("lint", .mapping(lintConfiguration), "The severities and the baseline of lint."),
      .optional(
        "ignore", .list(of: .text(.filled), atLeast: 0),
        "Patterns (globs) of objects in a database that schemactl ignores."),
    ])

  private static let sync = MappingRule(
    "`sync`",
    [
      .required(
        "engine", .choice(SyncEngine.allCases.map(\.rawValue)),
        "The sync engine."),
      .optional(
        "tables", .list(of: .text(.name), atLeast: 0), "The tables that sync; default: all."),
      .optional(
        "local_tables", .list(of: .text(.name), atLeast: 0), "The tables that do not sync."),
      .optional(
        "since", .text(.filled),
        "The first migration with which anything synced; lint judges earlier ones as `local`."
      ),
      .optional(
        "oldest_release", .text(.filled), "The oldest release that still runs on a device."),
    ])

  private static let replay = MappingRule(
    "`replay`",
    [
      .optional(
        "seconds", .number(0.1...Configuration.maximumTimeout),
        "The time limit for the statements of a replay, in seconds; default: 60."),
      .optional(
        "megabytes", .integer(1...1_000_000),
        "The size limit of the scratch database and of each value in it, in MB; default: 512."),
    ])

  private static let backup = MappingRule(
    "`backup`",
    [
      .optional(
        "path", .text(.filled), "The folder of the backups; default: beside the database."),
      .optional(
        "keep", .integer(1...1_000_000), "The number of backups to keep; default: 5."),
    ])

  private static let function = MappingRule(
    "a function",
    [
      .required("name", .text(.name), "The function's name."),
      .optional("arguments", .integer(-1...127), "The number of arguments; -1: any number."),
    ])

  private static let lintConfiguration = MappingRule(
    "`lint` of the configuration",
    [
      .optional(
        "rules",
        .map(
          key: .text(.name), value: .choice(RuleSeverity.allCases.map(\.rawValue)), atLeast: 0),
        "The severity of each rule."),
      .optional(
        "baseline", .text(.filled),
        "The file of accepted findings."),
    ])
}

extension JSONSchema {
  /// Of `schemactl.yaml`.
  package static var configuration: String {
    document(
      "The configuration of schemactl", "schemactl.yaml. Options on the command line override it.",
      Grammar.configuration, mayBeEmpty: true)
  }
}
