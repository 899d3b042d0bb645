import SchemaSQLText

extension Rule {
  static let rebuildLosesRows = Rule(
    id: "rebuild-loses-rows",
    section: .losesData,
    severities: .alwaysError,
    why: """
      The table is made anew, and rows stay behind in the old one, which is then dropped: because \
      nothing copies them at all, or because the copy picks rows by WHERE, LIMIT, DISTINCT, GROUP BY, \
      by a join (a row whose partner is missing is left out) or by INSERT OR IGNORE. A test database \
      holds no such rows, so nobody sees it there. Rows that are to go are deleted by a statement \
      that says so.
      """,
    fix: """
      Copy every row. Delete what must go with `delete` before, or use rebuild_table with `where` and \
      `rows_may_be_lost: true`.
      """,
    bad: Rule.Example(
      .local, remindersManifest, rebuiltReminders(copy: " WHERE title IS NOT NULL")),
    good: Rule.Example(.local, remindersManifest, rebuiltReminders(copy: "")),
    check: { timeline, _ in
      timeline.changes.compactMap { change -> Draft? in
        if let place = change.replacement, let table = change.before?.name {
          return timeline.draft(
            "\(table) is made anew and nothing copies its rows: they are gone with the old table",
            at: change.removal ?? place, keys: ["table", "name"], object: table, table: table)
        }
        guard let after = change.after else { return nil }
        guard let (copy, reason) = change.losingCopy(timeline) else {
          return timeline.rowsLost(by: change, after)
        }
        return timeline.draft(
          "the copy into \(after.name) leaves rows out (\(reason)): they are gone with the old table",
          at: copy.place, object: after.name, table: after.name)
      }
    })
}

extension Timeline {
  /// What shows only where there are rows: copies that bring some of them each, and not all together.
  fileprivate func rowsLost(by change: TableChange, _ after: TableShape) -> Draft? {
    guard let loss = rows.loss(of: after.key, in: change.migration),
      let copy = change.handCopies(self).first
    else { return nil }
    return draft(
      "\(after.name) is made anew and does not get all of its rows: of \(loss.before) it has "
        + "\(loss.after) afterwards, and the others are gone with the old table",
      at: copy.place, object: after.name, table: after.name)
  }
}

extension TableChange {
  /// The copy that leaves rows out. Where several statements copy from one table, each may bring
  /// what the others leave out: only rows can tell.
  fileprivate func losingCopy(_ timeline: Timeline) -> (RowCopy, reason: String)? {
    let copies = handCopies(timeline)
    for copy in copies {
      guard let text = CopyText(TokenizedSQL(copy.sql)),
        !copies.contains(where: { $0.place != copy.place && $0.from == copy.from })
      else { continue }
      if let filter = text.select.filter { return (copy, filter) }
      if let action = text.onConflict, action == "IGNORE" || action == "REPLACE", refusesMore {
        return (copy, "INSERT OR \(action)")
      }
    }
    return nil
  }

  /// Whether the new table refuses rows that the old one took.
  private var refusesMore: Bool {
    guard let before, let after else { return false }
    let known = (before.uniques + [before.primaryKey?.columns ?? []]).compactMap(renamed)
    let isMoreUnique = (after.uniques + [after.primaryKey?.columns ?? []]).contains { columns in
      !columns.isEmpty && !known.contains { !$0.isEmpty && Set($0).isSubset(of: columns) }
    }
    return isMoreUnique || !newChecks.isEmpty
      || keptColumns.contains { $0.old.notNull == nil && $0.new.notNull != nil }
  }
}
