import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaLint
import SchemaPlatform
import SchemaReplay
import SchemaReport
import SchemaSQLText

enum ReportCommand: Command {
  static let declaration = CommandDeclaration(
    name: "report",
    summary: "Write an HTML page of the schema and its history.",
    discussion: """
      The page is one file, which needs no network. It shows the migrations by release, the \
      drafts, the schema at each release and the differences between releases. It shows the origin \
      of each column, key, index and trigger, and a diagram (with Graphviz). It lists lint \
      findings, suppressions, and conflicts between devices of two releases. With `--database` it \
      adds drift, row counts, sizes and the cost of pending migrations. The page contains no \
      values of rows.
      """,
    examples: [
      "schemactl report --output schema.html": "Write the report of the history.",
      "schemactl report --database app.sqlite --output app.html": "Add the state of a database.",
    ],
    options: [
      .init("output", .text("FILE"), summary: "The page; default: `schema.html`."),
      .profile,
    ] + .database + .common([]))

  static func run(_ session: Session) throws -> ExitStatus {
    let database = try session.optionalDatabase().map(session.open)
    let project = try session.project()
    var chronicle = Chronicle(project)
    let lint = try session.linter(of: project).lint { step, scratch throws(Failure) in
      try chronicle.note(step, scratch)
    }
    let file = session.text("output") ?? "schema.html"
    try session.write(chronicle, of: project, lint, database: database, toPage: file)
    if !session.flag("quiet") { session.output.write("\(file.visible)\n") }
    if let failure = lint.failure { throw failure }
    return .success
  }
}

extension Session {
  /// Writes the report on a history as one HTML page.
  func write(
    _ chronicle: Chronicle, of project: Project, _ lint: LintReport,
    database: ReadableDatabase? = nil,
    toPage file: String
  ) throws {
    var report = try Report(
      of: chronicle, lint, application, name: project.folder.projectName,
      date: Timestamp.now.toTheSecond)
    report.problems += project.comparison.filter(\.state.isBroken).map {
      "The frozen history is broken: `\($0.id)` is \($0.state.rawValue): \($0.detail)"
    }
    if let database {
      report.database = try project.facts(of: database, timeout: timeout)
    }
    try files.write(report.page, toOutput: file)
  }
}

extension MigrationFolder {
  /// The name of the project: the name of the migrations folder or, if that is `migrations`, of its parent
  /// folder.
  fileprivate var projectName: String {
    let names = ((try? resolvedPath(path)) ?? path).split(separator: "/").map(String.init)
    guard names.last == "migrations", names.count > 1 else { return names.last ?? path }
    return names[names.count - 2]
  }
}
