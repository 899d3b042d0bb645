import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

/// A statement of a replayed history.
struct StatementPlace: Sendable, Hashable {
  /// The migration's index in the history, from 0.
  let migration: Int
  /// The operation's index in its manifest, from 0.
  let operation: Int
  /// Counted over the whole replay.
  let number: Int
  let position: Position
}

/// What a history did, as the rules look at it.
struct Timeline: Sendable {
  let migrations: [Migration]
  /// In the order of the migrations.
  var changes: [TableChange] = []
  var indexes: [CreatedUniqueIndex] = []
  /// In their order.
  var statements: [StatementEffect] = []
  /// The indexes, views and triggers that a migration took away, and those that it made or changed.
  var gone: [GoneObject] = []
  var made: [MadeObject] = []
  /// What was temporary, and not dropped by the migration that made it.
  var leftBehind: [(place: StatementPlace, object: TemporaryObject)] = []
  /// The columns that `move_column` moves, with their tables as they were before.
  var moves: [(place: StatementPlace, move: MoveColumn, table: TableShape)] = []
  /// Calls of cr-sqlite's functions around an ALTER, by name.
  var alterCalls: [(place: StatementPlace, function: String)] = []
  /// What devices of two versions of the app would disagree about.
  var disagreements: [Disagreement] = []
  /// The application's queries, where they could be judged, and what it does to them.
  var judgedQueries: [ApplicationQuery] = []
  var queries: [QueryVerdict] = []
  /// Suppressions in query files that belong to no statement.
  var idleSuppressions: [ApplicationQuery] = []
  /// What the DEFAULTs of the history's tables give, by their texts.
  var defaults: [ExactText: DefaultOutcome] = [:]
  /// What became of rows.
  var rows = RowEvidence()
  /// What steps took away from rows.
  var losses = LossEvidence()
  /// The schema that the history ends with; nil when it could not be replayed to its end.
  var end: LastSchema?

  func operation(_ place: StatementPlace) -> Operation? {
    let operations = migrations[place.migration].manifest.operations
    return operations.indices.contains(place.operation) ? operations[place.operation] : nil
  }

  /// Whether the statement is the manifest's own SQL; otherwise an operation became it.
  func isWritten(_ place: StatementPlace) -> Bool {
    switch operation(place)?.kind {
    case .sql?, .createView?, .createTrigger?: true
    default: false
    }
  }

  func changes(in migration: Int) -> ArraySlice<TableChange> {
    changes.slice(in: migration, by: \.migration)
  }

  /// A table's name as the schema has it.
  func spelling(of table: Identifier, in migration: Int) -> String {
    changes.last { $0.migration <= migration && $0.after?.key == table }?.after?.name ?? table.text
  }

  func spelling(of table: String, in migration: Int) -> String {
    spelling(of: table.identifier, in: migration)
  }

  func statements(in migration: Int) -> ArraySlice<StatementEffect> {
    statements.slice(in: migration, by: \.place.migration)
  }

  /// Takes columns whose values a rebuild copied into a new column for renamed ones.
  mutating func noteCopiedColumns() {
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
  func change(of table: String, in migration: Int) -> TableChange? {
    let key = table.identifier
    return changes(in: migration).first { $0.after?.name.identifier == key }
  }

  /// Whether the migration itself made the table, so that no database has rows of it before.
  func isNew(_ table: String, in migration: Int) -> Bool {
    change(of: table, in: migration).map { $0.before == nil } ?? false
  }
}

extension Array {
  /// The elements of one migration, which stand together.
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

/// The schema that a history ends with, and where each part of it was made.
struct LastSchema: Sendable {
  struct Table: Sendable {
    let shape: TableShape
    /// The statement that made it, and the one that gave it its form.
    let created: StatementPlace
    let shaped: StatementPlace
    /// By folded name.
    let columnPlaces: [Identifier: StatementPlace]

    func place(of column: String) -> StatementPlace {
      columnPlaces[column.identifier] ?? shaped
    }
  }

  /// Without the tables that a virtual table keeps for itself.
  var tables: [Table] = []
  /// All of them, also those whose definition cannot be read.
  var tableNames: Set<Identifier> = []
  var objects: [(place: StatementPlace, object: SchemaObject)] = []
  /// Views and triggers that do not compile.
  var broken: [(place: StatementPlace, object: BrokenObject)] = []
  /// Views and triggers that hold a string in double quotes.
  var doubleQuoted: [(place: StatementPlace, object: BrokenObject)] = []
  /// Defaults that call a function nobody has declared.
  var missing: [(table: Table, column: String, name: MissingName)] = []
}

/// An index, a view or a trigger that is not there any more after a migration.
struct GoneObject: Sendable {
  let object: SchemaObject
  let place: StatementPlace
  /// It went with its table, and nobody said so.
  let isImplicit: Bool
  /// Whether its table is there after the migration.
  let hasTable: Bool
  /// Objects of its kind on its table after the migration; for a view what has its name.
  let heirs: [SchemaObject]
}

/// An index, a view or a trigger as a migration left it.
struct MadeObject: Sendable {
  let object: SchemaObject
  let place: StatementPlace
}

/// A statement and what it did to rows.
struct StatementEffect: Sendable {
  let place: StatementPlace
  let sql: String
  let events: [AuthorizerEvent]
  let warnings: StatementWarnings
  /// The table or view that it writes first.
  let written: Identifier?
  /// The table whose rows it writes; nil when it writes none.
  var target: WrittenTable?
  /// Tables whose rows go or change because a foreign key says so; sorted.
  let reached: [String]

  struct WrittenTable: Sendable {
    let name: String
    /// It was there when the migration began.
    let isOld: Bool
    let inserts: Bool
    let updates: Set<Identifier>
    let deletes: Bool
    /// What it inserts is a copy of the rows of a table whose place it takes, then or later.
    var isCopy = false
    let table: Int
  }

  /// Whether it calls one of these functions itself, and not from a trigger.
  func calls(_ names: Set<Identifier>) -> Bool {
    events.contains { event in
      event.action == .function && event.trigger == nil
        && names.contains(event.second?.identifier ?? "")
    }
  }
}

/// A statement that put rows of one table into another one.
struct RowCopy: Sendable {
  enum Source: Sendable, Hashable {
    case table(Int)
    /// A temporary table.
    case temporary(Identifier)
  }

  let place: StatementPlace
  let from: [Source]
  /// As the source was then, when it is a single table of the schema.
  let source: TableShape?
  /// The columns of the source that it read.
  let read: Set<Identifier>
}

/// A CHECK that a table did not have before.
struct NewCheck: Sendable {
  let check: TableShape.Check
  /// Values that were allowed before and are refused now, where some were found.
  let refused: String?
}

/// What one migration did to one table, from its beginning to its end: states in between are not
/// judged.
struct TableChange: Sendable {
  /// The index of the migration.
  let migration: Int
  /// Nil for a new table.
  let before: TableShape?
  /// Nil for a table that is gone.
  let after: TableShape?
  /// What took the table's place, when that was a table of its own before this migration: a copy
  /// that an earlier migration made.
  var staged: TableShape?
  var lost: [LostColumn] = []
  /// Where each column of `after` came to be.
  var columnPlaces: [Identifier: StatementPlace] = [:]
  /// The statement that gave `after` its form.
  let shaped: StatementPlace
  /// The statement that dropped the table, or gave it its new name.
  var removal: StatementPlace?
  /// Another table took the place of this one, in a later migration: it was not lost.
  var isSucceeded = false
  /// The table was made anew: a copy took its place.
  var isRebuilt = false
  /// The statements that carried the rows over, where the table was made anew by hand.
  var copies: [RowCopy] = []
  /// A new table has its name, and got none of its rows: the copy was forgotten.
  var replacement: StatementPlace?
  var newChecks: [NewCheck] = []
  /// The columns of `after` that the migration itself made, be it under the name of an old one.
  var created: Set<Identifier> = []
  /// New columns whose default SQLite can give to no row that is there.
  var nonConstantDefaults: Set<Identifier> = []
  /// Columns that ADD COLUMN added.
  var addedInPlace: Set<Identifier> = []

  var isDropped: Bool { before != nil && after == nil }

  /// The names of the columns that have another one now, by the old one.
  var renamedColumns: [Identifier: Identifier] {
    Dictionary(
      lost.compactMap { column in
        guard case .renamed(let name) = column.fate else { return nil }
        return (column.name.identifier, name.identifier)
      }, uniquingKeysWith: { first, _ in first })
  }

  var isRenamed: Bool {
    guard let before, let after else { return false }
    return before.name.identifier != after.name.identifier
  }

  /// What was there before in one way or the other, for telling what is new.
  var known: [TableShape] { [before, staged].compactMap { $0 } }

  func place(of column: Identifier) -> StatementPlace { columnPlaces[column] ?? shaped }

  func place(of column: String) -> StatementPlace { place(of: column.identifier) }
}

struct LostColumn: Sendable {
  enum Fate: Sendable, Hashable {
    case dropped
    /// Its values are there under another name.
    case renamed(to: String)
  }

  let name: String
  fileprivate(set) var fate: Fate
  let place: StatementPlace
}

struct CreatedUniqueIndex: Sendable {
  let name: String
  let table: String
  let isPartial: Bool
  /// Nil for an expression.
  let columns: [Identifier?]
  let place: StatementPlace
  /// What had its name before the migration, with the names that its columns have now, and what has it
  /// after.
  var before: IndexShape?
  var after: IndexShape?
}
