import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let failsOnData = Rule(
    id: "fails-on-data",
    section: .failsOnData,
    severities: .alwaysError,
    isFoundByRows: true,
    why: """
      The migration runs on empty tables, as in every test of a new database, and fails on rows \
      that the schema allows. ADD COLUMN fails with NOT NULL and no default, with a default that \
      is not a constant, and with a STORED value. A new NOT NULL fails if rows hold NULL. A new \
      UNIQUE, CHECK, STRICT or foreign key fails if existing rows break it (a warning). Where \
      something syncs, a new CHECK is an error, because devices with an older version keep sending \
      rows that break it. Lint also runs each migration on rows that it generates, and with `lint \
      --on-copy` on a copy of a real database.
      """,
    fix: """
      Change or delete the rows in question first, in the same migration. Give a new column a \
      default, or add it without a default and fill it with `update`.
      """,
    wrong: "- alter_column: { table: reminders, column: title, not_null: true }",
    right: """
      - update: { table: reminders, set: { title: "''" }, where: title IS NULL }
      - alter_column: { table: reminders, column: title, not_null: true }
      """,
    check: .history { timeline, scope in
      timeline.unaddableColumns + timeline.nullValues + timeline.repeatedValues
        + timeline.refusedValues(scope) + timeline.danglingValues + timeline.failedRuns
    })
}

extension Timeline {
  /// Migrations that failed on generated rows, or on a copy of real ones.
  fileprivate var failedRuns: [Draft] {
    rowFailures.filter { !$0.isOfMap }.map { failure in
      var draft = draft(
        failure.database.map { "the migration fails on a copy of \($0): \(failure.message)" }
          ?? "the migration fails on rows that the schema allows: \(failure.message)",
        at: failure.place, object: failure.object, table: failure.object,
        position: failure.position)
      draft.isCertain = failure.database != nil
      draft.failedTables = failure.tables
      return draft
    }
  }
}

// MARK: New columns

extension Timeline {
  /// Columns that SQLite can add to an empty table but not to one with rows.
  fileprivate var unaddableColumns: [Draft] {
    tables.flatMap { change, after in
      func draft(
        _ column: TableShape.Column, _ problem: String, at place: StatementPlace,
        fix: ColumnDefinition? = nil, help: String? = nil
      ) -> Draft {
        self.draft(
          "the new column `\(after.name).\(column.name)` \(problem)", about: column, of: after,
          at: place, keys: ["column", "columns", "table"], fix: fix?.yaml, help: help)
      }
      let random = change.nonConstantDefaults.sorted().compactMap(after.column).map { column in
        draft(
          column,
          "does not fit a table with rows: its default \(column.defaultText ?? "") is not a "
            + "constant", at: change.place(of: column.key),
          help: "add the column without this default, and fill it with `update`")
      }
      let empty = change.requiredColumns(self).filter { !$0.isFilled }.map { column, place, _ in
        draft(
          column, "is NOT NULL and existing rows have no value for it", at: place,
          fix: operation(place)?.definition(ofColumn: column.name)?.withDefault())
      }
      let stored = change.addedInPlace.sorted().compactMap(after.column).filter(\.isStored)
      return random + empty
        + stored.map { column in
          let place = change.place(of: column.key)
          var virtual = operation(place)?.definition(ofColumn: column.name)
          virtual?.generated?.stored = false
          return draft(
            column, "does not fit a table with rows: it is STORED", at: place, fix: virtual)
        }
    }
  }
}

// MARK: NULL

extension Timeline {
  /// Columns that become NOT NULL while rows may hold NULL.
  fileprivate var nullValues: [Draft] {
    tables.flatMap { change, after in
      change.columnsThatRefuseNull(self).map { column in
        draft(
          "`\(after.name).\(column.name)` becomes NOT NULL, and nothing fills the rows in which it is "
            + "NULL",
          about: column, of: after, at: change.newestPlace(of: column),
          keys: ["not_null", "columns", "column", "table"], fix: filling(column, of: after), .before
        )
      }
    }
  }

  private func filling(_ column: TableShape.Column, of table: TableShape) -> String {
    let value = yamlQuoted(column.defaultText ?? Value.empty(ofType: column.type).sql)
    return operationSnippet(
      "update",
      [
        ("table", yamlScalar(table.name)), ("set", "{ \(yamlScalar(column.name)): \(value) }"),
        ("where", yamlScalar("\(Quoting.identifier(column.name)) IS NULL")),
      ])
  }
}

extension TableChange {
  fileprivate func columnsThatRefuseNull(_ timeline: Timeline) -> [TableShape.Column] {
    guard let before, !timeline.losses.isUntried(self, timeline) else { return [] }
    return keptColumns.compactMap { old, new in
      guard old.notNull == nil, let action = new.notNull, !old.isGenerated, !new.isGenerated,
        before.rowidAlias != old.key, !created.contains(new.key),
        !timeline.losses.acceptsNull(in: old.name, of: self),
        !leavesRowsOut(timeline),
        !(isRebuilt && action == .replace && new.defaultText != nil),
        !isRefilled(new, timeline),
        !isUpdated(new.key, timeline, since: 0), !isUpdated(old.key, timeline, since: 0),
        !isCleared(old.key, timeline)
      else { return nil }
      return new
    }
  }

  /// Whether a copy ran on rows with NULL, and left rows out instead of failing.
  private func leavesRowsOut(_ timeline: Timeline) -> Bool {
    timeline.losses.runOnAllRows.contains(migration) && timeline.losses.losesRows(of: self)
  }

  /// Whether an operation states how the column of the new table is computed from the old row.
  private func isRefilled(_ column: TableShape.Column, _ timeline: Timeline) -> Bool {
    guard case .rebuildTable(let rebuild)? = timeline.operation(place(of: column.key))?.kind else {
      return false
    }
    return rebuild.where != nil || rebuild.copy.contains { $0.column.identifier == column.key }
  }
}

// MARK: Constraints

extension Timeline {
  /// CHECK constraints and types that existing rows, or rows from older versions of the app, may
  /// violate.
  fileprivate func refusedValues(_ scope: LintScope) -> [Draft] {
    tables.flatMap { change, after -> [Draft] in
      guard let before = change.before else { return [] }
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
      table: after.name,
      severity: isShared || new.isTightened && failsByCheck(change, after) ? nil : .warning)
  }

  /// Whether rows showed that a CHECK of the table fails.
  private func failsByCheck(_ change: TableChange, _ after: TableShape) -> Bool {
    rowFailures.contains { failure in
      failure.place.migration == change.migration && failure.tables.contains(after.key)
        && failure.message.contains("CHECK")
    }
  }

  /// New foreign keys on columns that already hold values.
  fileprivate var danglingValues: [Draft] {
    tables.flatMap { change, after in
      change.newForeignKeys(self).map { key in
        let columns = after.list(of: key.columns)
        return draft(
          "the foreign key `\(after.name)` (\(columns)) fails if a row refers to a row of "
            + "`\(key.parent)` that does not exist",
          at: change.place(ofConstraintOver: key.columns),
          keys: ["references", "foreign_keys", "columns", "column", "table"],
          object: "\(after.name).\(columns)", table: after.name, severity: .warning)
      }
    }
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
  fileprivate func isPrepared(_ column: Identifier, _ timeline: Timeline) -> Bool {
    isUpdated(column, timeline, since: migration) || isCleared(column, timeline)
      || timeline.losses.computes(column, of: self)
  }

  fileprivate func newForeignKeys(_ timeline: Timeline) -> [TableShape.ForeignKey] {
    guard let before, let after else { return [] }
    let kept = Set(keptColumns.map(\.new.key)).subtracting(created)
    return after.foreignKeys.filter { key in
      kept.isSuperset(of: key.columns)
        && !key.columns.contains { isPrepared($0, timeline) }
        && !before.foreignKeys.contains { old in
          renamed(old.columns) == key.columns
            && (old.parent.identifier == key.parent.identifier
              || timeline.change(of: key.parent, in: migration)?.before?.key
                == old.parent.identifier)
        }
    }
  }
}
