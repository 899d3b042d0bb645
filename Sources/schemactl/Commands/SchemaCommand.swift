import SchemaCommandLine
import SchemaHistory
import SchemaSQLText
import SchemaYAML

enum SchemaCommand: Command {
  static let declaration = CommandDeclaration(
    name: "schema", summary: "Print the JSON Schema of manifests or of `schemactl.yaml`.",
    discussion: """
      Editors use a JSON Schema (draft-07) to complete and check YAML. A file names its schema, by a \
      path from its own directory, in a comment at its top:

      # yaml-language-server: $schema=.manifest.schema.json

      `schemactl init` and `schemactl new` write that comment and the schema. After an update of \
      schemactl, print the schema again.
      """,
    examples: [
      "schemactl schema manifest > migrations/.manifest.schema.json":
        "Update the schema of the manifests."
    ],
    arguments: [
      .init(
        name: "KIND", summary: "`manifest` or `config`.",
        completion: .words(["manifest", "config"]))
    ])

  static func readsConfiguration(_ invocation: Invocation) -> Bool { false }

  static func run(_ session: Session) throws -> ExitStatus {
    let kind = session.arguments.first ?? ""
    switch kind {
    case "manifest": session.output.write(JSONSchema.manifest)
    case "config": session.output.write(JSONSchema.configuration)
    default:
      let near = suggestion(for: kind, among: ["manifest", "config"])
      throw session.usageError(
        "`\(kind.visible)` is not a kind of schema",
        hint: near.map { "Did you mean `\($0)`?" } ?? "Use `manifest` or `config`.")
    }
    return .success
  }
}
