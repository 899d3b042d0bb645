import SchemaCommandLine

/// Options of every command.
private let shared = [
  OptionDeclaration("quiet", short: "q", summary: "Say less."),
  OptionDeclaration(
    "timeout", .number("SECONDS", 0...3600), environment: "FERRY_TIMEOUT",
    summary: "How long to wait for a free pier before giving up and turning back."),
  OptionDeclaration("logbook", .text("PATH"), summary: "Where the captain writes."),
]

/// A fictitious program with every kind of declaration.
let ferry = CommandLineProgram(
  name: "ferry", version: "1.2.0", summary: "carries passengers and cargo over the water",
  discussion: """
    A ferry goes when it is full, or when it has waited long enough. It never goes in fog, whatever
    the captain says.

    The ledger in the harbour office knows every crossing.
    """,
  commands: [
    CommandDeclaration(
      name: "cross", summary: "Goes to the other side.",
      discussion: "Nothing is loaded before every passenger is aboard.",
      examples: [
        "ferry cross --dry-run north": "Says what a crossing to the north pier would carry.",
        "ferry cross north cows sheep": "Takes cows and sheep to the north pier.",
      ],
      arguments: [
        ArgumentDeclaration(name: "PIER", summary: "Where to land."),
        ArgumentDeclaration(
          name: "CARGO", summary: "What to carry; people alone when none is named.",
          required: false, repeats: true),
      ],
      options: [
        OptionDeclaration("dry-run", short: "n", summary: "Do not leave the pier."),
        OptionDeclaration(
          "crew", .number("COUNT", 1...12, whole: true), environment: "FERRY_CREW",
          summary: "How many sailors."
        ),
        OptionDeclaration(
          "course", .choice("COURSE", ["direct", "scenic"]), summary: "Which way."),
        OptionDeclaration(
          "tag", .text("TEXT"), repeats: true, summary: "A label for the cargo."),
        OptionDeclaration(
          "backup", .optionalText("PATH"), summary: "Copy the ledger first, beside it or to PATH."),
      ] + shared),
    CommandDeclaration(
      name: "ledger", summary: "The harbour's book.",
      subcommands: [
        CommandDeclaration(
          name: "show", summary: "Shows [all] the ledger's lines: 'as written'.",
          arguments: [
            ArgumentDeclaration(
              name: "DAY", summary: "One day only.", required: false,
              completion: .lookup("days"))
          ], options: shared),
        CommandDeclaration(
          name: "repair", summary: "Mends a torn page.",
          options: [OptionDeclaration("yes", summary: "Do not ask.")] + shared),
      ]),
    CommandDeclaration(name: "fog", summary: "Whether there is fog.", options: shared),
  ],
  exitCodes: ["0": "landed", "75": "no pier was free; try again"])

/// Parses a command line whose words contain no spaces.
func parse(
  _ line: String, environment: [String: String] = [:]
) throws(UsageError) -> ParsedCommandLine {
  try ferry.parse(line.split(separator: " ").map(String.init)) { environment[$0] }
}

struct NotACommandToRun: Error {}

func run(_ line: String, environment: [String: String] = [:]) throws -> Invocation {
  guard case .run(let invocation) = try parse(line, environment: environment) else {
    throw NotACommandToRun()
  }
  return invocation
}

/// The problem with its hint, and the reference to the help.
func inWords(_ error: UsageError) -> String {
  "\(error.program): \(error.message)." + (error.hint.map { " \($0)" } ?? "") + "\n\(error.advice)"
}

/// The message of the error; nil if there is none.
func complaint(_ line: String, environment: [String: String] = [:]) -> String? {
  do {
    _ = try parse(line, environment: environment)
    return nil
  } catch {
    return inWords(error)
  }
}

extension CommandLineProgram {
  /// Takes the declarations directly.
  init(
    name: String, version: String, summary: String, discussion: String = "",
    commands: [CommandDeclaration], exitCodes: HelpEntries = [:]
  ) {
    self.init(
      name: name, version: version, summary: summary, discussion: discussion,
      groups: [("Commands", commands.map { command in (command.name, { command }) })],
      exitCodes: exitCodes)
  }
}
