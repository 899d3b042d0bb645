import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

enum InspectCommand: Command {
  static let declaration = CommandDeclaration(
    name: "inspect", summary: "Print a schema.",
    discussion: """
      Prints the schema of a database, of a migrations directory or of a file of SQL. Without \
      SOURCE, prints the schema of the project's history. The output is SQL. With `--format yaml` \
      it is a manifest whose operations create the schema.
      """,
    examples: [
      "schemactl inspect app.sqlite": "Print the schema of a database.",
      "schemactl inspect --to 0004": "Print the schema after migration 4.",
      "schemactl inspect --write": "Update the file that `schema` in `schemactl.yaml` names.",
    ],
    arguments: [
      .init(
        name: "SOURCE", summary: "A database, a migrations directory or a file of SQL.",
        required: false)
    ],
    options: [
      .init("write", summary: "Write the history's schema to the file that `schema` names."),
      .historyPoint, .timeout,
    ] + [OptionDeclaration].common([.text, .json, .yaml]))

  static func run(_ session: Session) throws -> ExitStatus {
    let source = session.arguments.first
    try session.requireHistory(among: session.arguments)
    if session.flag("write") { return try write(session) }
    let schema = try session.schema(of: session.source(source, mayBeEmpty: true))
    let tables = try schema.storedTables(session.application)
    let isSQL = session.format == .text
    session.report(schema.json + ["tables": tables]) {
      $0.sayScript(isSQL ? schema.script : manifestText(schema.operations))
    }
    if schema.objects.isEmpty { session.note(reasonForNothing(source ?? session.migrations)) }
    return .success
  }

  private static func write(_ session: Session) throws -> ExitStatus {
    try session.require(
      session.arguments.isEmpty && !session.flag("to"),
      "`--write` writes the schema of the whole history", hint: "Leave out SOURCE and `--to`.")
    guard let file = session.schemaFile else {
      throw session.usageError(
        "`schemactl.yaml` names no schema file", hint: "Add a line such as `schema: schema.sql`.")
    }
    let project = try session.project()
    try session.writing.withLock { _ in try session.writeSchemaFile(of: project) }
    session.report(["schema": file.path]) { $0.mention("Wrote `\(file.path.visible)`.") }
    return .success
  }

  private static func reasonForNothing(_ source: String) -> String {
    guard !DatabaseFile.isFile(source), let ids = try? MigrationFolder(source).ids() else {
      return "`\(source)` has no tables"
    }
    return ids.isEmpty
      ? "`\(source)` has no migrations" : "the history in `\(source)` creates no tables"
  }
}
