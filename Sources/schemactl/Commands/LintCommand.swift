import CommandLineParsing
import Migrating

enum LintCommand: Command {
  static let declaration = CommandDeclaration(
    name: "lint", summary: "Finds what a migration would do to data and to other devices.",
    discussion: """
      Replays the history in memory and judges what each migration does, however it is written. A \
      finding names the place, what will happen to whom and, where there is one, a way to do it \
      safely. Warnings and notes alone exit with 0.
      """,
    examples: [
      .init("schemactl lint", "Judges every migration."),
      .init("schemactl lint --explain drop-column", "Says what a rule is for."),
    ],
    options: [
      OptionDeclaration(
        "profile", .choice("PROFILE", ["local", "additive", "sqlite-data", "cr-sqlite"]),
        summary: "What syncs the database; otherwise `sync` in schemactl.yaml says it."),
      OptionDeclaration("strict", summary: "Exit with 1 for warnings too."),
      OptionDeclaration("explain", .text("ID"), summary: "Print a rule instead."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    throw Failure(.bug, "lint is not there yet")
  }
}
