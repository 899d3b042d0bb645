import SchemaAuthoring
import SchemaHistory
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

  init(_ session: Session) {
    folder = session.migrations
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
  /// The sync engine from an option or the user's answer; nil if the user cannot be asked, or if
  /// `schemactl.yaml` exists.
  func syncEngine() throws -> SyncEngine? {
    if file != nil { return nil }
    let engines = SyncEngine.allCases
    if let profile { return engines.first { Profile($0) == profile } }
    let list = zip(1..., engines).map { "  \($0)  \($1.rawValue): \(Profile($1).meaning)\n" }
    let question = "What syncs this database with other devices?\n\(list.joined())Number [1]: "
    guard let answer = ask(question) else {
      note(
        "nothing states what syncs the database, so lint assumes `additive`; --profile states it")
      return nil
    }
    if answer.isEmpty { return engines.first }
    let number = Int(answer).map { $0 - 1 }.flatMap { engines.indices.contains($0) ? $0 : nil }
    let engine = SyncEngine(rawValue: answer) ?? number.map { engines[$0] }
    try require(
      engine != nil, "`\(answer.visible)` is not one of the answers", hint: "Nothing was written.")
    return engine
  }

  // MARK: The schema file

  /// The file that `schema` in `schemactl.yaml` names: the current schema as SQL, for reviewers and
  /// other tools. Nil when the configuration names none.
  var schemaFile: String? { configuration.schema.map(resolved) }

  /// Writes the schema file if it is configured and not current.
  func writeSchemaFile(of project: Project) throws {
    guard let schemaFile else { return }
    let text = try project.schemaText()
    if (try? readFile(schemaFile)) != text { try write(text, toOutput: schemaFile) }
  }

  // MARK: Other files

  /// Writes a file that an option or the configuration names.
  ///
  /// - Throws: a failure (64) for `-`, and when it would replace a database, `schemactl.yaml` or a
  ///   file of the history.
  func write(_ bytes: [UInt8], toOutput path: String) throws {
    if path == "-" {
      throw Failure(
        .usage, "`-` is not the name of a file", remedy: "`./-` names a file that is called `-`")
    }
    if let owner = owner(ofOutput: (try? resolvedPath(path)) ?? path) {
      throw Failure(
        .usage, "\(path) is \(owner), which the output would replace. Nothing was changed",
        remedy: "Name another file")
    }
    try writeFileAtomically(bytes, to: path)
  }

  private func owner(ofOutput path: String) -> String? {
    func isSame(_ a: String, _ b: String) -> Bool {
      FileStatus(a).flatMap { a in FileStatus(b).map(a.isSameFile) } ?? false
    }
    if DatabaseFile.isDatabase(path) { return "an SQLite database" }
    if isSame(parentFolder(of: path), migrations) { return "a file of the history" }
    return file.map { isSame(path, $0) } ?? false ? "the configuration" : nil
  }
}

extension Project {
  /// The content of the schema file.
  func schemaText() throws(Failure) -> [UInt8] {
    let schema = try schema(through: nil).ours()
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
