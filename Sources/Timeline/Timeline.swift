/// The effects of each statement of a history, in the form that lint rules use.
///
/// - ``Timeline``: changes of tables, indexes, views, triggers and rows, by migration and
///   statement.
/// - ``TableTracker``: builds it during a replay. ``TrackedTable`` follows one table through its
///   names.
/// - ``TableShape``, ``IndexShape``: a table's or an index's definition.
/// - ``LossEvidence``, ``RowFailure``: the results of trials on rows.
/// - ``LintScope``: the configuration's tables, releases and versions.
/// - `Changes`, `EarlierNames`, `LostColumns`, `Snippets`, `Words`,
///   `Reachability`: helpers that several rules and trials use.

import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A statement of a replayed history.
package struct StatementPlace: Sendable, Hashable {
  /// The migration's index in the history, from 0.
  package let migration: Int
  /// The operation's index in its manifest, from 0.
  package let operation: Int
  /// The index of the statement in the whole replay.
  package let number: Int
  package let position: Position

  package init(migration: Int, operation: Int, number: Int, position: Position) {
    self.migration = migration
    self.operation = operation
    self.number = number
    self.position = position
  }
}

/// The effects of a history.
package struct Timeline: Sendable {
  package let migrations: [Migration]
  /// The changes of tables, in the order of the migrations.
  package var changes: [TableChange] = []
  package var indexes: [CreatedUniqueIndex] = []
  /// The statements in the order of execution.
  package var statements: [StatementEffect] = []
  /// The indexes, views and triggers that migrations removed, and the objects that they created or
  /// changed.
  package var removed: [RemovedObject] = []
  package var made: [CreatedObject] = []
  /// Temporary objects that their migration did not drop.
  package var leftBehind: [(place: StatementPlace, object: TemporaryObject)] = []
  /// The columns that `move_column` moves, with their tables before the move.
  package var moves: [(place: StatementPlace, move: MoveColumn, table: TableShape)] = []
  /// How the value of each DEFAULT varies, by the text of the DEFAULT.
  package var defaults: [ExactText: DefaultOutcome] = [:]
  /// The migrations that failed on rows.
  package var rowFailures: [RowFailure] = []
  /// The results of the loss experiments.
  package var losses = LossEvidence()
  /// The schema after the last migration; nil if the replay did not reach the end.
  package var end: LastSchema?

  package func operation(_ place: StatementPlace) -> Operation? {
    migrations.operation(place.operation, of: place.migration)
  }

  /// Whether the statement belongs to a `convert_primary_key`, which creates new keys for a table and
  /// its children, and keeps all other values.
  package func convertsKey(_ place: StatementPlace) -> Bool {
    if case .convertPrimaryKey? = operation(place)?.kind { true } else { false }
  }

  /// The operation, if it is a `move_column`.
  package func move(at place: StatementPlace) -> MoveColumn? {
    if case .moveColumn(let move)? = operation(place)?.kind { move } else { nil }
  }

  /// Whether the operation creates the triggers of `mirror`, which copy values of older devices to
  /// the new column.
  package func mirrors(_ place: StatementPlace) -> Bool { move(at: place)?.mirror ?? false }

  /// Whether the manifest contains the statement as SQL, rather than an operation that generated
  /// it.
  package func isWritten(_ place: StatementPlace) -> Bool {
    switch operation(place)?.kind {
    case .sql?, .createView?, .createTrigger?: true
    default: false
    }
  }

  package func changes(in migration: Int) -> ArraySlice<TableChange> {
    changes.slice(in: migration, by: \.migration)
  }

  /// A table's name as the schema spells it after a migration.
  ///
  /// - Parameter migration: the index of the migration; nil for the last one.
  package func spelling(of table: Identifier, in migration: Int? = nil) -> String {
    shape(of: table.text, in: migration ?? migrations.count)?.name ?? table.text
  }

  package func statements(in migration: Int) -> ArraySlice<StatementEffect> {
    statements.slice(in: migration, by: \.place.migration)
  }

  package func statement(at place: StatementPlace) -> StatementEffect? {
    statements(in: place.migration).first { $0.place == place }
  }

  /// Records a column as renamed if a rebuild copied its values into a new column.
  package mutating func noteCopiedColumns() {
    for index in changes.indices where changes[index].isRebuilt {
      guard let before = changes[index].before, let after = changes[index].after else { continue }
      for (number, column) in changes[index].lost.enumerated() {
        guard column.outcome == .dropped, after.column(column.name) == nil,
          case .column(let table, let name)? = destination(of: column, in: changes[index]),
          table.isSameName(as: after.name), before.column(name) == nil,
          move(at: column.place) == nil
        else { continue }
        // A later statement may have renamed the column of the new table.
        let renamed = changes[index].place(of: name)
        let replaced = max(changes[index].shaped.number, column.place.number)
        changes[index].lost[number] = LostColumn(
          name: column.name, outcome: .renamed(to: name),
          place: renamed.number > replaced ? renamed : column.place)
      }
    }
  }

  /// The change of the table that has this name after the migration; nil if the migration does not
  /// change it.
  package func change(of table: String, in migration: Int) -> TableChange? {
    let key = table.identifier
    return changes(in: migration).first { $0.after?.name.identifier == key }
  }

  /// The changes of the migrations that are released together with a migration, including its own changes.
  package func changes(releasedWith migration: Int) -> [TableChange] {
    changes.filter { losses.areInOneRelease($0.migration, migration) }
  }

  /// Whether another migration of the release changes the resulting table and undoes the change.
  package func isUndone(_ change: TableChange, where undoes: (TableChange) -> Bool) -> Bool {
    changes(releasedWith: change.migration).contains { back in
      back.migration != change.migration && back.before?.key == change.after?.key && undoes(back)
    }
  }

  /// Whether a draft of the same release created the dropped table, or added the dropped column, after
  /// the first release.
  ///
  /// - Parameter column: nil for the table.
  package func isUnreleased(_ column: String? = nil, droppedBy drop: TableChange) -> Bool {
    !losses.areInOneRelease(0, drop.migration)
      && changes(releasedWith: drop.migration).contains { change in
        change.migration < drop.migration && change.after?.key == drop.before?.key
          && (column.map(change.adds) ?? (change.before == nil))
      }
  }

  /// Whether the migration created the table, so that it had no rows before.
  package func isNew(_ table: String, in migration: Int) -> Bool {
    change(of: table, in: migration).map { $0.before == nil } ?? false
  }
}

extension [Migration] {
  /// The operation; nil if the manifest does not have it.
  ///
  /// - Parameter number: the operation's index in its manifest, if it is known.
  package func operation(_ number: Int?, of migration: Int) -> Operation? {
    let operations = self[migration].manifest.operations
    return number.flatMap { operations.indices.contains($0) ? operations[$0] : nil }
  }
}

extension Operation {
  /// The definition of a column in the operation, if it has one.
  package func definition(ofColumn name: String) -> ColumnDefinition? {
    let columns: [ColumnDefinition] =
      switch kind {
      case .createTable(let table): table.columns
      case .rebuildTable(let rebuild): rebuild.table.columns
      case .addColumn(_, let column): [column]
      case .moveColumn(let move): [move.to]
      default: []
      }
    return columns.first { $0.name.isSameName(as: name) }
  }
}

extension Array {
  /// The elements of one migration, which are adjacent.
  fileprivate func slice(in migration: Int, by number: (Element) -> Int) -> ArraySlice<Element> {
    self[partition { number($0) >= migration }..<partition { number($0) > migration }]
  }
}

/// An index, a view or a trigger that a migration removed.
package struct RemovedObject: Sendable {
  package let object: SchemaObject
  package let place: StatementPlace
  /// Whether it was dropped together with its table.
  package let isImplicit: Bool
  /// Whether its table exists after the migration.
  package let hasTable: Bool
  /// Objects of the same kind on its table after the migration; for a view, the object with its
  /// name.
  package let replacements: [SchemaObject]
}

/// An index, a view or a trigger that a migration created or changed.
package struct CreatedObject: Sendable {
  package let object: SchemaObject
  package let place: StatementPlace
}

/// A statement and its effect on rows.
package struct StatementEffect: Sendable {
  package let place: StatementPlace
  package let sql: String
  package let events: [AuthorizerEvent]
  package let warnings: StatementWarnings
  /// The table whose rows it writes; nil if it writes none.
  package var target: WrittenTable?

  package struct WrittenTable: Sendable {
    package let name: String
    /// Whether it existed at the beginning of the migration.
    package let isOld: Bool
    package let inserts: Bool
    package let updates: Set<Identifier>
    package let deletes: Bool
    /// Whether it received rows of a table that it replaces, now or in a later migration.
    package var isCopy = false
    package let table: Int
  }

  /// Whether it calls one of these functions directly, not through a trigger. For a call in a common table
  /// expression, SQLite reports the name of that expression like that of a trigger.
  package func calls(_ names: Set<Identifier>) -> Bool {
    events.contains { event in
      event.action == .function && names.contains(event.second?.identifier ?? "")
        && event.trigger.map { TokenizedSQL(sql).names($0) } ?? true
    }
  }
}

/// A CHECK that a table did not have before.
package struct NewCheck: Sendable {
  package let check: TableShape.Check
  /// A condition for values that became invalid, if some were found.
  package let refused: String?
  /// Whether the change also removes a CHECK that has a column in common with it.
  package let isTightened: Bool
}

/// The change of one table over a whole migration. Intermediate states are not checked.
package struct TableChange: Sendable {
  /// The index of the migration.
  package let migration: Int
  /// The table before the migration; nil if it is new.
  package let before: TableShape?
  /// The table after the migration; nil if it was dropped.
  package let after: TableShape?
  package var lost: [LostColumn] = []
  /// The statement that last created, renamed or retyped each column of `after`.
  package var columnPlaces: [Identifier: StatementPlace] = [:]
  /// The statement that gave `after` its form. ADD, DROP and RENAME COLUMN do not count.
  package let shaped: StatementPlace
  /// The statement that dropped or renamed the table.
  package var removal: StatementPlace?
  /// Whether another table replaces this one in a later migration, so that it is not lost.
  package var isReplacedLater = false
  /// Whether a copy replaced the table.
  package var isRebuilt = false
  /// The tables with the old rows that exist after the rebuild.
  package var leftovers: Set<Identifier> = []
  /// The old table of a rebuild if it still exists, under another name.
  package var former: TableShape?
  /// The statements that copied the rows of a rebuilt table.
  package var copies: Set<StatementPlace> = []
  /// The statement that created another table under the name of this dropped table without a copy
  /// of its rows.
  package var replacement: StatementPlace?
  package var newChecks: [NewCheck] = []
  /// The columns of `after` that the migration created, including new columns with the name of an
  /// old column.
  package var created: Set<Identifier> = []
  /// Columns that ADD COLUMN added.
  package var addedInPlace: Set<Identifier> = []

  package var isDropped: Bool { before != nil && after == nil }

  /// The new names of renamed columns, by the old name.
  package var renamedColumns: [Identifier: Identifier] {
    Dictionary(
      lost.compactMap { column in
        guard case .renamed(let name) = column.outcome else { return nil }
        return (column.name.identifier, name.identifier)
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether a table that is not STRICT becomes STRICT.
  package var becomesStrict: Bool {
    guard let before, let after else { return false }
    return after.isStrict && !before.isStrict && !before.isVirtual
  }

  package var isRenamed: Bool {
    guard let before, let after else { return false }
    return before.name.identifier != after.name.identifier
  }

  /// Whether the table has the column only after the change, which did not rename another one to it.
  fileprivate func adds(_ column: String) -> Bool {
    before?.column(column) == nil && after?.column(column) != nil
      && !renamedColumns.values.contains(column.identifier)
  }

  /// The last statement that changed the table's columns or its form.
  package var last: StatementPlace {
    (columnPlaces.values + lost.map(\.place)).reduce(shaped) { $0.number < $1.number ? $1 : $0 }
  }

  package func place(of column: Identifier) -> StatementPlace { columnPlaces[column] ?? shaped }

  package func place(of column: String) -> StatementPlace { place(of: column.identifier) }
}

package struct LostColumn: Sendable {
  package enum Outcome: Sendable, Hashable {
    case dropped
    /// The values exist under another name.
    case renamed(to: String)
  }

  package let name: String
  package let outcome: Outcome
  package let place: StatementPlace
}

package struct CreatedUniqueIndex: Sendable {
  package let index: IndexShape
  package let place: StatementPlace
  /// The index that had the same name before the migration, with the current names of its columns;
  /// nil if no index had it.
  package let before: IndexShape?

  package var name: String { index.name }
  package var table: String { index.table }
  package var isPartial: Bool { index.condition != nil }
  /// The names of the columns; nil for an expression.
  package var columns: [Identifier?] { index.columns }
}
