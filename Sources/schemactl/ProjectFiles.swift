import SchemaAuthoring
import SchemaInspect
import SchemaLint
import SchemaManifest
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

/// Writes the files of a project other than its manifests, each only if it is missing.
struct ProjectFiles {
  private static let manifestSchema = ".manifest.schema.json"
  private static let configurationSchema = ".schemactl.schema.json"
  static let manifestModeline = "# yaml-language-server: $schema=\(manifestSchema)"

  private let folder: String
  private(set) var written: [String] = []

  init(_ settings: Settings) {
    folder = settings.migrations
  }

  mutating func makeFolder() throws(FileError) {
    if mkdir(folder, 0o777) == 0 {
      written.append(folder)
    } else if errno != EEXIST {
      throw FileError(path: folder, systemError: errno)
    }
  }

  mutating func writeManifestSchema() throws(FileError) {
    try write(JSONSchema.manifest, to: folder + "/" + Self.manifestSchema)
  }

  /// - Parameter engine: nil when the sync engine is unknown.
  mutating func writeConfiguration(engine: SyncEngine?) throws(FileError) {
    try write(JSONSchema.configuration, to: Self.configurationSchema)
    let sync = engine.map { "sync: { engine: \($0.rawValue) }" } ?? "# sync: { engine: none }"
    try write(
      """
      # yaml-language-server: $schema=\(Self.configurationSchema)
      migrations: \(yamlScalar(folder))
      # What syncs the database with other devices: none, additive, sqlite-data or cr-sqlite.
      # Without this key lint assumes `additive`: some device may still run an older release.
      \(sync)

      """, to: "schemactl.yaml")
  }

  private mutating func write(_ text: String, to path: String) throws(FileError) {
    guard access(path, F_OK) != 0 else { return }
    // An unreadable file may belong to somebody, so do not replace it.
    guard errno == ENOENT else { throw FileError(path: path, systemError: errno) }
    try writeFileAtomically(Array(text.utf8), to: path)
    written.append(path)
  }
}

extension Session {
  /// The sync engine from an option or the user's answer; nil if the user cannot be asked.
  func syncEngine() throws -> SyncEngine? {
    let engines = SyncEngine.allCases
    if let profile { return engines.first { Profile($0) == profile } }
    let list = zip(1..., engines).map { "  \($0)  \($1.rawValue): \(Profile($1).meaning)\n" }
    let question = "What syncs this database with other devices?\n\(list.joined())Number [1]: "
    guard let answer = ask(question) else { return nil }
    if answer.isEmpty { return engines.first }
    if let engine = SyncEngine(rawValue: answer) { return engine }
    guard let number = Int(answer), engines.indices.contains(number - 1) else {
      throw usageError(
        "'\(answer.visible)' is not one of the answers", hint: "Nothing was written.")
    }
    return engines[number - 1]
  }
}

/// The file that `schema` in `schemactl.yaml` names. It holds the current schema as SQL, for
/// reviewers and other tools.
struct SchemaFile {
  let path: String
  private let settings: Settings

  /// Nil when the configuration names none.
  init?(_ settings: Settings) {
    guard let path = settings.schemaFile else { return nil }
    self.path = path
    self.settings = settings
  }

  /// - Returns: whether the file changed.
  func write(_ project: Project) throws -> Bool {
    let text = try Self.text(of: project)
    guard (try? readFile(path)) != text else { return false }
    try settings.write(text, toOutput: path)
    return true
  }

  func compare(with project: Project) throws -> CheckReport.SchemaFile {
    CheckReport.SchemaFile(
      file: path, isCurrent: try (try? readFile(path)) == Self.text(of: project))
  }

  private static func text(of project: Project) throws -> [UInt8] {
    let schema = try project.schema(through: nil).ours()
    return Array(
      ("-- The schema of the latest migration; `schemactl inspect --write` writes this file.\n"
        + schema.script).utf8)
  }
}

extension Schema {
  /// SQL for the `sqlite3` shell.
  var script: String {
    withoutShadowTables().objects.compactMap(\.sql)
      .map { shellScript(terminated($0)) + "\n" }.joined()
  }
}
