import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Timeline {
  /// Unique indexes and constraints on columns in which two rows may hold the same values.
  var repeatedValues: [Draft] { indexesOverRepeatedValues + constraintsOverRepeatedValues }

  private var indexesOverRepeatedValues: [Draft] {
    indexes.compactMap { index in
      let migration = index.place.migration
      let change = change(of: index.table, in: migration)
      let outcome = outcome(of: index)
      guard outcome != .apart, !isNew(index.table, in: migration),
        !isPrepared(index.columns, of: index.table.identifier, before: index.place),
        mayRepeat(
          index.columns, of: index.table.identifier, change, outcome, before: index.place)
      else { return nil }
      return draft(
        "SQLite cannot create the unique index `\(index.name)` \(outcome.words)if two rows of "
          + "`\(index.table)` hold the same values", at: index.place, keys: ["unique", "name"],
        object: index.name, table: index.table, severity: .warning)
    }
  }

  private var constraintsOverRepeatedValues: [Draft] {
    tables.flatMap { change, after -> [Draft] in
      guard let before = change.before else { return [] }
      // Different values may be the same under another collation than BINARY.
      let collated = Set(
        change.keptColumns.lazy.filter {
          $0.old.collation != $0.new.collation && ($0.new.collation ?? "binary") != "binary"
        }.map(\.new.key))
      let known = before.keys.compactMap(change.renamed).filter(collated.isDisjoint)
      return after.keys.compactMap { columns in
        let isPrimary = columns == after.primaryKey?.columns
        // A new key has values of its own.
        if isPrimary, !change.created.isDisjoint(with: columns) { return nil }
        let place = change.place(ofConstraintOver: columns)
        let outcome = outcome(of: columns, change)
        guard outcome != .apart, !known.contains(where: { Set($0).isSubset(of: columns) }),
          !isPrepared(columns, of: after.key, before: place),
          !collated.isDisjoint(with: columns)
            || mayRepeat(columns, of: after.key, change, outcome, before: place)
        else { return nil }
        let names = after.list(of: columns)
        return draft(
          "\(isPrimary ? "PRIMARY KEY" : "UNIQUE") (\(names)) of `\(after.name)` fails "
            + "\(outcome.words)if two rows hold the same values",
          at: place, keys: ["unique", "columns", "table"], object: "\(after.name).\(names)",
          table: after.name, severity: .warning)
      }
    }
  }
}

/// The effect of a `move_column`'s `map` on values that were unique.
private enum Outcome: Equatable {
  case apart
  /// The description continues "the map".
  case together(String)
}

extension Outcome? {
  fileprivate var words: String {
    if case .together(let action) = self { "(the map \(action)) " } else { "" }
  }
}

extension Timeline {
  /// Nil if no `move_column` determines it.
  fileprivate func outcome(of index: CreatedUniqueIndex) -> Outcome? {
    let removed = removed.filter { $0.place.migration == index.place.migration }.compactMap(
      self.index)
    return outcome(in: index.place.migration, of: index.table) { from, to in
      (removed + [index.before].compactMap { $0 }).contains { old in
        // A condition may now match other rows, and an expression may return one result for two
        // values.
        old.condition == nil && !old.columns.contains(nil)
          && zip(old.columns, old.terms).contains { $0 == from && $1.isPlain }
          && old.renaming([from: to]).isAsUnique(as: index.index)
      }
    }
  }

  fileprivate func outcome(of columns: [Identifier], _ change: TableChange) -> Outcome? {
    outcome(in: change.migration, of: change.after?.name ?? "") { from, to in
      change.before?.uniques.contains { old in
        old.contains(from) && change.droppedColumns.isDisjoint(with: old.filter { $0 != from })
          && old.allSatisfy { columns.contains($0 == from ? to : change.renamedColumns[$0] ?? $0) }
      } ?? false
    }
  }

  /// - Parameter wasUnique: whether a key on the old column was at least as strict as the new one;
  ///   its arguments are the names of both.
  private func outcome(
    in migration: Int, of table: String, where wasUnique: (Identifier, Identifier) -> Bool
  ) -> Outcome? {
    moves.first { place, move, _ in
      place.migration == migration && move.table.identifier == table.identifier
        && wasUnique(move.from.identifier, move.to.name.identifier)
    }.flatMap { $0.move.outcome(in: $0.table) }
  }
}

extension [[UInt8]] {
  /// Whether a term has no collation of its own.
  fileprivate var isPlain: Bool { self.last == [UInt8]("desc".utf8) ? count == 2 : count == 1 }
}

extension MoveColumn {
  /// Nil if it is unknown: for the results of an expression or a collation of the application.
  fileprivate func outcome(in table: TableShape) -> Outcome? {
    guard case .map(let entries) = mapping else { return nil }
    let mayBeNull = table.column(from)?.notNull == nil
    if mayBeNull, entries.contains(where: { $0.from == .null && $0.to != .null }) {
      return .together("gives each NULL of \(from) the same value")
    }
    let column = "\(to.type ?? "")\(to.collate.map { " COLLATE \(Quoting.quoted($0))" } ?? "")"
    do {
      let connection = try Connection(path: nil)
      try connection.execute(
        "CREATE TABLE t (old TEXT, c \(column))\(table.isStrict ? " STRICT" : "")")
      for entry in entries {
        try connection.execute(
          "INSERT INTO t VALUES (\(Quoting.stringLiteral(entry.from.sql)), \(entry.to.sql))")
      }
      let same = try connection.rows(
        "SELECT a.old || ' and ' || b.old FROM t a JOIN t b ON a.c = b.c AND a.rowid < b.rowid LIMIT 1"
      )
      return same.first?[0].text.map { .together("makes \($0) of \(from) the same") } ?? .apart
    } catch {
      return nil
    }
  }
}

extension Timeline {
  /// Whether an earlier statement of the migration changes the columns or deletes rows.
  fileprivate func isPrepared(
    _ columns: [Identifier?], of table: Identifier, before place: StatementPlace
  ) -> Bool {
    statements(in: place.migration).contains { statement in
      guard statement.place.number < place.number, let target = statement.target,
        target.name.identifier == table || target.isCopy
      else { return false }
      return target.deletes || !target.updates.isDisjoint(with: columns.compactMap { $0 })
    }
  }

  fileprivate func mayRepeat(
    _ columns: [Identifier?], of table: Identifier, _ change: TableChange?, _ outcome: Outcome?,
    before place: StatementPlace
  ) -> Bool {
    let names = columns.compactMap { $0 }
    if wasUnique(columns, of: table, before: place) { return false }
    guard let change, let before = change.before, let after = change.after else { return true }
    if losses.losesRows(of: change) { return false }
    if losses.runOnEqualRows.contains(.init(migration: change.migration, table: before.key)) {
      return false
    }
    if before.hasKey(within: names) { return false }
    // A new column is NULL in every row, and NULLs do not repeat. The values that a copy computes
    // are unknown unless it uses a map.
    return outcome != nil
      || !names.contains { name in
        guard let column = after.column(name), before.column(name) == nil else { return false }
        return column.defaultText == nil
      }
  }

  /// Whether the migration removed an index with the same condition.
  private func wasUnique(
    _ columns: [Identifier?], of table: Identifier, before place: StatementPlace
  ) -> Bool {
    removed.contains { removed in
      guard removed.place.migration == place.migration, let index = self.index(removed) else {
        return false
      }
      return index.isUnique && index.condition == nil && Set(index.columns).isSubset(of: columns)
    } || isKnownKey(columns.compactMap { $0 }, of: table, before: place)
  }

  /// Whether the columns include the table's key, as far as its last change shows.
  private func isKnownKey(
    _ columns: [Identifier], of table: Identifier, before place: StatementPlace
  ) -> Bool {
    let last = changes.last {
      $0.migration <= place.migration && $0.after?.name.identifier == table
    }
    let shape = last?.migration == place.migration ? last?.before : last?.after
    return shape?.hasKey(within: columns) ?? false
  }
}
