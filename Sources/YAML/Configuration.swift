import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite

/// `schemactl.yaml`. Paths are as written: relative to the folder of the file.
package struct Configuration: Sendable {
  package var migrations = "migrations"
  package var database: String?
  /// The folder of the application's queries; nil: `queries` beside the migrations, if it exists.
  package var queries: String?
  /// The file that holds the current schema in SQL; nil: none.
  package var schema: String?
  /// Where databases record what they have run.
  package var ledger = Ledger.usual
  /// For every lock, in seconds.
  package var timeout = 5.0
  /// The limits of a replay.
  package var replay = WorkLimit()
  /// The oldest SQLite that the application supports.
  package var minimumSQLite: SQLiteVersion?
  package var sync = SyncConfiguration()
  package var functions: [DeclaredFunction] = []
  package var collations: [String] = []
  package var rules: [RuleSetting] = []
  /// The file of the findings that lint does not report.
  package var baseline: String?
  /// Whether `migrate` makes a backup every time.
  package var backup: BackupConfiguration?
  /// Globs of live objects that are not ours.
  package var ignore: [String] = []

  /// SQLite counts the milliseconds of a busy timeout in 32 bits.
  package static let maximumTimeout = 2_147_483.0

  package init() {}
}

/// What syncs the database between devices; it picks the lint profile.
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
  /// Whether the configuration says what syncs.
  package var isGiven = false
  package var engine = SyncEngine.additive
  /// Nil: every table but the local ones.
  package var tables: [String]?
  package var localTables: [String] = []
  package var since: String?
  package var oldestRelease: String?

  package init() {}
}

package struct BackupConfiguration: Sendable, Hashable {
  /// Nil: beside the database.
  package var folder: String?
  package var keep: Int?

  package init() {}
}

package enum RuleSeverity: String, Sendable, CaseIterable {
  case error, warning, note, off
}

/// A rule's severity as the configuration sets it. Whether there is such a rule, lint knows.
package struct RuleSetting: Sendable {
  package let rule: String
  package let severity: RuleSeverity
  package let position: Position
}

/// Reads `schemactl.yaml`. An empty file is the default configuration.
///
/// - Parameter file: how diagnostics name the file.
/// - Throws: every problem of the file, in the order of their positions.
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
  let fields = Fields(root)
  let configuration = decoder.configuration(fields)
  try throwIfAny(
    document.diagnostics + validator.diagnostics
      + decoder.problems(ofLedger: fields["ledger_table"], file))
  return configuration
}

extension ManifestDecoder {
  fileprivate func configuration(_ fields: Fields) -> Configuration {
    var configuration = Configuration()
    if let migrations = fields["migrations"] { configuration.migrations = text(migrations) }
    configuration.database = fields["database"].map(text)
    configuration.queries = fields["queries"].map(text)
    configuration.schema = fields["schema"].map(text)
    if let node = fields["ledger_table"] {
      configuration.ledger = Ledger(table: text(node).identifier)
    }
    if let seconds = number(fields["timeout"]) { configuration.timeout = seconds }
    if let node = fields["replay"] { configuration.replay = replay(Fields(node)) }
    configuration.minimumSQLite = fields["minimum_sqlite"].flatMap { SQLiteVersion(text($0)) }
    if let node = fields["sync"] { configuration.sync = sync(Fields(node)) }
    configuration.functions = fields.elements("functions").map { function(Fields($0)) }
    configuration.collations = names(fields["collations"])
    configuration.rules = (fields["lint"].flatMap { Fields($0)["rules"] }?.entries ?? [])
      .compactMap(ruleSetting)
    configuration.baseline = fields["lint"].flatMap { Fields($0)["baseline"] }.map(text)
    configuration.backup = fields["backup"].map(backup)
    configuration.ignore = names(fields["ignore"])
    return configuration
  }

  fileprivate func problems(ofLedger node: Node?, _ file: String) -> [Diagnostic] {
    guard let node, let problem = Ledger.problem(ofName: text(node)) else { return [] }
    return [Diagnostic(file: file, position: node.position, message: "`ledger_table` \(problem)")]
  }

  private func sync(_ fields: Fields) -> SyncConfiguration {
    var sync = SyncConfiguration()
    sync.isGiven = true
    sync.engine = choice(fields["engine"]) ?? .additive
    sync.tables = fields["tables"].map(names)
    sync.localTables = names(fields["local_tables"])
    sync.since = fields["since"].map(text)
    sync.oldestRelease = fields["oldest_release"].map(text)
    return sync
  }

  private func replay(_ fields: Fields) -> WorkLimit {
    var replay = WorkLimit()
    if let seconds = number(fields["seconds"]) { replay.seconds = seconds }
    if case .integer(let count) = fields["megabytes"].map(literal) { replay.megabytes = Int(count) }
    return replay
  }

  private func number(_ node: Node?) -> Double? {
    switch node.map(literal) {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  private func backup(_ node: Node) -> BackupConfiguration {
    let fields = Fields(node)
    var backup = BackupConfiguration()
    backup.folder = fields["path"].map(text)
    if case .integer(let count) = fields["keep"].map(literal) { backup.keep = Int(count) }
    return backup
  }

  private func function(_ fields: Fields) -> DeclaredFunction {
    guard case .integer(let arguments) = fields["arguments"].map(literal) else {
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
