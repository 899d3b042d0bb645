import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

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
      let project = try settings.project(mayBeEmpty: true)
      let content = try content(on: project, settings, session)
      try session.writing.close {
        do throws(FileError) {
          let file = try write(manifest, content.operations, to: project, session)
          advise(content.renamings, inPlaceOf: file, session)
        } catch {
          throw Failure(error)
        }
      }
    }
  }

  /// What a renaming that nobody has said would keep, and the command that says it: the draft is part of
  /// the history now, and has to go first.
  private static func advise(
    _ renamings: [PossibleRenaming], inPlaceOf file: String, _ session: Session
  ) {
    guard !renamings.isEmpty else { return }
    for one in renamings { session.report(.note(one.sentence)) }
    let given = session.invocation
    var words = ["schemactl", "new"]
    for option in ["migrations", "config", "from"] where given.isOnCommandLine(option) {
      words += given.texts(option).flatMap { ["--\(option)", $0] }
    }
    for text in given.texts("rename") + renamings.map(\.renaming.text) {
      words += ["--rename", text]
    }
    words += (given.arguments.contains { $0.hasPrefix("-") } ? ["--"] : []) + given.arguments
    session.report(
      .note(
        "to write it so instead, replace the draft: `rm -- \(shellQuoted(file)) && "
          + words.map(shellQuoted).joined(separator: " ") + "`"))
  }

  /// What leads from the head of the history to what --from names, nil without it, and what may be
  /// renamed columns in it.
  private static func content(
    on project: Project, _ settings: Settings, _ session: Session
  ) throws -> (operations: [WrittenOperation]?, renamings: [PossibleRenaming]) {
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
      return (nil, [])
    }
    let head = try project.schema(through: nil, interruption: session.interruption)
    let wanted = try settings.schema(of: source, besides: head)
    for hint in SchemaRenaming.keepingValues(renamings, from: head, to: wanted) {
      session.report(.note(hint))
    }
    let operations: [WrittenOperation]
    do throws(Failure) {
      operations = try SchemaTransition.operations(
        from: head, to: wanted, renaming: renamings, settings.application)
    } catch {
      guard error.status == .usage else { throw error }
      throw try explained(error, renamings, to: wanted, project, settings.application)
    }
    guard !operations.isEmpty else {
      throw Failure(
        .finding, "\(source) has the schema of the history already: there is nothing to write")
    }
    let possible = SchemaRenaming.possible(
      from: head, to: wanted, besides: renamings, settings.application)
    return (operations, possible)
  }

  /// A renaming that would work without the last draft was probably meant for what that draft does.
  private static func explained(
    _ failure: Failure, _ renamings: [SchemaRenaming], to wanted: Schema, _ project: Project,
    _ application: Application
  ) throws(Failure) -> Failure {
    guard let draft = project.migrations.last, !project.isFrozen(draft) else { return failure }
    var former = Schema()
    if let last = project.migrations.dropLast().last {
      former = try project.schema(through: last.id)
    }
    let operations = try? SchemaTransition.operations(
      from: former, to: wanted, renaming: renamings, application)
    guard operations != nil else { return failure }
    return Failure(
      .usage,
      "\(failure.message). It was there before \(draft.id), which is a draft: to replace that, remove "
        + "it first (`rm -- \(shellQuoted(draft.file))`)")
  }

  private static func write(
    _ manifest: NewManifest, _ operations: [WrittenOperation]?, to project: Project,
    _ session: Session
  ) throws(FileError) -> String {
    let modeline = modeline(of: project.migrations.last) ?? ownModeline
    let others = project.migrations.map(\.id) + (project.lock?.entries.map(\.id) ?? [])
    let id = manifest.id(after: others, at: .now)
    let file = project.folder.file(ofMigration: id)
    // First, because the manifest is what the command is for: when it is there, all is done.
    if modeline == ownModeline { try writeSchema(beside: file, session) }
    try createFileAtomically(
      Array(manifest.text(modeline: modeline, operations: operations).utf8), at: file)
    session.report(.created(id: id, file: file))
    return file
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
