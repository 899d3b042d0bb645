import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

enum InspectCommand: Command {
  static let name = "inspect"
  static let declaration = CommandDeclaration(
    name: name, summary: "Prints a schema.",
    discussion: """
      Prints the schema of a database, of a folder of migrations or of a file of SQL: as the SQL that \
      SQLite stores, or as the operations of a manifest that make it. Without a name it is that of \
      the history.
      """,
    examples: [
      .init("schemactl inspect app.sqlite", "The schema of a database, as SQL."),
      .init("schemactl inspect --at 0004", "What the history promises after migration 4."),
      .init("schemactl inspect schema.sql --as operations", "As the operations of a manifest."),
    ],
    arguments: [
      ArgumentDeclaration(
        name: "SOURCE", summary: "A database, a folder of migrations or a file of SQL.",
        required: false)
    ],
    options: [
      OptionDeclaration(
        "as", .choice("FORM", SchemaForm.allCases.map(\.rawValue)),
        summary: "'sql', when nothing says otherwise, or 'operations'."),
      .at, .timeout,
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let form = session.invocation.text("as").flatMap(SchemaForm.init) ?? .sql
    let source = session.invocation.arguments.first
    try settings.requireHistory(among: session.invocation.arguments)
    let result = try attempt {
      let schema = try settings.schema(of: source, mayBeEmpty: true)
      do throws(DatabaseError) {
        return (schema, try schema.described(settings.application))
      } catch {
        throw Failure(error.status, "the schema cannot be read: \(error.inWords)")
      }
    }
    switch result {
    case .success(let (schema, tables)):
      if form == .sql, session.printsRawSQL { try requirePlainText(schema) }
      session.report(.inspected(schema, tables, form))
      if schema.objects.isEmpty {
        session.report(.note(reasonForNothing(source ?? settings.migrations)))
      }
      return .success
    case .failure(let failure):
      session.report(.failed(.inspect, failure))
      return failure.status
    }
  }

  private static func reasonForNothing(_ source: String) -> String {
    guard !DatabaseFile.isFile(source), let ids = try? MigrationFolder(source).ids() else {
      return "\(source) holds no tables"
    }
    return ids.isEmpty
      ? "there are no migrations in \(source)" : "the history in \(source) makes no tables"
  }

  private static func requirePlainText(_ schema: Schema) throws(Failure) {
    for object in schema.withoutShadowTables().objects {
      guard let control = object.sql?.controlCharacter else { continue }
      throw Failure(
        .invalidInput,
        "the SQL of the \(object.kind.rawValue) \(object.name) holds the control character "
          + "\(control), and whoever looks at it would send it to a terminal: `--as operations` and "
          + "`--format json` show it escaped")
    }
  }
}

/// How a schema is printed.
enum SchemaForm: String, CaseIterable {
  case sql, operations
}
