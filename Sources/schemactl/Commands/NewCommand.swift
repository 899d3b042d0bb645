import CommandLineParsing
import History
import ManifestFormat
import Migrating
import Planning
import SchemaKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

enum NewCommand: Command {
  static let name = "new"
  static let declaration = CommandDeclaration(
    name: name, summary: "Writes the next manifest, to be filled in.",
    discussion: """
      The file's name is the next number, or the time where the others are named by time, and what \
      NAME says. An existing file is never touched. The first line lets editors with YAML support \
      complete and check the manifest: it is that of the manifest before it, or else names \
      .manifest.schema.json beside the manifests, which is written when it is not there ('schemactl \
      schema manifest' prints it). Keep that file with the manifests.

      With --from the manifest leads from the head of the history to the schema of a database or of a \
      file of SQL. It keeps the rows of every column that stays: one that stays under another name \
      must be told by --rename, or it is dropped and made anew, and lint stops that where it harms. \
      Values that must change are for you to say, with `copy`, `map` or `update`.

      A folder that is not there is made when --migrations or a schemactl.yaml names the project.
      """,
    examples: [
      .init("schemactl new Add priority", "Writes 0008_add_priority.yaml when 0007 is the last."),
      .init(
        "schemactl new Colours --from schema.sql --rename lists.color=colour",
        "Writes the operations that lead to the schema of that file."),
    ],
    arguments: [
      ArgumentDeclaration(name: "NAME", summary: "What the migration does.", repeats: true)
    ],
    options: [
      OptionDeclaration(
        "from", .text("SOURCE"),
        summary: "The schema to lead to: a database, a file of SQL or a folder of migrations."),
      OptionDeclaration(
        "rename", .text("T.OLD=NEW"), repeats: true,
        summary: "A column, or with OLD=NEW a table, that keeps its rows under another name."),
      .timeout,
    ] + .common, seeAlso: ["schemactl schema --help"])

  private static let schemaFile = ".manifest.schema.json"
  private static let ownModeline = "# yaml-language-server: $schema=\(schemaFile)"

  static func run(_ session: Session) throws -> ExitStatus {
    let result = try attempt { try write(session) }
    if let failure = result.failure { session.report(.failed(.new, failure)) }
    return result.failure?.status ?? .success
  }

  private static func write(_ session: Session) throws {
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
    try settings.withClaim {
      let project = try settings.project()
      let operations = try operations(on: project, settings, session)
      try session.writing.close {
        do throws(FileError) {
          try write(manifest, operations, to: project, session)
        } catch {
          throw Failure(error)
        }
      }
    }
  }

  /// What leads from the head of the history to what --from names; nil without it.
  private static func operations(
    on project: Project, _ settings: Settings, _ session: Session
  ) throws -> [WrittenOperation]? {
    let renamings = try session.invocation.texts("rename").map { text in
      guard let renaming = SchemaRenaming(text) else {
        throw session.usageError(
          "'\(text.visible)' does not say a renaming",
          hint: "Write --rename table.old=new for a column, --rename old=new for a table.")
      }
      return renaming
    }
    guard let source = session.invocation.text("from") else {
      guard renamings.isEmpty else {
        throw session.usageError("--rename goes with --from", hint: nil)
      }
      return nil
    }
    let wanted = try settings.schema(of: source)
    let head = try project.schema(through: nil, interruption: session.interruption)
    for hint in SchemaRenaming.possible(from: head, to: wanted, besides: renamings) {
      session.report(.note(hint))
    }
    for hint in SchemaRenaming.keepingValues(renamings, from: head, to: wanted) {
      session.report(.note(hint))
    }
    let operations = try SchemaTransition.operations(
      from: head, to: wanted, renaming: renamings, settings.application)
    guard !operations.isEmpty else {
      throw Failure(
        .finding, "\(source) has the schema of the history already: there is nothing to write")
    }
    return operations
  }

  private static func write(
    _ manifest: NewManifest, _ operations: [WrittenOperation]?, to project: Project,
    _ session: Session
  ) throws(FileError) {
    let modeline = modeline(of: project.migrations.last) ?? ownModeline
    let others = project.migrations.map(\.id) + (project.lock?.entries.map(\.id) ?? [])
    let id = manifest.id(after: others, at: .now)
    let file = project.folder.file(ofMigration: id)
    // First, because the manifest is what the command is for: when it is there, all is done.
    if modeline == ownModeline { try writeSchema(beside: file, session) }
    try createFileAtomically(
      Array(manifest.text(modeline: modeline, operations: operations).utf8), at: file)
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
}
