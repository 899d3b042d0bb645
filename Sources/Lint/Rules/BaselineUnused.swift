extension Rule {
  static let baselineUnused = Rule(
    id: "baseline-unused",
    section: .waivers,
    severities: Severities(.warning, .warning, .warning),
    why: """
      The baseline lists the findings that were there when lint was adopted, so that only new ones are \
      reported. An entry without its finding is a hole: it hides, unseen, the next finding of its \
      rule about the same object.
      """,
    fix: "Remove the line, or write the baseline anew: `schemactl lint --write-baseline`.",
    bad: Rule.Example(
      .local, baseline: "0000000000000000 drop-column 0001_step reminders.notes", remindersManifest),
    good: Rule.Example(.local, remindersManifest),
    check: judgedWithTheWaivers)
}
