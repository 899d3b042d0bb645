import SchemaCommandLine
import Testing

@Suite("Usage errors") struct UsageErrorTests {
  @Test(
    "an error states the problem, a suggestion and where to read more",
    arguments: [
      (
        "cross north --dry-rnu",
        "unknown option `--dry-rnu` for `cross`. Did you mean `--dry-run`?", "ferry cross --help"
      ),
      (
        "cross north --dry", "unknown option `--dry` for `cross`. Did you mean `--dry-run`?",
        "ferry cross --help"
      ),
      (
        "cross north -dry-run",
        "unknown option `-dry-run` for `cross`. Did you mean `--dry-run`?", "ferry cross --help"
      ),
      (
        "cross north --zeppelin=x", "unknown option `--zeppelin` for `cross`.",
        "ferry cross --help"
      ),
      (
        "fog --course scenic", "unknown option `--course` for `fog`. It is an option of `cross`.",
        "ferry fog --help"
      ),
      ("fog -qx", "unknown option `-x` for `fog`.", "ferry fog --help"),
      ("--tiemout 5 fog", "unknown option `--tiemout`.", "ferry --help"),
      ("corss north", "unknown command `corss`. Did you mean `cross`?", "ferry --help"),
      ("hlep", "unknown command `hlep`. Did you mean `help`?", "ferry --help"),
      ("sink", "unknown command `sink`.", "ferry --help"),
      ("help corss", "unknown command `corss`. Did you mean `cross`?", "ferry --help"),
      (
        "ledger repiar", "unknown command `ledger repiar`. Did you mean `repair`?",
        "ferry ledger --help"
      ),
      (
        "--quiet", "a command is missing. The commands are `cross`, `ledger`, `fog`.",
        "ferry --help"
      ),
      (
        "ledger", "`ledger` needs a subcommand. The subcommands are `show`, `repair`.",
        "ferry ledger --help"
      ),
      ("cross", "argument `PIER` is missing for `cross`.", "ferry cross --help"),
      ("help --quiet fog", "`help` has no option `--quiet`.", "ferry --help"),
      (
        "ledger show monday sunday",
        "unexpected argument `sunday` for `ledger show`. It takes `[DAY]`.",
        "ferry ledger show --help"
      ),
      (
        "ledger repair page",
        "unexpected argument `page` for `ledger repair`. It takes no arguments. Quote a pattern such as `*.db`.",
        "ferry ledger repair --help"
      ),
      ("fog -q --quiet", "option `--quiet` appears more than once.", "ferry fog --help"),
      (
        "fog --timeout 1 --timeout=2", "option `--timeout` appears more than once.",
        "ferry fog --help"
      ),
      ("fog --quiet=no", "option `--quiet` takes no value, but has `no`.", "ferry fog --help"),
      ("fog -q=", "option `-q` takes no value, but has ``.", "ferry fog --help"),
      (
        "fog --logbook",
        "option `--logbook` needs a value. "
          + "Write a value that begins with `-` as `--logbook=VALUE`.", "ferry fog --help"
      ),
      (
        "cross --tag --dry-run north",
        "option `--tag` needs a value. Write a value that begins with `-` as `--tag=VALUE`.",
        "ferry cross --help"
      ),
      (
        "cross north --course senic",
        "option `--course` must be one of `direct`, `scenic`, not `senic`. Did you mean `scenic`?",
        "ferry cross --help"
      ),
      (
        "cross north --course=", "option `--course` must be one of `direct`, `scenic`, not ``.",
        "ferry cross --help"
      ),
    ])
  func errors(line: String, message: String, help: String) {
    #expect(complaint(line) == "ferry: \(message)\nSee `\(help)`.")
  }

  @Test(
    "an invalid number and a number outside its range are refused",
    arguments: ["nan", "inf", "-inf", "1e999", "0x10", "", "-1", "3600.1", "5s", "1,5", "½"])
  func numbers(value: String) {
    #expect(
      complaint("fog --timeout=\(value)")?.hasPrefix(
        "ferry: option `--timeout` must be a number from 0 to 3600, not `\(value)`.") == true)
  }

  @Test(
    "an invalid integer and an integer outside its range are refused",
    arguments: ["0", "13", "1.0", "", "99999999999999999999", "-1", "0x1", "1e1"])
  func integers(value: String) {
    #expect(
      complaint("cross north --crew=\(value)")?.hasPrefix(
        "ferry: option `--crew` must be a whole number from 1 to 12, not `\(value)`.") == true)
  }

  @Test("an error for an invalid value from the environment names the variable") func environment()
  {
    #expect(
      complaint("fog", environment: ["FERRY_TIMEOUT": "soon"])
        == """
        ferry: the environment variable `FERRY_TIMEOUT` must be a number from 0 to 3600, not `soon`.
        See `ferry fog --help`.
        """)
  }

  @Test("the message omits a missing upper limit") func openRange() {
    let program = CommandLineProgram(
      name: "raft", version: "1", summary: "floats",
      commands: [
        CommandDeclaration(
          name: "drift", summary: "Drifts.",
          options: [
            OptionDeclaration(
              "days", .number("DAYS", 0...Int.max, whole: true), summary: "How long.")
          ])
      ])
    let error = #expect(throws: UsageError.self) {
      try program.parse(["drift", "--days=x"]) { _ in nil }
    }
    #expect(error?.message == "option `--days` must be a whole number, at least 0, not `x`")
  }

  @Test("control characters of arguments are escaped") func control() {
    let error = #expect(throws: UsageError.self) {
      try ferry.parse(["\u{1B}[2J\n\u{202E}"]) { _ in nil }
    }
    #expect(error?.message == #"unknown command `\u{1B}[2J\u{A}\u{202E}`"#)
  }
}

@Suite("Declarations") struct DeclarationTests {
  @Test("a valid program has no problems") func sound() {
    #expect(ferry.problems == [])
  }

  @Test("ambiguous declarations are reported") func unsound() {
    let all = OptionDeclaration("all", short: "h", summary: "")
    let some = OptionDeclaration("all", .text("SOME"), summary: "")
    let drift = CommandDeclaration(
      name: "drift", summary: "",
      arguments: [
        ArgumentDeclaration(name: "A", summary: "", required: false, repeats: true),
        ArgumentDeclaration(name: "B", summary: ""),
      ], options: [all])
    let sail = CommandDeclaration(name: "sail", summary: "", options: [some])
    let raft = CommandLineProgram(
      name: "raft", version: "1", summary: "", commands: [drift, sail, sail])
    #expect(
      raft.problems == [
        "command `sail` of `raft` is declared twice",
        "option `-h` of `raft drift` is declared twice",
        "argument A repeats and is not the last, of `raft drift`",
        "argument B is required and comes after A, which is not, of `raft drift`",
        "`--all` takes a value for some commands and not for others",
      ])
  }
}
