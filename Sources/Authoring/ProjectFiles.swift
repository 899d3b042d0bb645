import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

/// The files of a project other than its manifests and its lock. `init`, `new` and `import` create the
/// missing ones.
package struct ProjectFiles: Sendable {
  private static let manifestSchema = ".manifest.schema.json"
  private static let configurationSchema = ".schemactl.schema.json"
  static let manifestModeline = "# yaml-language-server: $schema=\(manifestSchema)"

  private let folder: String
  private let configuration: String?
  private let inputs: [String]
  /// The files and folders that were created.
  package private(set) var created: [String] = []

  /// - Parameters:
  ///   - folder: the path of the migrations directory.
  ///   - configuration: the path of `schemactl.yaml`; nil if it does not exist.
  ///   - inputs: other files and folders that the project reads; they may be missing.
  package init(_ folder: String, configuration: String?, inputs: [String] = []) {
    self.folder = folder
    self.configuration = configuration
    self.inputs = inputs
  }

  package mutating func makeFolder() throws {
    try Self.requireFolder(of: folder)
    if mkdir(folder, 0o777) == 0 {
      created.append(folder)
    } else if errno != EEXIST {
      throw FileError(path: folder, systemError: errno)
    }
  }

  package mutating func writeManifestSchema() throws(FileError) {
    try create(folder + "/" + Self.manifestSchema, JSONSchema.manifest)
  }

  /// Writes `schemactl.yaml` and its JSON Schema, if the project has no configuration.
  ///
  /// - Parameter engine: nil if the sync engine is unknown.
  package mutating func writeConfiguration(engine: SyncEngine?) throws(FileError) {
    guard configuration == nil else { return }
    try create(Self.configurationSchema, JSONSchema.configuration)
    let sync = engine.map { "sync: { engine: \($0.rawValue) }" } ?? "# sync: { engine: none }"
    try create(
      "schemactl.yaml",
      """
      # yaml-language-server: $schema=\(Self.configurationSchema)
      migrations: \(yamlScalar(folder))
      # The engine that syncs the database with other devices: none, additive, sqlite-data or \
      cr-sqlite.
      # Without this key lint assumes `additive`: some device may still run an older release.
      \(sync)

      """)
  }

  private mutating func create(_ path: String, _ text: String) throws(FileError) {
    guard access(path, F_OK) != 0 else { return }
    // An unreadable file may belong to somebody else, so do not replace it.
    guard errno == ENOENT else { throw FileError(path: path, systemError: errno) }
    try writeFileAtomically(Array(text.utf8), to: path)
    created.append(path)
  }

  // MARK: Outputs

  /// Writes a file that an option or the configuration names.
  ///
  /// - Throws: a usage error (64) for `-`, and if the file would replace a database or a file that the
  ///   project reads.
  package func write(_ bytes: [UInt8], toOutput path: String) throws {
    if path == "-" {
      throw Failure(
        .usage, "`-` is not the name of a file", remedy: "`./-` names a file with the name `-`")
    }
    if let owner = owner(ofOutput: Self.location(path)) {
      throw Failure(
        .usage, "`\(path)` is \(owner), which the output would replace. Nothing changed",
        remedy: "Name another file")
    }
    try Self.requireFolder(of: path)
    try writeFileAtomically(bytes, to: path)
  }

  /// Fails if the folder of a new file or folder does not exist.
  private static func requireFolder(of path: String) throws(Failure) {
    let folder = parentFolder(of: path)
    guard FileStatus(folder) == nil, errno == ENOENT else { return }
    throw Failure(
      .notFound, "folder `\(folder)` does not exist: schemactl cannot create `\(path)` there",
      remedy: "Create it (`mkdir -p \(shellQuoted(folder))`), or name another path")
  }

  /// The path with all links resolved. The file itself may be missing if its folder exists.
  private static func location(_ path: String) -> String {
    (try? resolvedPath(path)) ?? inResolvedFolder(path)
  }

  private func owner(ofOutput path: String) -> String? {
    func isSame(_ a: String, _ b: String) -> Bool {
      FileStatus(a).flatMap { a in FileStatus(b).map(a.isSameFile) } ?? false
    }
    for suffix in databaseSuffixes where path.hasSuffix(suffix) {
      if DatabaseFile.isDatabase(String(path.dropLast(suffix.count))) {
        return suffix.isEmpty ? "an SQLite database" : "a file of an SQLite database"
      }
    }
    let folders = [folder, MigrationFolder(folder).squashed.path]
    if folders.contains(where: { isSame(parentFolder(of: path), $0) }) {
      return "a file of the history"
    }
    if let configuration, isSame(path, configuration) { return "the configuration" }
    let isInput = inputs.map(Self.location).contains { input in
      path == input || path.hasPrefix(input + "/") || isSame(path, input)
    }
    return isInput ? "a file that schemactl reads" : nil
  }

  /// Writes the schema of the latest migration to a file, unless the file already contains it.
  package func update(_ file: SchemaFile, for project: Project) throws {
    if let content = try file.newContent(for: project) {
      try write(content, toOutput: file.path)
    }
  }
}
