import SchemaSQLText
import SchemaSQLite

extension Timeline {
  /// Every dropped or renamed column, with its table.
  ///
  /// cr-sqlite allows dropping columns between `crsql_begin_alter` and `crsql_commit_alter`.
  package func lostColumns(_ scope: LintScope) -> [(TableChange, LostColumn, table: String)] {
    changes.flatMap { change -> [(TableChange, LostColumn, table: String)] in
      guard let table = change.before?.name else { return [] }
      return change.lost.filter { column in
        scope.profile(table, in: column.place.migration) != .crSQLite || !isInAlter(column.place)
      }.map { (change, $0, table) }
    }
  }

  private func isInAlter(_ place: StatementPlace) -> Bool {
    let calls = statements(in: place.migration).flatMap { statement in
      statement.events.lazy.filter { $0.action == .function }.compactMap(\.second?.identifier)
        .filter { $0.hasPrefix("crsql_") }.map { (number: statement.place.number, name: $0) }
    }
    return calls.last { $0.number < place.number }?.name == "crsql_begin_alter"
      && calls.first { $0.number > place.number }?.name == "crsql_commit_alter"
  }
}

extension Timeline {
  /// The destination of a dropped column's values at the end of the release. A later migration may
  /// drop the table that contains them.
  package func destination(of column: LostColumn, in change: TableChange) -> Destination? {
    var destination = firstDestination(of: column, in: change)
    for later in changes(releasedWith: change.migration) where later.migration > change.migration {
      guard case .column(let table, let name)? = destination else { break }
      guard later.isDropped, later.before?.name.isSameName(as: table) == true else { continue }
      destination = losses.destination(name, of: table, in: later.migration)
    }
    return destination
  }

  /// The destination of a dropped column's values after the change. A rebuild that spans several
  /// migrations loses them in the migration that drops the old table. An earlier migration may have
  /// renamed that table.
  private func firstDestination(of column: LostColumn, in change: TableChange) -> Destination? {
    guard let before = change.before else { return nil }
    if let known = losses.destination(column.name, of: before.name, in: change.migration) {
      return known
    }
    let removal = column.place.migration
    let old = changes(in: removal).first { $0.before?.key == before.key }?.after
    let later = migrations.indices.dropFirst(removal + 1).reversed().lazy.compactMap { migration in
      old.flatMap { losses.destination(column.name, of: $0.name, in: migration) }
    }.first
    if let known = later ?? losses.destination(column.name, of: before.name, in: removal) {
      return known
    }
    // The old table still exists under another name.
    if let former = change.former, former.column(column.name) != nil {
      return .column(table: former.name, column: column.name)
    }
    // The loss experiment skips a migration that only renames a table. The values remain in that
    // table.
    guard let old, let kept = old.column(column.name), !losses.untried.contains(removal) else {
      return nil
    }
    return .column(table: old.name, column: kept.name)
  }

  /// The name of the dropped column, now or earlier, that another column of the table has after the
  /// change. Nil if no other column has such a name, or if the values of the dropped column are
  /// neither lost nor narrowed. Migrations of one release count as one: an earlier one may have
  /// renamed the dropped column, and a later one may add the other column.
  package func replacedName(of column: LostColumn, in change: TableChange) -> String? {
    if change.after?.column(column.name) != nil { return column.name }
    guard let before = change.before, let after = change.after else { return nil }
    switch destination(of: column, in: change) {
    case .nowhere?, .detached?, .narrowed?: break
    case .column?, .elsewhere?, nil: return nil
    }
    let together = changes(releasedWith: change.migration)
    let isReplaced = together.contains { later in
      later.migration > change.migration && later.after?.key == after.key
        && later.before?.column(column.name) == nil && later.after?.column(column.name) != nil
    }
    if isReplaced { return column.name }
    let earlier = names(of: before.key, column.name.identifier, upTo: change.migration)
      .prefix { losses.areInOneRelease($0.migration, change.migration) }
    return earlier.lazy.compactMap { $0.column.flatMap(after.column) }.first?.name
  }
}
