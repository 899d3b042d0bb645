import ManifestFormat
import SQLText

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
      case .renameAndUpdate:
        writesRows
          ? "only rows whose value changes are rewritten"
          : "no row is rewritten"
      case .addAndUpdate: "only rows that differ from the default are rewritten"
      case .edit:
        writesRows
          ? "only rows that are older than the column are rewritten"
          : "no row is rewritten"
      case .rebuild: "the table is copied, made anew and filled again"
      case .sharedPass:
        switch pass {
        case .later: "done by the pass of an operation that follows"
        case .exchange: "the rows are copied once, for all operations of the pass"
        case .rebuild: "the table is made anew once, for all operations of the pass"
        }
      case .sql: "as the manifest spells it out"
      case .assertion: "changes nothing"
      }
    return reason.map { "\(meaning), because \($0)" } ?? meaning
  }

  enum Pass { case later, exchange, rebuild }

  /// Where the work of a shared pass is done.
  var pass: Pass {
    guard steps.contains(where: { if case .copy = $0 { true } else { false } }) else {
      return .later
    }
    return writesRows ? .rebuild : .exchange
  }

  /// Whether rows of the user's tables are written where they stand.
  var writesRows: Bool {
    steps.contains { if case .rewriting = $0 { true } else { false } }
  }
}
