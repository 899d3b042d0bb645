import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// The content of `schemactl.yaml`. Paths are unchanged: they are relative to the folder of the file.
package struct Configuration: Sendable {
  package var migrations = "migrations"
  /// The position of `migrations` in the file; nil without it.
  package var migrationsPosition: Position?
  package var database: String?
  /// The folder of the application's queries; nil for `queries` beside the migrations, if it exists.
  package var queries: String?
  /// The file that contains the current schema in SQL; nil for none.
  package var schema: String?
  /// The table in which databases record their applied migrations.
  package var ledger = Ledger.usual
  /// The time to wait for each lock, in seconds.
  package var timeout = 5.0
  /// The limits of a replay.
  package var replay = WorkLimit()
  /// The oldest SQLite that the application supports.
  package var minimumSQLite: SQLiteVersion?
  package var sync = SyncConfiguration()
  package var functions: [DeclaredFunction] = []
  package var collations: [String] = []
  package var rules: [RuleSetting] = []
  /// The file with the findings that lint does not report.
  package var baseline: String?
  /// The backups that every run of `migrate` makes; nil for none.
  package var backup: BackupConfiguration?
  /// Globs of live objects that do not belong to the history.
  package var ignore: [String] = []

  /// SQLite counts the milliseconds of a busy timeout in 32 bits.
  package static let maximumTimeout = 2_147_483.0

  package init() {}
}

extension Configuration {
  /// `schemactl.yaml`, `../schemactl.yaml` and so on, up to the root; nil if none exists.
  package static func nearestFile() throws(FileError) -> String? {
    let depth = (try? resolvedPath("."))?.split(separator: "/").count ?? 0
    for level in 0...depth {
      let file = String(repeating: "../", count: level) + "schemactl.yaml"
      if access(file, F_OK) == 0 { return file }
      let problem = errno
      if FileStatus(file, followingLinks: false) != nil {
        throw FileError.brokenLink(file, systemError: problem)
      }
      // After any other error a configuration may exist. That of a parent folder must not replace it.
      guard [ENOENT, ENOTDIR, EACCES].contains(problem) else {
        throw FileError(path: file, systemError: problem)
      }
    }
    return nil
  }
}

extension Application {
  /// The application that a configuration describes.
  package init(_ configuration: Configuration) {
    self.init(
      declaredFunctions: configuration.functions, declaredCollations: configuration.collations)
    ledger = configuration.ledger
    declare(configuration.sync.engine.functions)
    limit = configuration.replay
  }
}

/// The engine that syncs the database between devices. It selects the lint profile.
package enum SyncEngine: String, Sendable, CaseIterable {
  case none
  /// An unknown engine may sync the database.
  case additive
  case sqliteData = "sqlite-data"
  case crSQLite = "cr-sqlite"

  /// The functions that the engine registers on the app's connections and a schema may call.
  package var functions: [DeclaredFunction] {
    let names: [String] =
      switch self {
      case .none, .additive: []
      case .sqliteData: ["sqlitedata_icloud_syncEngineIsSynchronizingChanges"]
      case .crSQLite:
        ["crsql_internal_sync_bit", "crsql_begin_alter", "crsql_commit_alter", "crsql_as_crr"]
      }
    return names.map { DeclaredFunction(name: $0) }
  }
}

package struct SyncConfiguration: Sendable {
  package var engine = SyncEngine.additive
  /// The synced tables; nil for all tables except the local ones.
  package var tables: [PlacedName]?
  package var localTables: [PlacedName] = []
  package var since: PlacedName?
  package var oldestRelease: PlacedName?
}

/// A name in the configuration, with its position. Lint checks whether it is known.
package struct PlacedName: Sendable {
  package let text: String
  package let position: Position
}

package struct BackupConfiguration: Sendable, Hashable {
  /// The folder of the backups; nil for the folder of the database.
  package var folder: String?
  package var keep: Int?
}

package enum RuleSeverity: String, Sendable, CaseIterable {
  case error, warning, note, off
}

/// A rule's severity in the configuration. Lint checks whether the rule exists.
package struct RuleSetting: Sendable {
  package let rule: String
  package let severity: RuleSeverity
  package let position: Position
}

/// Reads `schemactl.yaml`. An empty file is the default configuration.
///
/// - Parameter file: the name of the file in diagnostics.
/// - Throws: every problem of the file, in the order of the positions.
package func decodeConfiguration(
  _ bytes: [UInt8], file: String
) throws(InvalidInput) -> Configuration {
  let document = try YAMLReader.read(bytes, file: file)
  guard let root = document.root, !root.isNull else {
    try throwIfAny(document.diagnostics)
    return Configuration()
  }
  var validator = Validator(file: file)
  validator.check(root, .mapping(Grammar.configuration), .whole("the configuration"))
  let decoder = ManifestDecoder(source: document.source, file: file)
  let configuration = decoder.configuration(root)
  try throwIfAny(
    document.diagnostics + validator.diagnostics
      + decoder.problems(ofLedger: root["ledger_table"], file)
      + decoder.problems(ofSync: root["sync"], file))
  return configuration
}

extension ManifestDecoder {
  fileprivate func configuration(_ fields: Node) -> Configuration {
    var configuration = Configuration()
    if let migrations = fields["migrations"] {
      configuration.migrations = text(migrations)
      configuration.migrationsPosition = migrations.position
    }
    configuration.database = fields["database"].map(text)
    configuration.queries = fields["queries"].map(text)
    configuration.schema = fields["schema"].map(text)
    if let node = fields["ledger_table"] {
      configuration.ledger = Ledger(table: text(node).identifier)
    }
    if let seconds = number(fields["timeout"]) { configuration.timeout = seconds }
    if let node = fields["replay"] { configuration.replay = replay(node) }
    configuration.minimumSQLite = fields["minimum_sqlite"].flatMap { SQLiteVersion(text($0)) }
    if let node = fields["sync"] { configuration.sync = sync(node) }
    configuration.functions = fields.elements("functions").map { function($0) }
    configuration.collations = names(fields["collations"])
    configuration.rules = (fields["lint"]?["rules"]?.entries ?? [])
      .compactMap(ruleSetting)
    configuration.baseline = fields["lint"]?["baseline"].map(text)
    configuration.backup = fields["backup"].map(backup)
    configuration.ignore = names(fields["ignore"])
    return configuration
  }

  fileprivate func problems(ofLedger node: Node?, _ file: String) -> [Diagnostic] {
    guard let node, let problem = Ledger.problem(ofName: text(node)) else { return [] }
    return [Diagnostic(file: file, position: node.position, message: "`ledger_table` \(problem)")]
  }

  fileprivate func problems(ofSync node: Node?, _ file: String) -> [Diagnostic] {
    guard let node, let tables = node["tables"], tables.elements?.isEmpty != true else {
      return []
    }
    if sync(node).engine == .none {
      return [
        Diagnostic(
          file: file, position: node.position(of: "tables"),
          message: "with `engine: none` no table syncs: remove `tables`, or name another engine")
      ]
    }
    let synced = Set((tables.elements ?? []).map { text($0).identifier })
    return node.elements("local_tables").filter { synced.contains(text($0).identifier) }.map {
      Diagnostic(
        file: file, position: $0.position,
        message: "\(quoted(text($0))) is in `tables`, too: remove it from one of the lists")
    }
  }

  private func sync(_ fields: Node) -> SyncConfiguration {
    var sync = SyncConfiguration()
    sync.engine = choice(fields["engine"]) ?? .additive
    sync.tables = fields["tables"].map { ($0.elements ?? []).map(placedName) }
    sync.localTables = fields.elements("local_tables").map(placedName)
    sync.since = fields["since"].map(placedName)
    sync.oldestRelease = fields["oldest_release"].map(placedName)
    return sync
  }

  private func placedName(_ node: Node) -> PlacedName {
    PlacedName(text: text(node), position: node.position)
  }

  private func replay(_ fields: Node) -> WorkLimit {
    var replay = WorkLimit()
    if let seconds = number(fields["seconds"]) { replay.seconds = seconds }
    if case .integer(let count) = fields["megabytes"].map(value) { replay.megabytes = Int(count) }
    return replay
  }

  private func number(_ node: Node?) -> Double? {
    switch node.map(value) {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  private func backup(_ fields: Node) -> BackupConfiguration {
    var backup = BackupConfiguration()
    backup.folder = fields["path"].map(text)
    if case .integer(let count) = fields["keep"].map(value) { backup.keep = Int(count) }
    return backup
  }

  private func function(_ fields: Node) -> DeclaredFunction {
    guard case .integer(let arguments) = fields["arguments"].map(value) else {
      return DeclaredFunction(name: name(fields["name"]))
    }
    return DeclaredFunction(name: name(fields["name"]), arguments: Int(arguments))
  }

  private func ruleSetting(_ entry: Node.Entry) -> RuleSetting? {
    choice(entry.value).map {
      RuleSetting(rule: entry.key.text, severity: $0, position: entry.key.position)
    }
  }
}

// MARK: Grammar

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
        "The time limit for a lock, in seconds; default: 5."),
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
        "Patterns (globs) of names of unexpected tables, indexes, views and triggers that schemactl "
          + "ignores in a database."),
    ])

  private static let sync = MappingRule(
    "`sync`",
    [
      .required(
        "engine", .choice(SyncEngine.allCases.map(\.rawValue)),
        "The sync engine: `sqlite-data` for SQLiteData with CloudKit."),
      .optional(
        "tables", .list(of: .text(.name), atLeast: 0), "The tables that sync; default: all."),
      .optional(
        "local_tables", .list(of: .text(.name), atLeast: 0), "The tables that do not sync."),
      .optional(
        "since", .text(.filled),
        "The first migration with which anything synced; lint judges earlier migrations as `local`."
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
  /// The schema of `schemactl.yaml`.
  package static var configuration: String {
    document(
      "The configuration of schemactl", "schemactl.yaml. Options on the command line override it.",
      Grammar.configuration, mayBeEmpty: true)
  }
}
