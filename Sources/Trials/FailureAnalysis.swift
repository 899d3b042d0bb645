import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Determines where a migration that runs on empty tables failed on rows, and whether the rows
/// caused it.
struct FailureAnalysis {
  let failure: RowFailure
  /// The tables that the statement reads and writes.
  let tables: Set<Identifier>
  /// The older tables into which it inserts, if a UNIQUE constraint refused a row. The row may
  /// collide with a generated row.
  let collidingTables: Set<Identifier>
  /// The unique index that could not be created.
  let newUnique: CreatedUniqueIndex?
  /// Whether generated rows are valid evidence for the failure, if they have the expected formats.
  let isOfRows: Bool
  /// Whether the migration itself refuses the rows for a reason that is not a constraint.
  let isOfOwnCheck: Bool
  /// The columns that the statement reads if it calls a function that expects a format, with their tables.
  let formatted: Set<[Identifier]>

  /// The failure if a new CHECK refused values that the migration computes.
  var ofNewCheck: RowFailure? {
    isOfRows && failure.constraint == .check && failure.isOfNewConstraint ? failure : nil
  }

  /// - Parameters:
  ///   - removals: the statements that removed the parents of rows.
  ///   - dangling: the numbers of the statements that wrote keys without parents.
  init(
    _ failure: Failure, _ migration: Int, _ timeline: Timeline,
    removals all: [AffectedTables.Removal] = [], dangling: Set<Int> = []
  ) {
    let kind = RowFailure.RemovedParents.allCases.first { kind in
      all.contains { $0.kind == kind }
    }
    let removals = all.filter { $0.kind == kind }
    // The check at the end of the migration failed, not a single statement.
    let isAtEndOfMigration = failure.migration?.operation == nil
    let position = failure.place?.position ?? Position(line: 1, column: 1)
    let operations = timeline.migrations[migration].manifest.operations
    let failed = operations.lastIndex { $0.position <= position } ?? 0
    var suspects =
      isAtEndOfMigration
      ? timeline.statementsThatBreakReferences(in: migration)
      : timeline.statements(at: position, in: failed, of: migration)
    if isAtEndOfMigration, suspects.isEmpty {
      suspects = timeline.statements(in: migration).filter { dangling.contains($0.place.number) }
    }
    let removesParents = suspects.isEmpty && !removals.isEmpty
    if removesParents {
      suspects = timeline.statements(in: migration).filter { statement in
        removals.contains { $0.number == statement.place.number }
      }
    }
    // An edit of the stored schema reports no table. A later operation may change the table again.
    let table = operations.isEmpty ? nil : operations[failed].changedTable?.identifier
    let changed = timeline.changes(in: migration).filter { change in
      if isAtEndOfMigration { return !change.newForeignKeys(timeline).isEmpty }
      let names = [change.before?.key, change.after?.key]
      return table.map(names.contains)
        ?? (change.shaped.operation == failed && !timeline.isWritten(change.shaped))
    }
    let tables = Set(suspects.flatMap(\.events.mainTables))
      .union(changed.compactMap(\.before?.key)).union(changed.compactMap(\.after?.key))
    self.tables = tables
    let move = failure.cause == nil ? timeline.move(mappedAt: position, in: migration) : nil
    let place =
      suspects.last?.place
      ?? StatementPlace(migration: migration, operation: failed, number: 0, position: position)
    let isRepetition = failure.cause?.code == .constraint && failure.message.hasPrefix("UNIQUE ")
    let new = timeline.statements(in: migration).filter { statement in
      suspects.last.map { statement.place.number < $0.place.number } ?? false
    }.flatMap(\.events).filter { $0.action == .createTable }.compactMap(\.first?.identifier)
    collidingTables = isRepetition ? Set(suspects.flatMap(\.inserted)).subtracting(new) : []
    // A later statement may rename the index's table, which changes its definition.
    let created = Set(
      suspects.flatMap(\.events).filter { $0.action == .createIndex }
        .compactMap(\.first?.identifier))
    newUnique =
      isRepetition
      ? timeline.indexes.last {
        $0.place.migration == migration && created.contains($0.name.identifier)
      } : nil
    let isOfNewConstraint =
      if isAtEndOfMigration {
        timeline.placesOfNewForeignKeys(in: migration).isSuperset(of: suspects.map(\.place.number))
      } else if let newUnique {
        !timeline.isNew(newUnique.table, in: migration)
          && timeline.columnsUpdated(before: newUnique).isEmpty
      } else {
        isRepetition
          && timeline.changes(in: migration).contains { change in
            change.hasNewKey(over: failure.message.words)
              && !tables.isDisjoint(
                with: [change.before?.key, change.after?.key].compactMap { $0 })
          }
      }
    let object =
      suspects.last?.target?.name ?? suspects.last?.subject ?? changed.last?.after?.name
    let rebuilt = timeline.changes(in: migration).first { change in
      suspects.last.map { change.isRebuilt && change.copies.contains($0.place) } ?? false
    }?.after?.name
    var analysed = RowFailure(
      place: place, position: isAtEndOfMigration ? place.position : position,
      object: rebuilt ?? object, message: failure.message, tables: tables, isOfMap: move != nil,
      isOfNewConstraint: isOfNewConstraint)
    if analysed.constraint == .check, !failure.isOfNewColumn {
      analysed.isOfNewConstraint = timeline.checksComputedValues(of: tables, in: migration)
    }
    if removesParents {
      let parents = Set(removals.map(\.table)).sorted().map { "`\($0)`" }.joined(separator: ", ")
      analysed.removedParents = kind
      analysed.message =
        "other rows refer to keys of \(parents) that it "
        + (kind == .rebuilt ? "changes or removes" : "removes")
    } else if let object, let rebuilt, !object.isSameName(as: rebuilt),
      analysed.words.contains(object.identifier)
    {
      analysed.formerName = object
    }
    self.failure = analysed
    isOfOwnCheck = failure.cause == nil && !isAtEndOfMigration && analysed.constraint == nil
    // The app may write only texts that the function can parse.
    formatted = suspects.filter(\.readsFormats).reduce(into: []) { columns, statement in
      for event in statement.events where event.action == .read {
        columns.insert([event.first, event.second].compactMap { $0?.identifier })
      }
    }
    isOfRows =
      ([nil, .constraint, .mismatch].contains(failure.cause?.code) || failure.isOfNewColumn)
      // A column without a CHECK accepts any value, but the app may write only a few.
      && move.map { move in move.table.checks.contains { $0.columns.contains(move.column) } }
        ?? true
      // A CHECK of a temporary table is an assertion. Such a failure has no object.
      && self.failure.object != nil
      // Without a suspect, a DELETE broke the references. Only the app knows which parents it
      // selects and whether they have children.
      && !(isAtEndOfMigration && suspects.isEmpty)
  }
}

extension Timeline {
  fileprivate func statements(
    at position: Position, in operation: Int, of migration: Int
  ) -> [StatementEffect] {
    let own = statements(in: migration).filter { $0.place.operation == operation }
    guard let first = own.first, case .sql? = self.operation(first.place)?.kind else { return own }
    // Each statement in the manifest's SQL has its own position.
    let nearest = own.last { $0.place.position <= position }?.place.position
    return own.filter { $0.place.position == nearest }
  }

  /// Statements that may leave rows without a parent: they drop a table permanently, add a foreign
  /// key to existing values, or add a column whose default refers to another table.
  func statementsThatBreakReferences(in migration: Int) -> [StatementEffect] {
    let gone = Set(changes(in: migration).filter(\.isDropped).compactMap(\.before?.key))
    let references = Set(changes(in: migration).flatMap(\.placesOfNewReferences).map(\.number))
      .union(placesOfNewForeignKeys(in: migration))
    return statements(in: migration).filter { statement in
      statement.events.contains { event in
        event.action == .dropTable && event.first.map { gone.contains($0.identifier) } ?? false
      }
        || references.contains(statement.place.number)
    }
  }

  /// The numbers of the statements that add foreign keys to columns with values.
  fileprivate func placesOfNewForeignKeys(in migration: Int) -> Set<Int> {
    Set(
      changes(in: migration).flatMap { change in
        change.newForeignKeys(self).map { place(of: "references", over: $0.columns, change).number }
      })
  }

  /// Whether the migration adds a CHECK of values that it computes to one of the tables.
  fileprivate func checksComputedValues(of tables: Set<Identifier>, in migration: Int) -> Bool {
    changes(in: migration).contains { change in
      let copied = change.keptColumns.filter { $0.old.affinity == $0.new.affinity }.map(\.new.key)
      return change.before != nil && change.after.map { tables.contains($0.key) } ?? false
        && change.newChecks.contains { !$0.check.columns.isSubset(of: copied) }
    }
  }

  /// The columns of the index that earlier statements of the migration update.
  func columnsUpdated(before index: CreatedUniqueIndex) -> Set<Identifier> {
    statements(in: index.place.migration).reduce(into: []) { columns, statement in
      guard statement.place.number < index.place.number, let target = statement.target,
        target.name.identifier == index.table.identifier
      else { return }
      columns.formUnion(target.updates.intersection(index.columns.compactMap { $0 }))
    }
  }

  /// The `move_column` whose `map` is at this position, with its column.
  fileprivate func move(
    mappedAt position: Position, in migration: Int
  ) -> (table: TableShape, column: Identifier)? {
    moves.last { move in
      move.place.migration == migration && operation(move.place)?.keys["map"] == position
    }.map { ($0.table, $0.move.from.identifier) }
  }
}

/// Whether the function expects a format, so that it returns NULL or fails for other texts.
private func readsFormat(_ function: String) -> Bool {
  let name = function.identifier
  return name.hasPrefix("json") || ["->", "->>"].contains(name)
    || TimeFunctions.names.contains(name)
}

extension Failure {
  /// Whether ALTER TABLE refused existing rows. It reports them with a generic result code.
  fileprivate var isOfNewColumn: Bool {
    cause?.code == .error
      && [
        "CHECK constraint failed", "NOT NULL constraint failed", "Cannot add a", "cannot add a",
      ].contains(where: message.hasPrefix)
  }
}

extension TableChange {
  /// The columns of new keys that consist only of old columns.
  var newKeys: [Identifier] {
    guard let before, let after else { return [] }
    return after.keys.filter { key in
      !before.hasKey(within: key) && key.allSatisfy { before.column($0) != nil }
    }.flatMap { $0 }
  }

  /// Whether the change adds a key over some of these columns.
  fileprivate func hasNewKey(over columns: Set<Identifier>) -> Bool {
    guard let before, let after else { return false }
    // Different values may be equal under another collation.
    let collated = Set(
      keptColumns.lazy.filter { $0.old.collation != $0.new.collation }.map(\.new.key))
    let known = before.keys.compactMap(renamed).filter(collated.isDisjoint)
    return after.keys.contains { key in
      columns.isSuperset(of: key) && !known.contains { Set($0).isSubset(of: key) }
    }
  }

  /// The new foreign keys whose columns the table had before.
  fileprivate func newForeignKeys(_ timeline: Timeline) -> [TableShape.ForeignKey] {
    guard let before, let after else { return [] }
    let kept = Set(keptColumns.map(\.new.key)).subtracting(created)
    return after.foreignKeys.filter { key in
      kept.isSuperset(of: key.columns)
        && !before.foreignKeys.contains { old in
          renamed(old.columns) == key.columns
            && (old.parent.identifier == key.parent.identifier
              || timeline.change(of: key.parent, in: migration)?.before?.key
                == old.parent.identifier)
        }
    }
  }

  /// The statements that add a column with a default and a foreign key, so that every row refers to
  /// another table.
  fileprivate var placesOfNewReferences: [StatementPlace] {
    guard before != nil, let after else { return [] }
    let referring = Set(after.foreignKeys.flatMap(\.columns))
    return after.columns.filter { column in
      addedInPlace.contains(column.key) && column.defaultText != nil
        && referring.contains(column.key)
    }.map { place(of: $0.name) }
  }
}

extension StatementEffect {
  /// The tables that the statement or its triggers insert into.
  fileprivate var inserted: [Identifier] {
    events.filter { $0.action == .insert }.compactMap { $0.first?.identifier }
  }

  fileprivate var readsFormats: Bool {
    events.contains { event in
      event.action == .function && event.trigger == nil && event.second.map(readsFormat) ?? false
    }
  }

  /// The table that the statement changes, drops or indexes.
  fileprivate var subject: String? {
    events.lazy.filter { $0.trigger == nil }.compactMap { event in
      switch event.action {
      case .dropTable: event.first
      case .createIndex, .alterTable: event.second
      default: nil
      }
    }.first
  }
}
