import SchemaSQLText

/// Data that a step removed from generated rows.
package struct Loss: Sendable {
  package enum Kind: Sendable {
    /// Values of a column, in all rows or in some, and the trigger that overwrites them.
    case values(isAll: Bool, by: String? = nil)
    /// Values that moved to columns which had values of their own.
    case exchanged([(from: String, to: String)])
    /// Values of a column that moved to other rows.
    case moved
    /// Two different values of a column that became equal.
    case narrowed(String, String)
    case rows(isAll: Bool, if: Condition? = nil)
  }

  /// The condition under which a step loses rows.
  package enum Condition: Sendable {
    /// The table is empty.
    case empty(String)
    /// No row of the table matches the column, and no foreign key requires such a row.
    case unmatched(column: String, in: String)
  }

  package let kind: Kind
  package let place: StatementPlace
  /// The name as the schema before the step spells it.
  package let table: String
  package let column: String?

  package init(_ kind: Kind, at place: StatementPlace, of table: String, column: String?) {
    self.kind = kind
    self.place = place
    self.table = table
    self.column = column
  }

  fileprivate var columns: [String] {
    if case .exchanged(let columns) = kind {
      columns.map(\.from)
    } else {
      [column].compactMap { $0 }
    }
  }
}

/// The location of a column's values after a step.
package enum Destination: Sendable {
  case column(table: String, column: String)
  /// In a different form, or in several columns.
  case elsewhere
  /// In other tables, but no key connects them with their former rows.
  case detached
  /// In a form in which these two different values are equal.
  case narrowed(String, String)
  case nowhere
}

/// The results of the loss experiments, by migration and table.
package struct LossEvidence: Sendable {
  package struct Key: Sendable, Hashable {
    package let migration: Int
    package let table: Identifier
    package var column: Identifier?

    package init(migration: Int, table: Identifier, column: Identifier? = nil) {
      self.migration = migration
      self.table = table
      self.column = column
    }
  }

  package var losses: [Loss] = []
  /// Destinations of columns that their table no longer has.
  package var destinations: [Key: Destination] = [:]
  /// The dropped tables that lose some of their rows.
  package var partlyLost: Set<Key> = []
  /// The tables that held rows when a step ran.
  package var judged: Set<Key> = []
  /// The keys in which a NULL makes a step fail.
  package var refusesNull: Set<Key> = []
  /// The tables that a step makes STRICT, and in which it converts values of other types.
  package var converted: Set<Key> = []
  /// The tables whose rebuild changes values in columns that keep their types, or adds or omits rows.
  package var rewritten: Set<Key> = []
  /// The columns whose values each device stores differently, and the tables whose rows differ, as keys
  /// without a column.
  package var varying: [Key] = []
  /// The frozen migrations, which run with rows only under `--full`.
  package var untried: Set<Int> = []
  /// The columns that lint did not check for changed values, to save time.
  package var skipped: Set<Key> = []
  /// The migrations that ran with all kinds of rows.
  package var runOnAllRows: Set<Int> = []
  /// Reasons why a step could not be tested with rows.
  package var notes: [String] = []
  /// The release of each migration as a number; drafts belong to the next release.
  package var releases: [Int] = []

  package init() {}

  /// Whether two migrations are released together.
  package func areInOneRelease(_ a: Int, _ b: Int) -> Bool {
    releases.indices.contains(a) && releases.indices.contains(b) && releases[a] == releases[b]
  }

  /// The first migration that is released together with this one.
  package func releaseStart(of migration: Int) -> Int {
    (0...migration).first { areInOneRelease($0, migration) } ?? migration
  }

  package func isJudged(_ table: Identifier, in migration: Int) -> Bool {
    judged.contains(Key(migration: migration, table: table))
  }

  /// Whether a change loses the values of a column.
  package func loses(_ column: String, of change: TableChange) -> Bool {
    losses(of: change).contains { $0.columns.contains { $0.isSameName(as: column) } }
  }

  private func losses(of change: TableChange) -> [Loss] {
    losses.filter { loss in
      loss.place.migration == change.migration && loss.table.identifier == change.before?.key
    }
  }

  /// Whether the location of the column's values is unknown, because lint skipped the column or the whole
  /// migration.
  package func isUntried(_ column: String, of table: String, in migration: Int) -> Bool {
    untried.contains(migration)
      || skipped.contains(
        Key(migration: migration, table: table.identifier, column: column.identifier))
  }

  /// Whether a step ran on rows of the table.
  package func ran(on change: TableChange) -> Bool {
    change.before.map { isJudged($0.key, in: change.migration) } ?? false
  }

  /// Whether the effect of a change on the table's values is unknown: SQL of the manifest copies
  /// the rows, and lint did not run the migration with rows.
  package func isUntried(_ change: TableChange, _ timeline: Timeline) -> Bool {
    untried.contains(change.migration) && change.isRebuiltByHand(timeline)
  }

  package func losesRows(of change: TableChange) -> Bool {
    losses(of: change).contains { if case .rows = $0.kind { true } else { false } }
  }

  /// Whether a change replaced or lost the values of a column, or lost rows of its table.
  package func computes(_ column: Identifier, of change: TableChange) -> Bool {
    guard let table = change.before?.key else { return false }
    let old = change.renamedColumns.first { $0.value == column }?.key ?? column
    switch destinations[Key(migration: change.migration, table: table, column: old)] {
    case .elsewhere?, .detached?, .narrowed?, .nowhere?: return true
    case .column?, nil: return losesRows(of: change)
    }
  }

  package func destination(_ column: String, of table: String, in migration: Int) -> Destination? {
    destinations[
      Key(migration: migration, table: table.identifier, column: column.identifier)]
  }
}
