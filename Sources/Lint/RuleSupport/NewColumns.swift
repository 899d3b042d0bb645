import SchemaSQLText

extension TableChange {
  /// The columns that the table did not have before.
  ///
  /// - Parameter countsStaged: a copy that an earlier migration made, and that took the table's
  ///   place in this one, counts as having been judged then.
  func newColumns(countsStaged: Bool) -> [TableShape.Column] {
    guard let after else { return [] }
    let known = countsStaged ? [before, staged] : [before]
    return after.columns.filter { column in
      !known.contains { $0?.column(column.name) != nil }
    }
  }

  /// Whether what the table's copy already had was judged when an earlier migration made it.
  func stagedWasJudged(_ scope: LintScope) -> Bool {
    staged.map { scope.syncs($0.name, in: migration - 1) } ?? false
  }

  /// What was there before and, unless it was never judged, what the table's copy had.
  func judged(_ scope: LintScope) -> [TableShape] {
    [before, stagedWasJudged(scope) ? staged : nil].compactMap { $0 }
  }
}
