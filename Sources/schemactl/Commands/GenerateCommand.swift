import SchemaAuthoring
import SchemaCommandLine
import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

enum GenerateCommand: Command {
  static let declaration = CommandDeclaration(
    name: "generate", summary: "Write Swift structs and column names from the schema.",
    discussion: """
      Writes a struct for each table of the latest schema. The struct contains the names of the \
      table and its columns, and a property for each column. With `--check`, for CI, `generate` \
      writes nothing and exits with code 1 if the file is not up to date.
      """,
    examples: [
      "schemactl generate swift": "Print the structs.",
      "schemactl generate swift --for grdb --output Sources/App/Schema.swift":
        "Write records for GRDB.",
      "schemactl generate swift --output Sources/App/Schema.swift --check":
        "Fail if the file is not up to date.",
    ],
    arguments: [.init(name: "LANGUAGE", summary: "`swift`.", completion: .words(["swift"]))],
    options: [
      .init(
        "for", .choice("LIBRARY", SwiftFlavor.allCases.map(\.rawValue)),
        summary: "The library whose protocols the structs conform to; default: `plain`."),
      .init("output", .text("FILE"), summary: "The file; default: standard output."),
      .init("check", summary: "Write nothing, and fail if the file is not up to date."),
    ] + .common)

  static func run(_ session: Session) throws -> ExitStatus {
    let language = session.arguments.first ?? ""
    try session.require(
      language == "swift", "`generate` cannot write `\(language.visible)`",
      hint: "Write `schemactl generate swift`.")
    let output = session.text("output")
    let isCheck = session.flag("check")
    try session.require(
      output != nil || !isCheck, "`--check` compares a file", hint: "Name it with `--output FILE`.")
    let schema = try session.schema(of: session.source())
    let source = try SwiftGenerator.file(
      schema.storedTables(session.application),
      flavor: session.text("for").flatMap(SwiftFlavor.init) ?? .plain)
    let bytes = Array(source.utf8)
    var isStale = output.map { (try? readFile($0)) != bytes } ?? false
    if let output, isStale, !isCheck {
      try session.writing.withLock { _ in try session.files.write(bytes, toOutput: output) }
      isStale = false
    }
    session.report(["file": output, "stale": isStale, "text": source]) { text in
      guard let output else { return text.sayScript(source) }
      text.mention(
        isStale
          ? "`\(output.visible)` is not up to date: run `schemactl generate swift --output "
            + "\(shellQuoted(output).visible)` again."
          : "`\(output.visible)` is up to date.")
    }
    return isStale ? .finding : .success
  }
}
