import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaPreview
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

enum InspectCommand: Command {
  static let declaration = CommandDeclaration(
    name: "inspect", summary: "Print a schema.",
    discussion: """
      Prints the schema of a database, of a migrations directory or of a file of SQL; without SOURCE, \
      the schema of the project's history. The output is SQL; with --format yaml it is a manifest whose \
      operations create the schema.
      """,
    examples: [
      .init("schemactl inspect app.sqlite", "Print the schema of a database."),
      .init("schemactl inspect --to 0004", "Print the schema after migration 4."),
      .init("schemactl inspect --write", "Update the file that `schema` in schemactl.yaml names."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "SOURCE", summary: "A database, a migrations directory or a file of SQL.",
        required: false)
    ],
    options: [
      OptionDeclaration(
        "write", summary: "Write the history's schema to the file that `schema` names."),
      .historyPoint, .timeout,
    ] + [OptionDeclaration].common(OutputFormat.inspection))

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let source = session.invocation.arguments.first
    try settings.requireHistory(among: session.invocation.arguments)
    if session.invocation.flag("write") { return try write(settings, session) }
    let schema = try settings.schema(of: source, mayBeEmpty: true)
    let tables = try settings.described(schema)
    let isSQL = session.format == .text
    if isSQL, session.printsRawSQL { try requirePlainText(schema) }
    session.report(.inspected(schema, tables, asSQL: isSQL))
    if schema.objects.isEmpty {
      session.report(.note(reasonForNothing(source ?? settings.migrations)))
    }
    return .success
  }

  private static func write(_ settings: Settings, _ session: Session) throws -> ExitStatus {
    guard session.invocation.arguments.isEmpty, session.invocation.text("to") == nil else {
      throw session.usageError(
        "--write writes the schema of the whole history",
        hint: "Leave out SOURCE and --to.")
    }
    guard let file = SchemaFile(settings) else {
      throw session.usageError(
        "schemactl.yaml names no schema file", hint: "Add a line such as `schema: schema.sql`.")
    }
    let project = try settings.project()
    try session.writing.close { _ = try file.write(project) }
    session.report(.wroteSchema(file: file.path))
    return .success
  }

  private static func reasonForNothing(_ source: String) -> String {
    guard !DatabaseFile.isFile(source), let ids = try? MigrationFolder(source).ids() else {
      return "\(source) has no tables"
    }
    return ids.isEmpty
      ? "\(source) holds no migrations" : "the history in \(source) creates no tables"
  }

  private static func requirePlainText(_ schema: Schema) throws(Failure) {
    for object in schema.withoutShadowTables().objects {
      guard let control = object.sql?.controlCharacter else { continue }
      throw Failure(
        .invalidInput,
        "the SQL of the \(object.kind.rawValue) \(object.name) contains the control character "
          + "\(control), which a terminal would interpret: `--format yaml` and `--format json` "
          + "escape it")
    }
  }
}

extension Settings {
  func described(_ schema: Schema) throws(Failure) -> [TableDescription] {
    try reading { () throws(DatabaseError) in try schema.described(application) }
  }

  func reading<Facts>(_ facts: () throws(DatabaseError) -> Facts) throws(Failure) -> Facts {
    do {
      return try facts()
    } catch {
      throw Failure(error.status, "the schema cannot be read: \(error.inWords)")
    }
  }
}
