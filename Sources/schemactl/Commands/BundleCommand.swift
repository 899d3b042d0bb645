import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaReplay
import SchemaSQLText
import SchemaYAML

enum BundleCommand: Command {
  static let declaration = CommandDeclaration(
    name: "bundle", summary: "Compile the history into one file that an app ships.",
    discussion: """
      Replays the history, and writes the manifests, history.lock, connection.sql and the schema \
      of each release into one file, which SchemaKit reads without YAML. It also writes the \
      manifests that a squash replaces, unless `sync.oldest_release` contains all of them. If the \
      history is broken or a migration fails, bundle writes nothing. A release build of an app \
      refuses a bundle with drafts, unless it allows them.
      """,
    examples: [
      .init("schemactl bundle", "Write migrations.schema."),
      .init(
        "schemactl bundle --frozen --output App/Resources/migrations.schema",
        "Write only the released migrations."),
    ],
    options: [
      OptionDeclaration(
        "output", .text("FILE"), summary: "The file; default: migrations.schema."),
      OptionDeclaration("frozen", summary: "Leave out drafts."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let settings = try Settings(session)
    let file = session.invocation.text("output") ?? "migrations.schema"
    let report = try settings.project().bundled(
      frozenOnly: session.invocation.flag("frozen"),
      oldestRelease: settings.configuration.sync.oldestRelease, interruption: session.interruption)
    try session.writing.close { try settings.write(report.bytes, toOutput: file) }
    session.report(.bundled(report, file: file))
    return .success
  }
}
