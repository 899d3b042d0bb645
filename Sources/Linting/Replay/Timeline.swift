import SchemaModel
import History
import ManifestFormat
import Planning

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
  var changes: [TableChange] = []
  var indexes: [CreatedUniqueIndex] = []
  /// Views and triggers of the last schema that do not compile, and where they were made.
  var broken: [(place: StatementPlace, object: BrokenObject)] = []
  /// BEGIN, COMMIT, SAVEPOINT and their like.
  var transactionControl: [(place: StatementPlace, what: String)] = []
  /// Calls of cr-sqlite's functions around an ALTER, by name.
  var alterCalls: [(place: StatementPlace, function: String)] = []
  /// What devices of two versions of the app would disagree about.
  var disagreements: [Disagreement] = []

  func operation(_ place: StatementPlace) -> Operation? {
    let operations = migrations[place.migration].manifest.operations
    return operations.indices.contains(place.operation) ? operations[place.operation] : nil
  }
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
  /// Where each column of `after` came to be, by folded name.
  var columnPlaces: [String: StatementPlace] = [:]
  /// The statement that gave `after` its form.
  let shaped: StatementPlace
  /// The statement that dropped the table, or gave it its new name.
  var removal: StatementPlace?
  /// Another table took the place of this one, in a later migration: it was not lost.
  var isSucceeded = false

  var isDropped: Bool { before != nil && after == nil }

  var isRenamed: Bool {
    guard let before, let after else { return false }
    return before.name.asciiLowercased != after.name.asciiLowercased
  }

  /// What was there before in one way or the other, for telling what is new.
  var known: [TableShape] { [before, staged].compactMap { $0 } }

  func place(of column: String) -> StatementPlace {
    columnPlaces[column.asciiLowercased] ?? shaped
  }
}

struct LostColumn: Sendable {
  enum Fate: Sendable, Hashable {
    case dropped
    /// Its values are there under another name.
    case renamed(to: String)
  }

  let name: String
  let fate: Fate
  let place: StatementPlace
}

struct CreatedUniqueIndex: Sendable {
  let name: String
  let table: String
  let isPartial: Bool
  let place: StatementPlace
}
