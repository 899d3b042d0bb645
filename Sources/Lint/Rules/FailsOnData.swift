import SchemaHistory
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
      something syncs, a new CHECK is an error, because devices with an older version keep \
      sending rows that break it. A DELETE fails if other rows refer to the row, because actions \
      such as CASCADE run only with `foreign_keys: enforced`. Without an action it is a warning: \
      the app may know that the rows have no children. To find these failures, lint runs each \
      draft, and with `--full` each frozen migration, on rows that it generates. With `lint \
      --on-copy` it runs drafts on a copy of a real database.
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
      timeline.repeatedByMaps + timeline.nullKeys + timeline.refusedValues(scope)
        + timeline.failedRuns
    })
}

extension Timeline {
  /// Migrations that failed on generated rows, or on a copy of real ones.
  fileprivate var failedRuns: [Draft] {
    rowFailures.filter { !$0.isOfMap }.map { failure in
      let operation = operation(failure.place)?.kind
      let keys =
        switch failure.constraint {
        case .notNull?: ["not_null"]
        case .check?: ["check"]
        default: ["references", "unique"]
        }
      let added: ColumnDefinition? =
        if case .addColumn(_, let column)? = operation { column } else { nil }
      let filled = requiredColumn(failure).flatMap { filling($0.column, of: $0.table) }
      let rows =
        failure.database.map { "a copy of `\($0)`" } ?? "rows that the schema allows"
      let becomes =
        failure.formerName.map { " (the migration renames `\($0)` to `\(failure.object ?? "")`)" }
        ?? ""
      var draft = draft(
        "the migration fails on \(rows): \(failure.message)\(becomes)",
        at: failure.place, keys: keys, column: added?.name, object: failure.object,
        table: failure.object,
        fix: filled ?? added?.allowing(failure), filled == nil ? .instead : .before,
        position: failure.position == failure.place.position ? nil : failure.position,
        severity: failure.isOfNewConstraint || failure.insertsOnlyRow
          || failure.removedParents == .withoutAction ? .warning : nil)
      let change = "change or delete the rows that refer to them"
      switch failure.removedParents {
      case .withAction?:
        draft.help =
          change + " first: actions such as CASCADE run only with `foreign_keys: enforced`"
      case .withoutAction?: draft.help = change + " first"
      case .rebuilt?: draft.help = change + ", too, or keep the keys"
      case nil: break
      }
      if failure.insertsOnlyRow {
        let isOperation = if case .insert? = operation { true } else { false }
        draft.help =
          isOperation
          ? "insert the row with `sql: INSERT OR IGNORE …`, because a database may have it"
          : "add `OR IGNORE` or `ON CONFLICT DO NOTHING`, because a database may have this row"
      }
      draft.isCertain = failure.database != nil
      draft.failedTables = failure.tables
      draft.constraint = failure.constraint
      return draft
    }
  }

  /// The old column that becomes NOT NULL and refuses a row.
  private func requiredColumn(
    _ failure: RowFailure
  ) -> (table: TableShape, column: TableShape.Column)? {
    guard failure.constraint == .notNull else { return nil }
    return tables.lazy.filter { change, after in
      change.migration == failure.place.migration && failure.tables.contains(after.key)
    }.compactMap { change, after in
      change.keptColumns.first { old, new in
        old.notNull == nil && new.notNull != nil && failure.words.contains(new.key)
      }.map { (after, $0.new) }
    }.first
  }

  /// Columns of a primary key that become NOT NULL, as in every key of a WITHOUT ROWID table. Generated rows
  /// have no NULL in a key, because hardly any database has one.
  fileprivate var nullKeys: [Draft] {
    tables.flatMap { change, after -> [Draft] in
      guard let before = change.before, !losses.isUntried(change, self) else { return [] }
      return change.keptColumns.filter { old, new in
        before.isInPrimaryKey(old) && !before.isNeverNull(old)
          && (new.notNull != nil || after.isWithoutRowid && after.isInPrimaryKey(new))
          && !(new.notNull == .replace && new.defaultText != nil)
          && !change.isPrepared(new.key, self)
          && (!losses.ran(on: change)
            || losses.refusesNull.contains(
              .init(migration: change.migration, table: before.key, column: old.key)))
      }.map { _, new -> Draft in
        let cause = new.notNull == nil ? " in a WITHOUT ROWID table" : ""
        var draft = draft(
          "`\(after.name).\(new.name)` becomes NOT NULL\(cause), and SQLite accepts NULL in a key "
            + "without it",
          about: new, of: after, at: change.newestPlace(of: new),
          keys: ["not_null", "columns", "column", "table"], fix: filling(new, of: after), .before)
        draft.constraint = .notNull
        return draft
      }
    }
  }

  /// An `update` that replaces NULL in the column; nil for a foreign key, because only the author knows
  /// a parent to which rows may refer.
  private func filling(_ column: TableShape.Column, of table: TableShape) -> String? {
    guard !table.foreignKeys.contains(where: { $0.columns.contains(column.key) }) else {
      return nil
    }
    // Rows of one key need different values.
    let isSoleKey = table.primaryKey?.columns == [column.key]
    let unique = column.affinity == .text ? "'row ' || rowid" : "-rowid"
    let value = yamlQuoted(
      isSoleKey ? unique : column.defaultText ?? Value.empty(ofType: column.type).sql)
    return operationSnippet(
      "update",
      [
        ("table", yamlScalar(table.name)), ("set", "{ \(yamlScalar(column.name)): \(value) }"),
        ("where", yamlScalar("\(Quoting.identifier(column.name)) IS NULL")),
      ])
  }
}

extension ColumnDefinition {
  /// A definition of the new column with which the operation succeeds; nil if none is known.
  fileprivate func allowing(_ failure: RowFailure) -> String? {
    switch failure.constraint {
    case .notNull: return references == nil ? withDefault().yaml : nil
    case .stored:
      var column = self
      column.generated?.stored = false
      return column.yaml
    default: return nil
    }
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
        .filter { change.readsOldColumns($0.check) && !change.isTried($0.check, self) }
        .compactMap { draft($0, change, after, scope) }
      let key = LossEvidence.Key(migration: change.migration, table: before.key)
      guard change.becomesStrict, !losses.converted.contains(key) else { return checks }
      var strict = draft(
        "`\(after.name)` becomes STRICT, which fails if a value is not of its column's type",
        at: change.newest(of: [change.shaped]), keys: ["strict", "table"], object: after.name,
        table: after.name, severity: .warning)
      strict.constraint = .type
      return checks + [strict]
    }
  }

  private func draft(
    _ new: NewCheck, _ change: TableChange, _ after: TableShape, _ scope: LintScope
  ) -> Draft? {
    let columns = new.check.columns
    // A device without the CHECK keeps sending rows that violate it.
    let isShared =
      scope.syncs(after.name, in: change.migration) && scope.mayBeMissingOnDevices(change.migration)
    let isPrepared =
      losses.isUntried(change, self) || columns.contains { change.isPrepared($0, self) }
    guard isShared || !isPrepared else { return nil }
    let row = new.refused.map { "a row with \($0)" } ?? "a row that breaks it"
    var draft = draft(
      "`CHECK (\(new.check.text))` of `\(after.name)` "
        + (isShared
          ? "refuses \(row), which a device with an older version may send"
          : "fails if a database has \(row)"),
      at: place(of: "check", over: columns, change),
      keys: ["check", "checks", "columns", "column", "table"], object: after.name,
      table: after.name,
      severity: isShared || new.isTightened && failsByCheck(change, after) ? nil : .warning)
    draft.constraint = .check
    return draft
  }

  /// Whether a run on rows failed on a CHECK of the table.
  func failsByCheck(_ change: TableChange, _ after: TableShape) -> Bool {
    rowFailures.contains { failure in
      failure.place.migration == change.migration && failure.tables.contains(after.key)
        && failure.constraint == .check
    }
  }
}

extension TableChange {
  /// Whether a rebuild that computes a column of the CHECK ran on generated rows.
  fileprivate func isTried(_ check: TableShape.Check, _ timeline: Timeline) -> Bool {
    let kept = Set(keptColumns.map(\.new.key))
    return isRebuilt && timeline.losses.runOnAllRows.contains(migration)
      && !check.columns.isSubset(of: kept)
  }

  /// Whether the migration, or an earlier one of its release, first changes or removes the values of the
  /// column, or computes them in a copy. Trials on generated rows test computed values.
  fileprivate func isPrepared(_ column: Identifier, _ timeline: Timeline) -> Bool {
    let first = timeline.losses.releaseStart(of: migration)
    return isUpdated(column, timeline, since: first)
      || isCleared(column, timeline, since: first)
      || timeline.losses.computes(column, of: self)
  }
}
