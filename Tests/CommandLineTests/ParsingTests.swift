import SchemaCommandLine
import SchemaTestPrograms
import Testing

@Suite("Parsing") struct ParsingTests {
  @Test(
    "options may precede or follow the command and its arguments",
    arguments: [
      "cross north cows --dry-run --timeout 5", "--dry-run --timeout 5 cross north cows",
      "--timeout=5 cross -n north cows", "--timeout 5 -n cross -- north cows",
      "--timeout 5 -n -- cross north cows",
    ])
  func optionsAnywhere(line: String) throws {
    let invocation = try run(line)
    #expect(invocation.commandPath == ["cross"])
    #expect(invocation.arguments == ["north", "cows"])
    #expect(invocation.isGiven("dry-run"))
    #expect(invocation.number("timeout") == 5)
    #expect(!invocation.isGiven("quiet"))
    #expect(invocation.text("logbook") == nil)
  }

  @Test("a subcommand is found below its command") func subcommand() throws {
    let invocation = try run("-q ledger repair --yes")
    #expect(invocation.commandPath == ["ledger", "repair"])
    #expect(invocation.isGiven("yes") && invocation.isGiven("quiet"))
    #expect(try run("fog").commandPath == ["fog"])
  }

  @Test("short names of flags can be joined") func joined() throws {
    let invocation = try run("cross -nq north")
    #expect(invocation.isGiven("dry-run") && invocation.isGiven("quiet"))
  }

  @Test("'--' ends the options") func separator() throws {
    #expect(
      try run("cross north -- --dry-run -- -h").arguments == ["north", "--dry-run", "--", "-h"])
  }

  @Test("a lone dash and a negative number are arguments and values") func dashes() throws {
    #expect(try run("cross - -5 -.5").arguments == ["-", "-5", "-.5"])
    #expect(try run("cross --tag - north").texts("tag") == ["-"])
    #expect(try run("cross --tag -1e3 north").texts("tag") == ["-1e3"])
  }

  @Test("a value after '=' is used unchanged") func attached() throws {
    let invocation = try run("cross --tag=--dry-run --tag= --tag=a=b north")
    #expect(invocation.texts("tag") == ["--dry-run", "", "a=b"])
    #expect(!invocation.isGiven("dry-run"))
    let accent = try ferry.parse(["cross", "north", "--tag=\u{301}x"]) { _ in nil }
    guard case .run(let invocation) = accent else { throw NotACommandToRun() }
    #expect(invocation.text("tag")?.utf8.elementsEqual("\u{301}x".utf8) == true)
  }

  @Test("an optional value never takes the next word") func optionalText() throws {
    let alone = try run("cross --backup north")
    #expect(alone.isGiven("backup") && alone.text("backup") == nil && alone.arguments == ["north"])
    #expect(try run("cross --backup=there north").text("backup") == "there")
  }

  @Test("each kind of value is parsed") func kinds() throws {
    let invocation = try run("cross --crew 12 --course scenic --timeout 1e1 north")
    #expect(invocation.integer("crew") == 12)
    #expect(invocation.text("course") == "scenic")
    #expect(invocation.number("timeout") == 10)
    #expect(invocation.integer("timeout") == nil)
    #expect(invocation.text("no-such-option") == nil)
  }

  @Test("the environment supplies values that the command line does not set") func environment()
    throws
  {
    let environment = ["FERRY_TIMEOUT": "2.5", "FERRY_CREW": "4"]
    let invocation = try run("cross north --crew 3", environment: environment)
    #expect(invocation.number("timeout") == 2.5)
    #expect(invocation.integer("crew") == 3)
  }

  @Test("an empty variable is unset") func emptyEnvironment() throws {
    #expect(try !run("fog", environment: ["FERRY_TIMEOUT": ""]).isGiven("timeout"))
  }

  @Test("a variable of another command's option is ignored") func foreignVariable() throws {
    #expect(try run("fog", environment: ["FERRY_CREW": "many"]).commandPath == ["fog"])
  }

  @Test("--version requests the version") func version() throws {
    guard case .version(let text) = try parse("--version cross") else { throw NotACommandToRun() }
    #expect(text == "ferry 1.2.0\n")
  }

  @Test(
    "--help takes precedence over errors",
    arguments: [
      ("--help", []), ("-h", []), ("--no-such-option --help", []), ("--version --help", []),
      ("nowhere -h", []), ("help", []), ("help --nowhere -h", []), ("cross --help", ["cross"]),
      ("cross --tag --help", ["cross"]), ("-h cross --crew many", ["cross"]),
      ("cross -nh", ["cross"]), ("help cross", ["cross"]), ("--help=x cross", ["cross"]),
      ("help ledger show", ["ledger", "show"]), ("ledger show a b c -h", ["ledger", "show"]),
      ("ledger -h", ["ledger"]), ("help nowhere -h", []),
    ] as [(String, [String])])
  func help(line: String, command: [String]) throws {
    guard case .help(let text) = try parse(line) else { throw NotACommandToRun() }
    #expect(text == ferry.helpText(for: command))
  }

  @Test("no arguments request help") func nothing() throws {
    guard case .help(let text) = try parse("") else { throw NotACommandToRun() }
    #expect(text == ferry.helpText())
  }

  @Test("after '--', --help is an argument") func helpAfterSeparator() throws {
    #expect(try run("cross -- --help").arguments == ["--help"])
  }

  @Test("arguments of any shape result in a value or an error, never in a crash")
  func anyWords() {
    let words = [
      "", "-", "--", "---", "--=", "-=", "-=x", "=", "--timeout", "--timeout=", "-n", "-n=", "-q-q",
      "cross", "help", "-\u{301}", "--\u{301}", "\u{0}", "-9e999", "ledger", "🐄",
      String(repeating: "-q", count: 500), String(repeating: "x", count: 5000),
    ]
    for first in words {
      for second in oneIn(6, of: words) {
        for line in [[first, second], ["cross", first, second], [first, "cross", second]] {
          do {
            _ = try ferry.parse(line) { _ in "\u{1B}[31m" }
          } catch {
            #expect(!inWords(error).unicodeScalars.contains("\u{1B}"))
          }
        }
      }
    }
  }
}
