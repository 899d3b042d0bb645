import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

enum BundleCommand: Command {
  static let declaration = CommandDeclaration(
    name: "bundle", summary: "Compile the history into one file that an app ships.",
    discussion: """
      Replays the history, and writes the manifests, `history.lock`, `connection.sql` and the \
      schema of each release into one file. SchemaKit reads this file without YAML. `bundle` also \
      writes the manifests that a squash replaces, unless `sync.oldest_release` contains all of \
      them. If the history is broken or a migration fails, `bundle` writes nothing. A release build of an \
      app refuses a bundle with drafts, unless the app allows them.
      """,
    examples: [
      "schemactl bundle": "Write `migrations.schema`.",
      "schemactl bundle --frozen --output App/Resources/migrations.schema":
        "Write only the released migrations.",
    ],
    options: [
      .init("output", .text("FILE"), summary: "The file; default: `migrations.schema`."),
      .init("frozen", summary: "Leave out drafts."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let file = session.text("output") ?? "migrations.schema"
    let report = try session.project().bundled(
      frozenOnly: session.flag("frozen"),
      oldestRelease: session.configuration.sync.oldestRelease?.text,
      interruption: session.interruption)
    try session.writing.withLock { _ in try session.files.write(report.bytes, toOutput: file) }
    session.report(["file": file, "migrations": report.migrations, "drafts": report.drafts]) {
      let drafts = counted(report.drafts.count, "draft")
      $0.mention(
        "Wrote \(counted(report.migrations, "migration")) to `\(file.visible)`"
          + (report.drafts.isEmpty
            ? "." : ", including \(drafts). A release build refuses drafts."))
    }
    return .success
  }
}
