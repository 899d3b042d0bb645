import SchemaSQLText
import SchemaTimeline

extension Timeline {
  /// CHECK constraints and types that existing rows, or rows from older versions of the app, may
  /// violate.
  func refusedValues(_ scope: LintScope) -> [Draft] {
    changes.flatMap { change -> [Draft] in
      guard let before = change.before, let after = change.after else { return [] }
      let checks = change.newChecks
        .filter { change.looksAtOldColumns($0.check) && !change.isTried($0.check, self) }
        .compactMap { draft($0, change, after, scope) }
      guard after.isStrict, !before.isStrict, !before.isVirtual else { return checks }
      return checks + [
        draft(
          "`\(after.name)` becomes STRICT, which fails if a value is not of its column's type",
          at: change.newest(of: [change.shaped]), keys: ["strict", "table"], object: after.name,
          table: after.name, severity: .warning)
      ]
    }
  }

  private func draft(
    _ new: NewCheck, _ change: TableChange, _ after: TableShape, _ scope: LintScope
  ) -> Draft? {
    let columns = new.check.columns
    // A device without the CHECK keeps sending rows that violate it.
    let isShared =
      scope.syncs(after.name, in: change.migration) && scope.isUnknownSomewhere(change.migration)
    let isPrepared =
      losses.isUntried(change, self) || columns.contains { change.isPrepared($0, self) }
    guard isShared || !isPrepared else { return nil }
    let row = new.refused.map { "a row with \($0)" } ?? "a row that breaks it"
    return draft(
      "CHECK (\(new.check.text)) of `\(after.name)` "
        + (isShared
          ? "refuses \(row), which a device with an older version may send"
          : "fails if a database has \(row)"),
      at: change.place(ofConstraintOver: columns),
      keys: ["check", "checks", "columns", "column", "table"], object: after.name,
      table: after.name, severity: isShared ? nil : .warning)
  }
}

extension TableChange {
  /// Whether a rebuild that computes the CHECK's new columns ran on generated rows.
  fileprivate func isTried(_ check: TableShape.Check, _ timeline: Timeline) -> Bool {
    let kept = Set(keptColumns.map(\.new.key))
    return isRebuilt && timeline.losses.runOnAllRows.contains(migration)
      && !check.columns.isSubset(of: kept)
  }

  /// Whether the migration first changes or removes the values of the column. Values that a copy
  /// computes are tested on generated rows.
  func isPrepared(_ column: Identifier, _ timeline: Timeline) -> Bool {
    isUpdated(column, timeline, since: migration) || isCleared(column, timeline)
      || timeline.losses.computes(column, of: self)
  }
}
