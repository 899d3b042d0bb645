import SchemaCommandLine
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaYAML

enum SchemaCommand: Command {
  static let name = "schema"
  static let declaration = CommandDeclaration(
    name: name, summary: "Prints the JSON Schema of manifests or of schemactl.yaml.",
    discussion: """
      Editors complete and check YAML by a JSON Schema (draft-07). A file names its schema, by a \
      path from its own folder, in a comment at its top:

      # yaml-language-server: $schema=.manifest.schema.json

      'schemactl new' does that by itself. After an update of schemactl, print the schema again.
      """,
    examples: [
      .init(
        "schemactl schema manifest > migrations/.manifest.schema.json",
        "Writes the schema of manifests beside them."),
      .init(
        "schemactl schema config > .schemactl.schema.json",
        "Writes the schema of schemactl.yaml beside it."),
    ],
    arguments: [ArgumentDeclaration(name: "KIND", summary: "manifest or config.")],
    seeAlso: ["schemactl new --help"])

  static func run(_ session: Session) throws -> ExitStatus {
    let kind = session.invocation.arguments.first ?? ""
    switch kind {
    case "manifest": session.output.write(JSONSchema.manifest)
    case "config": session.output.write(JSONSchema.configuration)
    default:
      let near = suggestion(for: kind, among: ["manifest", "config"])
      throw session.usageError(
        "there is no schema of '\(kind.visible)'",
        hint: near.map { "Did you mean '\($0)'?" } ?? "There are schemas of manifest and config.")
    }
    return .success
  }
}
