/// What each statement of a history did, as the rules of lint look at it.
///
/// - ``Timeline``: changes of tables, indexes, views, triggers and rows, by migration and statement.
/// - ``TableTracker``: builds it during a replay. ``TrackedTable`` follows one table through its names.
/// - ``TableShape``, ``IndexShape``: a table's or an index's definition.
/// - ``LossEvidence``, ``RowEvidence``: what trials on rows found.
/// - ``LintScope``: what the configuration says about tables, releases and versions.
/// - `Changes`, `NewColumns`, `LostColumns`, `Snippets`, `Words`: helpers that several rules use.

import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A statement of a replayed history.
package struct StatementPlace: Sendable, Hashable {
  /// The migration's index in the history, from 0.
  package let migration: Int
  /// The operation's index in its manifest, from 0.
  package let operation: Int
  /// Counted over the whole replay.
  package let number: Int
  package let position: Position

  package init(migration: Int, operation: Int, number: Int, position: Position) {
    self.migration = migration
    self.operation = operation
    self.number = number
    self.position = position
  }
}

/// What a history did, as the rules look at it.
package struct Timeline: Sendable {
  package let migrations: [Migration]
  /// In the order of the migrations.
  package var changes: [TableChange] = []
  package var indexes: [CreatedUniqueIndex] = []
  /// In their order.
  package var statements: [StatementEffect] = []
  /// The indexes, views and triggers that a migration took away, and those that it made or changed.
  package var gone: [GoneObject] = []
  package var made: [MadeObject] = []
  /// What was temporary, and not dropped by the migration that made it.
  package var leftBehind: [(place: StatementPlace, object: TemporaryObject)] = []
  /// The columns that `move_column` moves, with their tables as they were before.
  package var moves: [(place: StatementPlace, move: MoveColumn, table: TableShape)] = []
  /// Calls of cr-sqlite's functions around an ALTER, by name.
  package var alterCalls: [(place: StatementPlace, function: String)] = []
  /// What the DEFAULTs of the history's tables give, by their texts.
  package var defaults: [ExactText: DefaultOutcome] = [:]
  /// What became of rows.
  package var rows = RowEvidence()
  /// What steps took away from rows.
  package var losses = LossEvidence()
  /// The schema that the history ends with; nil when it could not be replayed to its end.
  package var end: LastSchema?

  package func operation(_ place: StatementPlace) -> Operation? {
    let operations = migrations[place.migration].manifest.operations
    return operations.indices.contains(place.operation) ? operations[place.operation] : nil
  }

  /// Whether the statement is the manifest's own SQL; otherwise an operation became it.
  package func isWritten(_ place: StatementPlace) -> Bool {
    switch operation(place)?.kind {
    case .sql?, .createView?, .createTrigger?: true
    default: false
    }
  }

  package func changes(in migration: Int) -> ArraySlice<TableChange> {
    changes.slice(in: migration, by: \.migration)
  }

  /// A table's name as the schema has it.
  package func spelling(of table: Identifier, in migration: Int) -> String {
    changes.last { $0.migration <= migration && $0.after?.key == table }?.after?.name ?? table.text
  }

  package func spelling(of table: String, in migration: Int) -> String {
    spelling(of: table.identifier, in: migration)
  }

  package func statements(in migration: Int) -> ArraySlice<StatementEffect> {
    statements.slice(in: migration, by: \.place.migration)
  }

  /// Takes columns whose values a rebuild copied into a new column for renamed ones.
  package mutating func noteCopiedColumns() {
    for index in changes.indices where changes[index].isRebuilt {
      guard let before = changes[index].before, let after = changes[index].after else { continue }
      for (number, column) in changes[index].lost.enumerated() {
        guard column.fate == .dropped, after.column(column.name) == nil,
          case .column(let table, let name)? = losses.destination(
            column.name, of: before.name, in: changes[index].migration),
          table.isSameName(as: after.name), before.column(name) == nil
        else { continue }
        if case .moveColumn? = operation(column.place)?.kind { continue }
        changes[index].lost[number].fate = .renamed(to: name)
      }
    }
  }

  /// What the migration did to the table that has this name after it; nil when it did nothing.
  package func change(of table: String, in migration: Int) -> TableChange? {
    let key = table.identifier
    return changes(in: migration).first { $0.after?.name.identifier == key }
  }

  /// Whether the migration itself made the table, so that no database has rows of it before.
  package func isNew(_ table: String, in migration: Int) -> Bool {
    change(of: table, in: migration).map { $0.before == nil } ?? false
  }
}

extension Array {
  /// The elements of one migration, which are adjacent.
  fileprivate func slice(in migration: Int, by number: (Element) -> Int) -> ArraySlice<Element> {
    func firstIndex(from limit: Int) -> Int {
      var (low, high) = (0, count)
      while low < high {
        let middle = (low + high) / 2
        if number(self[middle]) < limit { low = middle + 1 } else { high = middle }
      }
      return low
    }
    return self[firstIndex(from: migration)..<firstIndex(from: migration + 1)]
  }
}

/// An index, a view or a trigger that a migration removed.
package struct GoneObject: Sendable {
  package let object: SchemaObject
  package let place: StatementPlace
  /// It was dropped together with its table.
  package let isImplicit: Bool
  /// Whether its table exists after the migration.
  package let hasTable: Bool
  /// Objects of its kind on its table after the migration; for a view what has its name.
  package let replacements: [SchemaObject]
}

/// An index, a view or a trigger as a migration left it.
package struct MadeObject: Sendable {
  package let object: SchemaObject
  package let place: StatementPlace
}

/// A statement and what it did to rows.
package struct StatementEffect: Sendable {
  package let place: StatementPlace
  package let sql: String
  package let events: [AuthorizerEvent]
  package let warnings: StatementWarnings
  /// The table or view that it writes first.
  package let written: Identifier?
  /// The table whose rows it writes; nil when it writes none.
  package var target: WrittenTable?
  /// Tables whose rows go or change because a foreign key says so; sorted.
  package let reached: [String]

  package struct WrittenTable: Sendable {
    package let name: String
    /// It was there when the migration began.
    package let isOld: Bool
    package let inserts: Bool
    package let updates: Set<Identifier>
    package let deletes: Bool
    /// It inserts a copy of the rows of a table that it replaces, then or later.
    package var isCopy = false
    package let table: Int
  }

  /// Whether it calls one of these functions itself, and not from a trigger.
  package func calls(_ names: Set<Identifier>) -> Bool {
    events.contains { event in
      event.action == .function && event.trigger == nil
        && names.contains(event.second?.identifier ?? "")
    }
  }
}

/// A CHECK that a table did not have before.
package struct NewCheck: Sendable {
  package let check: TableShape.Check
  /// Values that were allowed before and are refused now, where some were found.
  package let refused: String?
}

/// What one migration did to one table, from its beginning to its end: states in between are not
/// judged.
package struct TableChange: Sendable {
  /// The index of the migration.
  package let migration: Int
  /// Nil for a new table.
  package let before: TableShape?
  /// Nil for a dropped table.
  package let after: TableShape?
  /// What took the table's place, when that was a table of its own before this migration: a copy
  /// that an earlier migration made.
  package var staged: TableShape?
  package var lost: [LostColumn] = []
  /// Where each column of `after` came to be.
  package var columnPlaces: [Identifier: StatementPlace] = [:]
  /// The statement that gave `after` its form.
  package let shaped: StatementPlace
  /// The statement that dropped the table, or gave it its new name.
  package var removal: StatementPlace?
  /// Another table took the place of this one, in a later migration: it was not lost.
  package var isSucceeded = false
  /// The table was rebuilt: a copy replaced it.
  package var isRebuilt = false
  /// The statements that copied the rows of a rebuilt table.
  package var copies: [StatementPlace] = []
  /// A new table has its name, and got none of its rows: the copy was forgotten.
  package var replacement: StatementPlace?
  package var newChecks: [NewCheck] = []
  /// The columns of `after` that the migration created, also under the name of an old one.
  package var created: Set<Identifier> = []
  /// New columns whose default SQLite cannot give to existing rows.
  package var nonConstantDefaults: Set<Identifier> = []
  /// Columns that ADD COLUMN added.
  package var addedInPlace: Set<Identifier> = []

  package var isDropped: Bool { before != nil && after == nil }

  /// The names of the columns that have another one now, by the old one.
  package var renamedColumns: [Identifier: Identifier] {
    Dictionary(
      lost.compactMap { column in
        guard case .renamed(let name) = column.fate else { return nil }
        return (column.name.identifier, name.identifier)
      }, uniquingKeysWith: { first, _ in first })
  }

  package var isRenamed: Bool {
    guard let before, let after else { return false }
    return before.name.identifier != after.name.identifier
  }

  /// The earlier forms of the table, to find what is new.
  package var known: [TableShape] { [before, staged].compactMap { $0 } }

  package func place(of column: Identifier) -> StatementPlace { columnPlaces[column] ?? shaped }

  package func place(of column: String) -> StatementPlace { place(of: column.identifier) }
}

package struct LostColumn: Sendable {
  package enum Fate: Sendable, Hashable {
    case dropped
    /// Its values are there under another name.
    case renamed(to: String)
  }

  package let name: String
  package fileprivate(set) var fate: Fate
  package let place: StatementPlace
}

package struct CreatedUniqueIndex: Sendable {
  package let name: String
  package let table: String
  package let isPartial: Bool
  /// Nil for an expression.
  package let columns: [Identifier?]
  package let place: StatementPlace
  /// What had its name before the migration, with the names that its columns have now, and what has it
  /// after.
  package var before: IndexShape?
  package var after: IndexShape?
}
