import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText

extension TableChange {
  /// The columns that exist before and after, including renamed ones.
  package var keptColumns: [(old: TableShape.Column, new: TableShape.Column)] {
    guard let before, let after else { return [] }
    let (renames, dropped) = (renamedColumns, droppedColumns)
    return before.columns.compactMap { old in
      guard !dropped.contains(old.key), let new = after.column(renames[old.key] ?? old.key) else {
        return nil
      }
      return (old, new)
    }
  }

  /// The folded names of the dropped columns.
  package var droppedColumns: Set<Identifier> {
    Set(lost.lazy.filter { $0.outcome == .dropped }.map { $0.name.identifier })
  }

  /// The names of the columns after the change; nil if one of them is dropped.
  package func renamed(_ columns: [Identifier]) -> [Identifier]? {
    let (renames, dropped) = (renamedColumns, droppedColumns)
    guard dropped.isDisjoint(with: columns) else { return nil }
    return columns.map { renames[$0] ?? $0 }
  }

  /// The dropped checks that no other check over the same columns replaces.
  package var lostChecks: [TableShape.Check] {
    guard let before, let after else { return [] }
    let known = before.checks.filter { droppedColumns.isDisjoint(with: $0.columns) }
      .map { $0.renaming(renamedColumns) }
    let new = after.checks.filter { !known.contains($0) }
    return known.filter { check in
      !after.checks.contains(check)
        && !new.contains { !$0.columns.isDisjoint(with: check.columns) }
    }
  }

  /// The dropped foreign keys that no other foreign key of the same columns replaces, and those
  /// that only lost ON DELETE.
  package var lostForeignKeys: [(key: TableShape.ForeignKey, remains: Bool)] {
    guard let before, let after else { return [] }
    return before.foreignKeys.compactMap { key in
      guard let columns = renamed(key.columns) else { return nil }
      // A foreign key over the same and more columns replaces this one.
      let same = after.foreignKeys.filter { Set(columns).isSubset(of: $0.columns) }
      let keepsAction = same.contains { $0.onDelete != .noAction || !key.acts }
      return keepsAction ? nil : (key, !same.isEmpty)
    }
  }

  /// The columns whose new type stores values differently.
  package var retypedColumns: [(old: TableShape.Column, new: TableShape.Column)] {
    guard let before, let after else { return [] }
    return keptColumns.filter { old, new in
      !old.isGenerated && !new.isGenerated
        && before.affinity(of: old).storage != after.affinity(of: new).storage
    }
  }

  /// Whether SQL that the manifest contains rebuilt the table, as opposed to an operation.
  package func isRebuiltByHand(_ timeline: Timeline) -> Bool {
    isRebuilt
      && (copies.isEmpty ? timeline.isWritten(shaped) : copies.contains(where: timeline.isWritten))
  }

  /// Whether a statement of a migration from `first` to this one updates the column, in the table
  /// or in a copy that replaces a table.
  package func isUpdated(_ column: Identifier, _ timeline: Timeline, since first: Int) -> Bool {
    let names = Set([before, after].compactMap { $0?.name.identifier })
    return (first...migration).contains { number in
      timeline.statements(in: number).contains { statement in
        guard let target = statement.target else { return false }
        return target.updates.contains(column)
          && (names.contains(target.name.identifier) || target.isCopy)
      }
    }
  }

  /// Whether a migration from `first` to this one deletes all rows, or rows that it selects by the column,
  /// before this one changes the column.
  package func isCleared(_ column: Identifier, _ timeline: Timeline, since first: Int) -> Bool {
    (first...migration).flatMap { timeline.statements(in: $0) }.contains { statement in
      guard let target = statement.target, target.deletes, target.updates.isEmpty,
        target.name.identifier == before?.name.identifier,
        statement.place.migration < migration
          || statement.place.number < place(of: column).number
      else { return false }
      let sql = TokenizedSQL(statement.sql)
      return statement.isUnconditional(.delete)
        || sql.significant.contains { sql.name($0) == column }
    }
  }
}

extension Timeline {
  /// The tables that a migration changed and that exist after it.
  package var tables: [(change: TableChange, after: TableShape)] {
    changes.compactMap { change in change.after.map { (change, $0) } }
  }

  /// The ordinary tables of the latest schema that sync.
  package func syncedTables(_ scope: LintScope) -> [TableShape] {
    (end?.tables ?? []).map(\.shape).filter { !$0.isVirtual && scope.syncs($0.key) }
  }

  /// The unique indexes of the latest schema, at the statements that created them. Later statements
  /// may have renamed their tables and columns.
  package var latestUniqueIndexes: [CreatedUniqueIndex] {
    let created = Dictionary(indexes.map { ($0.name.identifier, $0) }) { $1 }
    return (end?.objects ?? []).compactMap { object in
      guard let index = IndexShape(object.object), index.isUnique,
        let creation = created[index.name.identifier]
      else { return nil }
      return CreatedUniqueIndex(index: index, place: creation.place, before: creation.before)
    }
  }

  /// Whether a table is virtual, usually a search index. Its rows derive from other tables.
  package func isVirtual(_ table: String) -> Bool {
    let key = table.identifier
    return changes.contains { $0.after.map { $0.isVirtual && $0.key == key } ?? false }
  }
}

extension TableChange {
  /// The last of these statements that belongs to this migration. If none does, the statement that
  /// renamed a copy from an earlier migration into place.
  package func newest(of places: [StatementPlace]) -> StatementPlace {
    let own = places.filter { $0.migration == migration }
    return own.max { $0.number < $1.number } ?? removal ?? last
  }

  /// The statement of this migration that last created, renamed or retyped the column. See
  /// ``newest(of:)``.
  package func newestPlace(of column: TableShape.Column) -> StatementPlace {
    newest(of: [place(of: column.key)])
  }

  /// The statement that gave a constraint over these columns its form.
  package func place(ofConstraintOver columns: some Sequence<Identifier>) -> StatementPlace {
    newest(of: columns.map { place(of: $0) } + [shaped])
  }

  /// Whether a CHECK reads a column that existed before the change.
  package func readsOldColumns(_ check: TableShape.Check) -> Bool {
    let kept = Set(keptColumns.map(\.new.key))
    return !check.columns.isDisjoint(with: kept)
  }
}

extension Timeline {
  /// The table after a migration; nil if it does not exist then.
  package func shape(of table: String, in migration: Int) -> TableShape? {
    let key = table.identifier
    let last = changes.last { change in
      change.migration <= migration
        && (change.after?.key == key || change.before?.key == key && change.after?.key != key)
    }
    return last?.after?.key == key ? last?.after : nil
  }

  /// The statement that gave a table a constraint over these columns.
  ///
  /// - Parameter key: the key of `alter_column` that states such a constraint. Later operations may change
  ///   other parts of the table.
  package func place(
    of key: String, over columns: some Sequence<Identifier>, _ change: TableChange
  ) -> StatementPlace {
    let operations = migrations[change.migration].manifest.operations
    let names = [change.before?.key, change.after?.key]
    let stated = operations.lastIndex { operation in
      switch operation.kind {
      case .rebuildTable(let rebuild): return names.contains(rebuild.table.name.identifier)
      case .alterColumn(let alter):
        return operation.keys[key] != nil && columns.contains(alter.column.identifier)
          && names.contains(alter.table.identifier)
      default: return false
      }
    }
    return stated.flatMap { stated in
      statements(in: change.migration).last { $0.place.operation == stated }?.place
    } ?? change.place(ofConstraintOver: columns)
  }

  /// Whether the object mentions a column that the migration, or the rebuild, drops.
  package func mentionsLostColumn(
    _ removed: RemovedObject, in rebuild: TableChange? = nil
  ) -> Bool {
    let change = rebuild ?? change(of: removed.object.table, in: removed.place.migration)
    let lost = change?.droppedColumns ?? []
    guard !lost.isEmpty else { return false }
    let tokens = removed.object.tokens
    return tokens.identifiers(in: 0..<tokens.bytes.count)
      .contains { lost.contains($0.text.identifier) }
  }
}

extension StatementEffect {
  /// Whether the statement is of this kind and writes every row of its table.
  package func isUnconditional(_ kind: WritingStatement.Kind) -> Bool {
    guard let statement = WritingStatement(TokenizedSQL(sql)) else { return false }
    return statement.kind == kind && statement.condition == nil
      && !statement.otherClauses.contains("limit")
  }
}

extension TableShape {
  /// The affinity of a column. In a STRICT table, ANY stores every value unchanged (STRICT Tables,
  /// section 2), as BLOB affinity does.
  fileprivate func affinity(of column: Column) -> Affinity {
    isStrict && column.type?.identifier == "any" ? .blob : column.affinity
  }
}

extension Affinity {
  /// The affinity for the comparison of storage. NUMERIC counts as INTEGER: they differ only in
  /// CAST.
  fileprivate var storage: Affinity { self == .numeric ? .integer : self }
}
