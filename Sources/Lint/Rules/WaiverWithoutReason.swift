extension Rule {
  static let waiverWithoutReason = Rule(
    id: "waiver-without-reason",
    section: .waivers,
    severities: .alwaysError,
    why: """
      A waiver says that a finding is known and accepted here. Without a reason nobody can tell later \
      whether that still holds, so such a waiver does not hold at all: the finding stays, and this \
      one comes on top.
      """,
    fix: "Write down why the finding does no harm here.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - add_column: { table: reminders, column: { name: notes, type: TEXT } }
      lint:
        allow:
          - { rule: drop-column, reason: "" }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      moveManifest(keepsSource: false) + "\n"
        + """
        lint:
          allow:
            - rule: drop-column
              reason: The database is local to one device; nothing syncs with it.
        """),
    check: judgedWithTheWaivers)

  /// These rules look at which findings the waivers allow: see `Waivers`.
  static let judgedWithTheWaivers: @Sendable (Timeline, LintScope) -> [Draft] = { _, _ in [] }
}
