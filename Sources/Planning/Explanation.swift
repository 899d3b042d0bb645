import SchemaSQLText

extension OperationPlan {
  /// The strategy, what it means for the rows, and why it was taken.
  package var explanation: String {
    switch strategy {
    case .native, .sql, .assertion: why
    default: "\(strategy.rawValue): \(why)"
    }
  }

  /// What the strategy means for the rows, and why no cheaper one does.
  package var why: String {
    let meaning =
      switch strategy {
      case .native: "SQLite's own statement"
      case .update:
        updatesEveryRow
          ? "writes every row in place"
          : writesRows ? "writes only rows whose value changes" : "writes no row"
      case .schemaEdit:
        writesRows ? "writes only rows that are older than the column" : "writes no row"
      case .rewrite:
        copiesRows ? "writes every row once" : "done by the rewrite of a following operation"
      case .sql: "as the manifest specifies"
      case .assertion: "changes nothing"
      }
    return reason.map { "\(meaning), because \($0)" } ?? meaning
  }

  var copiesRows: Bool { steps.contains { if case .copy = $0 { true } else { false } } }

  private var updatesEveryRow: Bool {
    steps.contains { if case .update(let update) = $0 { update.condition == nil } else { false } }
  }

  /// Whether rows of the user's tables are written where they stand.
  var writesRows: Bool {
    steps.contains { if case .rewriting = $0 { true } else { false } }
  }
}
