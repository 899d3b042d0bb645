import SQLText
import SchemaModel

extension Rule {
  static let newUnique = Rule(
    id: "new-unique",
    section: .failsOnData,
    severities: Severities(.warning, .warning, .warning),
    why: """
      Until now nothing kept two rows from holding the same. On a database where two do, making the \
      index or the constraint fails, and the user cannot update. A statement that deletes or rewrites \
      the repeated rows first, in the same migration, is what lint looks for. NULLs never repeat.
      """,
    fix: "Delete or change what repeats first, in the same migration, or use an ordinary index.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: CREATE UNIQUE INDEX reminders_title ON reminders (title)
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - delete:
            table: reminders
            where: rowid NOT IN (SELECT min(rowid) FROM reminders GROUP BY title)
        - sql: CREATE UNIQUE INDEX reminders_title ON reminders (title)
      """),
    check: { timeline, _ in
      let indexes = timeline.indexes.compactMap { index -> Draft? in
        let migration = index.place.migration
        let change = timeline.change(of: index.table, in: migration)
        guard !timeline.isNew(index.table, in: migration),
          timeline.mayRepeat(index.columns, of: index.table, change, before: index.place)
        else { return nil }
        return timeline.draft(
          "the unique index \(index.name): the migration fails on a database in which two rows of "
            + "\(index.table) hold the same", at: index.place, keys: ["unique", "name"],
          object: index.name, table: index.table)
      }
      let constraints = timeline.changes.flatMap { change -> [Draft] in
        guard let before = change.before, let after = change.after else { return [] }
        let known = before.uniques.compactMap(change.renamed)
        return after.uniques.compactMap { columns in
          let place = change.newest(of: columns.map(change.place(of:)) + [change.shaped])
          guard !known.contains(where: { Set($0).isSubset(of: columns) }),
            timeline.mayRepeat(columns, of: after.name, change, before: place)
          else { return nil }
          let names = columns.map { after.column($0)?.name ?? $0 }.joined(separator: ", ")
          return timeline.draft(
            "UNIQUE (\(names)) of \(after.name): the migration fails on a database in which two rows "
              + "hold the same",
            at: place, keys: ["unique", "columns", "table"], object: "\(after.name).\(names)",
            table: after.name)
        }
      }
      return indexes + constraints
    })
}

extension Timeline {
  fileprivate func mayRepeat(
    _ columns: [String?], of table: String, _ change: TableChange?, before place: StatementPlace
  ) -> Bool {
    let names = columns.compactMap { $0 }
    let key = table.asciiLowercased
    let earlier = statements(in: place.migration).filter { $0.place.number < place.number }
    let isPrepared = earlier.contains { statement in
      guard let target = statement.target, target.name.asciiLowercased == key || target.isCopy
      else {
        return false
      }
      return target.deletes || !target.updates.isDisjoint(with: names)
    }
    if isPrepared { return false }
    if wasUnique(columns, of: key, before: place) { return false }
    guard let change, let before = change.before, let after = change.after else { return true }
    if change.handCopies(self).contains(where: { copy in
      CopyText(TokenizedSQL(copy.sql)).map { $0.select.filter != nil || $0.onConflict != nil }
        ?? false
    }) {
      return false
    }
    if let primary = before.primaryKey?.columns, Set(primary).isSubset(of: names) { return false }
    if before.uniques.contains(where: { !$0.isEmpty && Set($0).isSubset(of: names) }) {
      return false
    }
    // A new column is NULL in every row, and NULLs do not repeat; what a copy fills it with is not
    // known.
    return !names.contains { name in
      guard let column = after.column(name), before.column(name) == nil else { return false }
      return column.defaultText == nil
    }
  }

  /// Whether an index that the migration took away said the same.
  private func wasUnique(
    _ columns: [String?], of table: String, before place: StatementPlace
  ) -> Bool {
    gone.contains { gone in
      guard gone.place.migration == place.migration, let index = self.index(gone) else {
        return false
      }
      return index.isUnique && index.condition == nil && Set(index.columns).isSubset(of: columns)
    } || isKnownKey(columns.compactMap { $0 }, of: table, before: place)
  }

  /// Whether the table's key is among the columns, as far as the last change of it tells.
  private func isKnownKey(
    _ columns: [String], of table: String, before place: StatementPlace
  ) -> Bool {
    let last = changes.last {
      $0.migration <= place.migration && $0.after?.name.asciiLowercased == table
    }
    guard let shape = last?.migration == place.migration ? last?.before : last?.after else {
      return false
    }
    return ([shape.primaryKey?.columns ?? []] + shape.uniques).contains {
      !$0.isEmpty && Set($0).isSubset(of: columns)
    }
  }
}
