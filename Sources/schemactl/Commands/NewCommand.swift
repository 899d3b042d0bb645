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
      The file name is the next number followed by NAME. If the other file names begin with a \
      time, the new name does, too. schemactl creates the migrations directory if it is missing \
      and never changes an existing file.

      With `--from`, the manifest changes the latest schema of the history into that of a database \
      or of a file of SQL. Columns that keep their name keep their values. Name renamed columns \
      and tables with `--rename`; otherwise the manifest drops and recreates them.
      """,
    examples: [
      "schemactl new Add priority": "Write `0008_add_priority.yaml` after migration 7.",
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
        summary: "A renamed column, or a renamed table as OLD=NEW; keeps its values."),
      .timeout,
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let name = session.arguments.joined(separator: " ")
    guard let manifest = NewManifest(name: name) else {
      throw session.usageError(
        "schemactl cannot create a file name from `\(name.visible)`",
        hint: "Name the purpose of the migration, for example `schemactl new Add priority`.")
    }
    var files = session.files
    try session.requireNoTypingError()
    try files.makeFolder()
    try session.withClaim {
      let project = try session.project(mayBeEmpty: true)
      let content = try content(on: project, session)
      try session.writing.withLock { _ in
        let (id, file) = try manifest.write(content?.operations, to: project, &files)
        for file in files.created { session.note("schemactl created `\(file)`") }
        session.report(["id": id, "file": file]) { $0.say(file.visible) }
        // Creating a manifest also works if a draft cannot be replayed yet; then the schema file is not
        // updated.
        if content != nil, let current = try? session.project() {
          try? session.writeSchemaFile(of: current)
        }
        advise(content?.possible ?? [], inPlaceOf: file, session)
      }
    }
    return .success
  }

  /// Suggests renamings that would keep values, with the command that declares them. The new draft is part of
  /// the history now, so the command must delete it first.
  private static func advise(
    _ renamings: [PossibleRenaming], inPlaceOf file: String, _ session: Session
  ) {
    guard !renamings.isEmpty else { return }
    for one in renamings { session.note(one.sentence) }
    let texts = session.invocation.texts("rename") + renamings.map(\.renaming.text)
    let words =
      session.invocation.texts("from").flatMap { ["--from", session.withoutDash($0)] }
      + texts.flatMap { ["--rename", $0] }
      + (session.arguments.contains { $0.hasPrefix("-") } ? ["--"] : []) + session.arguments
    session.note(
      "to keep those values, replace the draft: `rm -- \(shellQuoted(file)) && "
        + "\(session.command("new", words, database: false))`")
  }

  /// Returns the operations from the latest schema to the schema of `--from`; nil without `--from`.
  private static func content(
    on project: Project, _ session: Session
  ) throws -> (operations: [WrittenOperation], possible: [PossibleRenaming])? {
    let renamings = try session.invocation.texts("rename").map { text in
      guard let renaming = SchemaRenaming(text) else {
        throw session.usageError(
          "`\(text.visible)` is not a valid renaming",
          hint:
            "Write `--rename table.old=new` for a column, `--rename old=new` for a table, with names "
            + "as in SQL.")
      }
      return renaming
    }
    guard let name = session.text("from") else {
      try session.require(renamings.isEmpty, "`--rename` needs `--from`")
      return nil
    }
    return try project.newOperations(
      to: session.source(name), called: name, renaming: renamings, timeout: session.timeout,
      interruption: session.interruption)
  }
}
