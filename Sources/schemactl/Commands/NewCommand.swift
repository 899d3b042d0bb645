import CommandLineParsing
import History
import ManifestFormat
import Migrating
import SchemaKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

enum NewCommand: Command {
  static let declaration = CommandDeclaration(
    name: "new", summary: "Writes the next manifest, to be filled in.",
    discussion: """
      The file's name is the next number, or the time where the others are named by time, and what \
      NAME says. An existing file is never touched. The first line lets editors with YAML support \
      complete and check the manifest: it is that of the manifest before it, or else names \
      .manifest.schema.json beside the manifests, which is written when it is not there ('schemactl \
      schema manifest' prints it). Keep that file with the manifests.

      A folder that is not there is made when --migrations or a schemactl.yaml names the project.
      """,
    examples: [
      .init("schemactl new Add priority", "Writes 0008_add_priority.yaml when 0007 is the last.")
    ],
    arguments: [
      ArgumentDeclaration(name: "NAME", summary: "What the migration does.", repeats: true)
    ],
    options: .common, seeAlso: ["schemactl schema --help"])

  private static let schemaFile = ".manifest.schema.json"
  private static let ownModeline = "# yaml-language-server: $schema=\(schemaFile)"

  static func run(_ session: Session) throws -> ExitStatus {
    let name = session.invocation.arguments.joined(separator: " ")
    guard let manifest = NewManifest(name: name) else {
      throw session.usageError(
        "no file can be called '\(name.visible)'",
        hint: "Say what the migration does, as in: schemactl new Add priority")
    }
    let settings = try Settings(session)
    do throws(FileError) {
      try makeFolder(settings, session)
    } catch {
      throw Failure(error)
    }
    return try settings.withClaim {
      let project = try settings.project()
      try session.writing.close {
        do throws(FileError) {
          try write(manifest, to: project, session)
        } catch {
          throw Failure(error)
        }
      }
      return .success
    }
  }

  private static func write(
    _ manifest: NewManifest, to project: Project, _ session: Session
  ) throws(FileError) {
    let modeline = modeline(of: project.migrations.last) ?? ownModeline
    let others = project.migrations.map(\.id) + (project.lock?.entries.map(\.id) ?? [])
    let id = manifest.id(after: others, at: .now)
    let file = project.folder.file(ofMigration: id)
    // First, because the manifest is what the command is for: when it is there, all is done.
    if modeline == ownModeline { try writeSchema(beside: file, session) }
    try createFile(Array(manifest.text(modeline: modeline).utf8), at: file)
    session.report(.created(id: id, file: file))
  }

  /// The comment at the top of a manifest that names its schema.
  private static func modeline(of migration: Migration?) -> String? {
    guard let migration, let bytes = try? readFile(migration.file) else { return nil }
    return bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
      .prefix { $0.first == UInt8(ascii: "#") }
      .map { String(decoding: $0, as: UTF8.self) }
      .first { $0.contains("yaml-language-server:") && $0.contains("$schema=") }
  }

  // MARK: Files

  /// A folder that nobody has named is more probably another project's than missing.
  private static func makeFolder(_ settings: Settings, _ session: Session) throws(FileError) {
    guard settings.namesProject else { return }
    let path = settings.migrations
    if mkdir(path, 0o777) == 0 {
      session.report(.note("made the folder \(path)"))
    } else if errno != EEXIST {
      throw FileError(path: path, systemError: errno)
    }
  }

  private static func writeSchema(beside file: String, _ session: Session) throws(FileError) {
    let path = (file.lastIndex(of: "/").map { String(file[...$0]) } ?? "") + schemaFile
    guard access(path, F_OK) != 0 else { return }
    // One that cannot be looked at may be somebody's own.
    guard errno == ENOENT else { throw FileError(path: path, systemError: errno) }
    try writeFileAtomically(Array(JSONSchema.manifest.utf8), to: path)
    session.report(.note("wrote \(path), by which editors complete and check manifests"))
  }

  /// Makes a file that nobody sees half written, and that replaces none.
  private static func createFile(_ bytes: [UInt8], at path: String) throws(FileError) {
    let temporary = path + ".new"
    defer { unlink(temporary) }
    try writeFileAtomically(bytes, to: temporary)
    if link(temporary, path) == 0 { return }
    let problem = errno
    // Where the file system knows no links, the claim and this look must do.
    guard problem != EEXIST, access(path, F_OK) != 0, errno == ENOENT,
      rename(temporary, path) == 0
    else { throw FileError(path: path, systemError: problem) }
  }
}
