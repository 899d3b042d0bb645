import SchemaCommandLine
import Testing

@Suite("Help") struct HelpTextTests {
  @Test("the program's help") func program() {
    #expect(
      ferry.helpText() == """
        ferry 1.2.0: carries passengers and cargo over the water

        USAGE
          ferry COMMAND [OPTIONS]

        COMMANDS
          cross   Goes to the other side.
          ledger  The harbour's book.
          fog     Whether there is fog.

        OPTIONS
          -h, --help     Show this help.
              --version  Show the version.

        """)
  }

  @Test("a command's help") func command() {
    #expect(
      ferry.helpText(for: ["cross"]) == """
        ferry cross: Goes to the other side.

        USAGE
          ferry cross [OPTIONS] PIER [CARGO...]

        Nothing is loaded before every passenger is aboard.

        ARGUMENTS
          PIER   Where to land.
          CARGO  What to carry; people alone when none is named.

        OPTIONS
          -n, --dry-run          Do not leave the pier.
              --crew COUNT       How many sailors. (a whole number from 1 to 12;
                                 environment: FERRY_CREW)
              --course COURSE    Which way. (one of `direct`, `scenic`)
              --tag TEXT         A label for the cargo. (repeatable)
              --backup[=PATH]    Copy the ledger first, beside it or to PATH.
          -q, --quiet            Say less.
              --timeout SECONDS  How long to wait for a free pier before giving up and
                                 turning back. (a number from 0 to 3600; environment:
                                 FERRY_TIMEOUT)
              --logbook PATH     Where the captain writes.
          -h, --help             Show this help.

        EXAMPLES
          ferry cross --dry-run north
              Says what a crossing to the north pier would carry.
          ferry cross north cows sheep
              Takes cows and sheep to the north pier.

        """)
  }

  @Test("the help of a command with only subcommands") func group() {
    #expect(
      ferry.helpText(for: ["ledger"]) == """
        ferry ledger: The harbour's book.

        USAGE
          ferry ledger COMMAND [OPTIONS]

        COMMANDS
          show    Shows [all] the ledger's lines: 'as written'.
          repair  Mends a torn page.

        OPTIONS
          -h, --help  Show this help.

        """)
  }

  @Test("a program's commands are listed under the headings of their groups")
  func groups() {
    let fleet = CommandLineProgram(
      name: "fleet", version: "1", summary: "sails",
      groups: [("Every day", ["sail", "row"]), ("Once", ["sink"])].map { group, names in
        (
          group,
          names.map { name in (name, { CommandDeclaration(name: name, summary: "Does so.") }) }
        )
      })
    #expect(
      fleet.helpText().contains(
        """
        EVERY DAY
          sail  Does so.
          row   Does so.
        ONCE
          sink  Does so.

        """))
  }

  @Test("no line is wider than 80 columns, except for a single long word, or ends in a space")
  func width() {
    for path in [[], ["cross"], ["ledger"], ["ledger", "show"], ["fog"]] {
      for line in ferry.helpText(for: path).split(separator: "\n") {
        #expect(line.count <= 80)
        #expect(line.last != " ")
      }
    }
  }

  @Test("a label that is too wide for its column gets its own line") func wideLabel() {
    let wide = CommandLineProgram(
      name: "raft", version: "1", summary: "floats",
      commands: [
        CommandDeclaration(
          name: "drift", summary: "Drifts.",
          options: [
            OptionDeclaration("until-the-very-end", .text("OF-THE-RIVER"), summary: "Goes on.")
          ])
      ])
    #expect(
      wide.helpText(for: ["drift"]).contains(
        """
        OPTIONS
              --until-the-very-end OF-THE-RIVER
                      Goes on.
          -h, --help  Show this help.

        """))
  }
}
