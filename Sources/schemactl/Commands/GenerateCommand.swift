import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaInspect
import SchemaPlatform
import SchemaReplay
import SchemaSQLText

enum GenerateCommand: Command {
  static let declaration = CommandDeclaration(
    name: "generate", summary: "Write Swift structs and column names from the schema.",
    discussion: """
      Writes a struct for each table of the latest schema, with the name of the table, the names \
      of its columns, and a property for each column. With --check, for CI, it writes nothing and \
      exits with 1 if the file is not up to date.
      """,
    examples: [
      .init("schemactl generate swift", "Print the structs."),
      .init(
        "schemactl generate swift --for grdb --output Sources/App/Schema.swift",
        "Write records for GRDB."),
      .init(
        "schemactl generate swift --output Sources/App/Schema.swift --check",
        "Fail if the file is not up to date."),
    ],
    arguments: [
      ArgumentDeclaration(name: "LANGUAGE", summary: "'swift'.", completion: .words(["swift"]))
    ],
    options: [
      OptionDeclaration(
        "for", .choice("LIBRARY", SwiftFlavor.allCases.map(\.rawValue)),
        summary: "The library whose protocols the structs conform to; default: plain."),
      OptionDeclaration("output", .text("FILE"), summary: "The file; default: standard output."),
      OptionDeclaration("check", summary: "Write nothing, and fail if the file is not up to date."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let invocation = session.invocation
    guard invocation.arguments.first == "swift" else {
      throw session.usageError(
        "generate cannot write '\((invocation.arguments.first ?? "").visible)'",
        hint: "Write 'schemactl generate swift'.")
    }
    let output = invocation.text("output")
    guard output != nil || !invocation.flag("check") else {
      throw session.usageError(
        "'--check' compares a file", hint: "Name it with --output FILE.")
    }
    let settings = try Settings(session)
    let flavor = invocation.text("for").flatMap(SwiftFlavor.init) ?? .plain
    return try write(try text(settings, flavor), to: output, settings, session)
  }

  private static func text(_ settings: Settings, _ flavor: SwiftFlavor) throws -> String {
    let schema = try settings.schema(of: nil as String?)
    return try SwiftGenerator.file(try settings.described(schema), flavor: flavor)
  }

  private static func write(
    _ text: String, to output: String?, _ settings: Settings, _ session: Session
  ) throws -> ExitStatus {
    guard let output else {
      session.report(.generated(text, file: nil, isStale: false))
      return .success
    }
    let bytes = Array(text.utf8)
    if session.invocation.flag("check") {
      let isStale = (try? readFile(output)) != bytes
      session.report(.generated(text, file: output, isStale: isStale))
      return isStale ? .finding : .success
    }
    try session.writing.close {
      if (try? readFile(output)) != bytes { try settings.write(bytes, toOutput: output) }
    }
    session.report(.generated(text, file: output, isStale: false))
    return .success
  }
}
