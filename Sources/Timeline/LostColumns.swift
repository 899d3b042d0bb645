import SchemaManifest
import SchemaSQLText

extension Timeline {
  /// Every column that is gone under its name, with the table it was in.
  ///
  /// cr-sqlite lets columns go between `crsql_begin_alter` and `crsql_commit_alter`.
  package func lostColumns(_ scope: LintScope) -> [(TableChange, LostColumn, table: String)] {
    changes.flatMap { change -> [(TableChange, LostColumn, table: String)] in
      guard let table = change.before?.name else { return [] }
      return change.lost.filter { column in
        scope.profile(table, in: column.place.migration) != .crSQLite || !isInAlter(column.place)
      }.map { (change, $0, table) }
    }
  }

  private func isInAlter(_ place: StatementPlace) -> Bool {
    let calls = alterCalls.filter { $0.place.migration == place.migration }
    let before = calls.last { $0.place.number < place.number }
    let after = calls.first { $0.place.number > place.number }
    return before?.function == "crsql_begin_alter" && after?.function == "crsql_commit_alter"
  }

  /// The `move_column` that a column was dropped by.
  package func move(of column: LostColumn, at place: StatementPlace) -> MoveColumn? {
    guard case .moveColumn(let move)? = operation(place)?.kind,
      move.from.identifier == column.name.identifier
    else { return nil }
    return move
  }
}
