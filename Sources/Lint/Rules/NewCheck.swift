import SchemaSQLText

extension Rule {
  static let newCheck = Rule(
    id: "new-check",
    section: .failsOnData,
    severities: Severities(.warning, .warning, .warning),
    why: """
      Rows that are there were written without the CHECK, and on some database one of them breaks it: \
      the migration fails there. The same is true of STRICT, which is a check of every value's type. \
      A CHECK on a new column alone looks at nothing but its default, one that takes all that the \
      old one took refuses nothing, and one that comes to the same whatever the old columns hold is \
      as good as tried. What a copy computes is tried on rows (fails-on-rows).
      """,
    fix: "First `update` the rows that break the CHECK, in the same migration.",
    bad: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - alter_column: { table: tasks, column: status, check: "status IN (0, 1)" }
      """),
    good: Rule.Example(
      .local, checkedManifest,
      """
      operations:
        - update: { table: tasks, set: { status: "1" }, where: status = 2 }
        - alter_column: { table: tasks, column: status, check: "status IN (0, 1)" }
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard let before = change.before, let after = change.after else { return [] }
        var drafts = change.newChecks.compactMap { new -> Draft? in
          let columns = new.check.columns.sorted()
          guard change.looksAtOldColumns(new.check), !change.isTried(new.check, timeline),
            !columns.contains(where: {
              change.isUpdated($0, timeline, since: change.migration)
                || change.isCleared($0, timeline) || timeline.losses.computes($0, of: change)
            })
          else { return nil }
          return timeline.draft(
            "CHECK (\(new.check.text)) of \(after.name): the migration fails on a database with a row "
              + "that breaks it" + (new.refused.map { ", such as one with \($0)" } ?? ""),
            at: change.newest(of: columns.map(change.place(of:)) + [change.shaped]),
            keys: ["check", "checks", "columns", "column", "table"], object: after.name,
            table: after.name)
        }
        if after.isStrict, !before.isStrict, !before.isVirtual {
          drafts.append(
            timeline.draft(
              "\(after.name) becomes STRICT: the migration fails on a database with a value that is "
                + "not of its column's type",
              at: change.newest(of: [change.shaped]), keys: ["strict", "table"], object: after.name,
              table: after.name))
        }
        return drafts
      }
    })
}

extension TableChange {
  /// Whether rows went through a rebuild that gives the check's new columns their values.
  fileprivate func isTried(_ check: TableShape.Check, _ timeline: Timeline) -> Bool {
    let kept = Set(keptColumns.map(\.new.key))
    return isRebuilt && timeline.losses.runOnAllRows.contains(migration)
      && !check.columns.isSubset(of: kept)
  }

  /// Whether a check looks at values that were there before it.
  func looksAtOldColumns(_ check: TableShape.Check) -> Bool {
    let kept = Set(keptColumns.map(\.new.key))
    return !check.columns.isDisjoint(with: kept)
  }
}
