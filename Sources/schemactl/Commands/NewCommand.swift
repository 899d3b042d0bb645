import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum NewCommand: Command {
  static let declaration = CommandDeclaration(
    name: "new", summary: "Write the next manifest.",
    discussion: """
      The file name is the next number, or the time if the other manifests are named by time, \
      followed by NAME. schemactl creates the migrations directory if it is missing and never \
      changes an existing file.

      With --from, the manifest changes the latest schema of the history into that of a database \
      or of a file of SQL. Columns that keep their name keep their values; name renamed columns \
      and tables with --rename, or they are dropped and recreated.
      """,
    examples: [
      "schemactl new Add priority": "Write 0008_add_priority.yaml after 0007.",
      "schemactl new Colours --from schema.sql --rename lists.color=colour":
        "Write the operations that lead to the schema of a file.",
    ],
    arguments: [.init(name: "NAME", summary: "The purpose of the migration.", repeats: true)],
    options: [
      .init(
        "from", .text("SOURCE"),
        summary: "The new schema: a database, a file of SQL or a migrations directory."),
      .init(
        "rename", .text("T.OLD=NEW"), repeats: true, completion: .nothing,
        summary: "A renamed column, or a renamed table as OLD=NEW; its values are kept."),
      .timeout,
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let name = session.arguments.joined(separator: " ")
    guard let manifest = NewManifest(name: name) else {
      throw session.usageError(
        "a file name cannot be created from `\(name.visible)`",
        hint: "Say what the migration does, for example `schemactl new Add priority`.")
    }
    var files = ProjectFiles(session)
    try files.makeFolder()
    try session.withClaim {
      let project = try session.project(mayBeEmpty: true)
      let content = try content(on: project, session)
      try session.writing.withLock { _ in
        let (id, file) = try write(manifest, content.operations, to: project, &files)
        for file in files.written { session.note("created \(file)") }
        session.report(["id": id, "file": file]) { $0.say(file.visible) }
        // The command also works when a draft cannot be replayed yet.
        if content.operations != nil, let current = try? session.project() {
          try? session.writeSchemaFile(of: current)
        }
        advise(content.renamings, inPlaceOf: file, session)
      }
    }
    return .success
  }

  /// Suggests renames that would keep data, with the command that states them. The new draft is
  /// part of the history now, so that command must delete it first.
  private static func advise(
    _ renamings: [PossibleRenaming], inPlaceOf file: String, _ session: Session
  ) {
    guard !renamings.isEmpty else { return }
    for one in renamings { session.note(one.sentence) }
    let texts = session.invocation.texts("rename") + renamings.map(\.renaming.text)
    let words =
      session.invocation.texts("from").flatMap { ["--from", $0] }
      + texts.flatMap { ["--rename", $0] }
      + (session.arguments.contains { $0.hasPrefix("-") } ? ["--"] : []) + session.arguments
    session.note(
      "to keep those values, replace the draft: `rm -- \(shellQuoted(file)) && "
        + "\(session.command("new", words, database: false))`")
  }

  /// The operations from the latest schema to that of `--from`, and possible renames; nil without
  /// `--from`.
  private static func content(
    on project: Project, _ session: Session
  ) throws -> (operations: [WrittenOperation]?, renamings: [PossibleRenaming]) {
    let renamings = try session.invocation.texts("rename").map { text in
      guard let renaming = SchemaRenaming(text) else {
        throw session.usageError(
          "`\(text.visible)` is not a valid renaming",
          hint: "Write --rename table.old=new for a column, --rename old=new for a table.")
      }
      return renaming
    }
    guard let name = session.text("from") else {
      try session.require(renamings.isEmpty, "--rename needs --from")
      return (nil, [])
    }
    let source = try session.source(name)
    let head = try project.schema(through: nil, interruption: session.interruption)
    let wanted = try session.schema(of: source, besides: head)
    try source.requireNothingPending(
      in: project, timeout: session.timeout, interruption: session.interruption)
    SchemaRenaming.keepingValues(renamings, from: head, to: wanted).forEach(session.note)
    let operations = try SchemaTransition.operations(
      from: head, to: wanted, renaming: renamings, session.application)
    guard !operations.isEmpty else {
      throw Failure(.finding, "\(name) already has the schema of the history")
    }
    let possible = SchemaRenaming.possible(
      from: head, to: wanted, besides: renamings, session.application)
    return (operations, possible)
  }

  private static func write(
    _ manifest: NewManifest, _ operations: [WrittenOperation]?, to project: Project,
    _ files: inout ProjectFiles
  ) throws -> (id: String, file: String) {
    let modeline = modeline(of: project.migrations.last) ?? ProjectFiles.manifestModeline
    let others = project.migrations.map(\.id) + (project.lock?.entries.map(\.id) ?? [])
    let id = manifest.id(after: others, at: .now)
    let file = project.folder.file(ofMigration: id)
    // Write the manifest last: once it exists, the command has finished.
    if modeline == ProjectFiles.manifestModeline { try files.writeManifestSchema() }
    try createFileAtomically(
      Array(manifest.text(modeline: modeline, operations: operations).utf8), at: file)
    return (id, file)
  }

  /// The comment at the top of a manifest that names its JSON Schema.
  private static func modeline(of migration: Migration?) -> String? {
    guard let migration, let bytes = try? readFile(migration.file) else { return nil }
    return bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
      .prefix { $0.first == UInt8(ascii: "#") }
      .map { String(decoding: $0, as: UTF8.self) }
      .first { $0.contains("yaml-language-server:") && $0.contains("$schema=") }
  }
}
