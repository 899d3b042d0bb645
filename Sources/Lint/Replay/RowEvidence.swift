import SchemaManifest
import SchemaSQLText

/// What became of rows when steps of a history ran on tables that hold some.
struct RowEvidence: Sendable {
  var failures: [RowFailure] = []
  /// Rows of other tables that went with a statement, by its number.
  var losses: [Int: [RowLoss]] = [:]
  /// The tables that have fewer rows since they were made anew.
  var rebuilds: [Rebuild: RowLoss] = [:]

  struct Rebuild: Sendable, Hashable {
    let migration: Int
    let table: Identifier
  }

  func loss(of table: Identifier, in migration: Int) -> RowLoss? {
    rebuilds[Rebuild(migration: migration, table: table)]
  }
}

struct RowLoss: Sendable {
  let table: Identifier
  let before: Int64
  let after: Int64
}

/// A migration that runs on empty tables, and not on these.
struct RowFailure: Sendable {
  let place: StatementPlace
  /// A place in its operation, where it is known better.
  let position: Position?
  /// The table that it writes.
  let object: String?
  /// What SQLite or the migration said.
  let message: String
  /// The tables that the statement reads and writes.
  let tables: Set<Identifier>
  /// `map` of a move_column does not name a value that is there.
  let isOfMap: Bool
  /// The database whose rows they are; nil for rows that were made up.
  var database: String?
}
