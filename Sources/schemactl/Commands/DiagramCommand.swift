import SchemaAuthoring
import SchemaCommandLine
import SchemaDiagram
import SchemaHistory
import SchemaModel
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum DiagramCommand: Command {
  static let declaration = CommandDeclaration(
    name: "diagram", summary: "Draw the tables of a schema and their foreign keys.",
    discussion: """
      Draws the schema of the latest migration, an earlier migration (`--to`), a release, a \
      database or a file of SQL. The output is Mermaid, which GitHub renders, DOT or SVG. SVG \
      needs Graphviz. Without it, `diagram` prints Mermaid and exits with code 66. \
      `--changed-since` marks new, changed and dropped tables and columns: by words in Mermaid, by \
      words and colours in DOT and SVG.

      `--tables` and `--neighbours` draw a part of a large schema. With `--changed-since` and \
      without `--tables`, `--neighbours` starts at the tables that differ: 0 draws only those \
      tables.
      """,
    examples: [
      "schemactl diagram > schema.mmd": "Draw the latest schema as Mermaid.",
      "schemactl diagram --changed-since 2.0 --neighbours 1":
        "Draw the tables that differ from release 2.0, and the tables that they refer to.",
      "schemactl diagram --database app.sqlite --format svg > schema.svg":
        "Draw the schema of a database.",
    ],
    options: [
      .init(
        "to", .text("ID"), completion: .migrations,
        summary: "Draw the schema after this migration. By id or number."),
      .init(
        "release", .text("NAME"), completion: .lookup("releases"),
        summary: "Draw the schema of this release."),
      .init("file", .text("FILE"), summary: "Draw the schema of this file of SQL."),
      .init(
        "changed-since", .text("POINT"), completion: .lookup("releases"),
        summary: "A release, a migration, a database, a folder of migrations or a file of SQL."),
      .init(
        "tables", .text("GLOB"),
        summary: "Draw only tables with matching names, such as `order*`."),
      .init(
        "neighbours", .number("N", 0...1000, whole: true),
        summary: "Also draw tables up to N foreign keys away; default: 0."),
    ] + .database
      + .common([]) + [
        .init(
          "format", .choice("FORMAT", DiagramFormat.allCases.map(\.rawValue)),
          summary: "The output format; default: `mermaid`.")
      ])

  static func run(_ session: Session) throws -> ExitStatus {
    let schema = try session.schema(of: session.drawnSource())
    var diagram = try drawing(schema, session)
    let neighbours = session.invocation.integer("neighbours")
    if let tables = session.text("tables") {
      let chosen = diagram.tables(matching: Glob(tables))
      if chosen.isEmpty {
        throw Failure(.notFound, "no table has a name like `\(tables)`")
      }
      diagram = diagram.around(chosen, neighbours: neighbours ?? 0)
    } else if let neighbours {
      try session.require(
        session.flag("changed-since"), "`--neighbours` needs `--tables` or `--changed-since`")
      diagram = diagram.around(diagram.changedTables, neighbours: neighbours)
    }
    if diagram.tables.isEmpty { session.note("the schema has no tables to draw") }
    return try write(diagram, session)
  }

  private static func drawing(_ schema: Schema, _ session: Session) throws -> Diagram {
    let outline = try schema.outline(session.application)
    guard let point = session.text("changed-since") else { return Diagram(outline) }
    let old = try session.schema(of: try session.source(atPoint: point), besides: schema)
    return Diagram(
      outline, since: try old.outline(session.application),
      compareSchemas(expected: old, actual: schema))
  }

  private static func write(_ diagram: Diagram, _ session: Session) throws -> ExitStatus {
    let format = session.text("format").flatMap(DiagramFormat.init) ?? .mermaid
    switch format {
    case .mermaid: session.output.write(diagram.mermaid)
    case .dot: session.output.write(diagram.dot())
    case .svg:
      do {
        session.output.write(try Graphviz.svg(of: diagram.dot()))
      } catch .notInstalled {
        session.output.write(diagram.mermaid)
        throw Failure(
          .notFound,
          "`dot` is not on the path, so schemactl printed the diagram as Mermaid. Install Graphviz "
            + "(Debian package `graphviz`), or use `--format mermaid`")
      } catch .failed(let reason) {
        throw Failure(.inputOutput, "Graphviz cannot lay out the diagram: \(reason)")
      }
    }
    return .success
  }
}

enum DiagramFormat: String, CaseIterable {
  case mermaid, dot, svg
}

extension Session {
  /// Returns the source of the schema that the options select; by default, the schema of the latest
  /// migration.
  fileprivate func drawnSource() throws -> SchemaSource {
    let names = ["to", "release", "database", "file"].filter(invocation.isOnCommandLine)
    try require(
      names.count <= 1, "`--\(names[0])` and `--\(names[1])` name two schemas",
      hint: "Name one, and compare it with the other schema with `--changed-since`.")
    switch names.first {
    case "database": return .database(try requiredDatabase())
    case "file": return .sql(file: text("file") ?? "")
    case "release":
      let project = try project()
      return .history(project, through: try project.lastMigration(of: text("release") ?? ""))
    default: return .history(try project(), through: text("to"))
    }
  }

  /// Returns the source of the schema at a release, a migration or a path.
  fileprivate func source(atPoint name: String) throws -> SchemaSource {
    let project = try project(mayBeEmpty: true)
    if let release = project.lock?.releases.first(where: { $0.name == name }) {
      return .history(project, through: release.lastID)
    }
    if project.migrations.contains(where: { $0.answers(to: name) }) {
      return .history(project, through: name)
    }
    guard access(name, F_OK) == 0 else {
      throw Failure(
        .notFound,
        "`\(name)` is not a release, a migration or a file. \(project.knownReleases)")
    }
    // `--to` applies to the schema that is drawn, not to this one.
    return try .at(name, through: nil, loading: self.project(in:))
  }
}

extension Project {
  fileprivate func lastMigration(of release: String) throws(Failure) -> String {
    guard let found = lock?.releases.first(where: { $0.name == release }) else {
      throw Failure(.notFound, "release `\(release)` does not exist. \(knownReleases)")
    }
    return found.lastID
  }

  fileprivate var knownReleases: String {
    let names = lock?.releases.map(\.name) ?? []
    return names.isEmpty ? "Nothing is released yet" : "Releases: \(names.joined(separator: ", "))"
  }
}
