import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaSQLText
import SchemaYAML

enum DiffCommand: Command {
  static let declaration = CommandDeclaration(
    name: "diff", summary: "Compare a database with its history, or two schemas.",
    discussion: """
      Without names, compares the database with the schema of the history after the database's \
      latest migration. With one name, compares the history with it. With two names, compares the \
      first with the second. A name is a database, a migrations directory or a file of SQL. The \
      comparison ignores quoting, white space, comments and the case of keywords.
      """,
    examples: [
      "schemactl diff --database app.sqlite": "Show the drift of a database.",
      "schemactl diff schema.sql": "Compare the history with a file of SQL.",
      "schemactl diff old.sqlite new.sqlite": "Compare two databases.",
    ],
    arguments: [
      .init(
        name: "FROM", summary: "A database, a migrations directory or a file of SQL.",
        required: false),
      .init(name: "TO", summary: "The schema to compare it with.", required: false),
    ],
    options: [.historyPoint] + .databaseOrCluster + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let names = session.arguments
    if !names.isEmpty { return try compare(names, session) }
    try session.require(
      !session.flag("to"),
      "`--to` needs a database, a directory or a file of SQL to compare the history with",
      hint: "Name a file or folder: `schemactl diff --to 4 app.sqlite`.")
    let (project, database, _) = try session.projectAndDatabase()
    let report = try project.diff(of: database)
    session.report(
      [
        "equal": report.changes.isEmpty, "changes": report.changes, "hasLedger": report.hasLedger,
        "ledger": report.ledger,
      ]
    ) { $0.show(report, database.name.visible) }
    return report.status
  }

  /// Compares two schemas. With one name, compares that schema with the schema of the history.
  private static func compare(_ names: [String], _ session: Session) throws -> ExitStatus {
    let from = names.count == 2 ? names[0] : nil
    let to = names[names.count - 1]
    try session.require(
      !session.invocation.isOnCommandLine("database"),
      "`--database` compares a database with its history, not with `\(to.visible)`",
      hint: "To compare two schemas, name both: `schemactl diff FROM TO`.")
    if names.count == 2 { try session.requireHistory(among: names) }
    let (first, second) = (try session.source(from), try session.source(to))
    // Compare a table that a history or an SQL file defines even if the database's table of this name looks
    // like a table of another tool.
    let known = second.isDatabase ? nil : try session.schema(of: second)
    let expected = try session.schema(of: first, besides: known ?? Schema())
    let actual =
      try known ?? session.schema(of: second, besides: first.isDatabase ? Schema() : expected)
    let changes = compareSchemas(expected: expected, actual: actual)
    session.report(["equal": changes.isEmpty, "changes": changes]) {
      $0.show(changes, (from ?? session.migrations).visible, to.visible)
    }
    return changes.isEmpty ? .success : .finding
  }
}

extension TextReporter {
  fileprivate func show(_ report: DiffReport, _ database: String) {
    show(report.changes, nil, database)
    list(report.ledger, "ledger entry") {
      say("\($0.id.visible): \($0.state.rawValue) in the ledger", detail: $0.detail)
    }
    if !report.changes.isEmpty, report.hasLedger {
      help(
        "if the database is right, write the difference as a migration (`schemactl new NAME --from "
          + "\(shellQuoted(database))`). If the history is right, change the database")
    }
    if !report.hasLedger {
      note(
        "`\(database)` has no ledger, so schemactl compared it with the latest schema of the "
          + "history")
    }
  }

  /// Prints the parts of the first schema that the second one lacks with `-`, and the reverse with `+`.
  ///
  /// - Parameter from: a path; nil for the history of the database.
  fileprivate func show(_ changes: [SchemaChange], _ from: String?, _ to: String) {
    guard !changes.isEmpty else {
      let expected = from.map { "`\($0)`" } ?? "The history"
      return mention("\(expected) and `\(to)` have the same schema.")
    }
    say(paint("--- \(from ?? "the history")", "1"))
    say(paint("+++ \(to)", "1"))
    list(changes, "difference") { change in
      say(paint("@@ \(change.subject.visible) @@", "36"))
      if let expected = change.expected { say(paint("-\(expected.visible)", "31")) }
      if let actual = change.actual { say(paint("+\(actual.visible)", "32")) }
    }
    mention("Found \(counted(changes.count, "difference")).")
  }
}
