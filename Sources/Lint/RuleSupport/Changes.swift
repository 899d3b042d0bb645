import SchemaModel
import SchemaSQLText

extension TableChange {
  /// The columns that are there before and after, be it under another name.
  var keptColumns: [(old: TableShape.Column, new: TableShape.Column)] {
    guard let before, let after else { return [] }
    let renames = renamedColumns
    let dropped = Set(lost.lazy.filter { $0.fate == .dropped }.map { $0.name.identifier })
    return before.columns.compactMap { old in
      guard !dropped.contains(old.key), let new = after.column(renames[old.key] ?? old.key) else {
        return nil
      }
      return (old, new)
    }
  }

  /// The folded names of the columns that are gone.
  var droppedColumns: Set<Identifier> {
    Set(lost.lazy.filter { $0.fate == .dropped }.map { $0.name.identifier })
  }

  /// Names of columns as they read after the change; nil when one of them is gone.
  func renamed(_ columns: [Identifier]) -> [Identifier]? {
    let (renames, dropped) = (renamedColumns, droppedColumns)
    guard dropped.isDisjoint(with: columns) else { return nil }
    return columns.map { renames[$0] ?? $0 }
  }

  /// The checks that are gone, and that no other one over the same columns replaces.
  var lostChecks: [TableShape.Check] {
    guard let before, let after else { return [] }
    let known = before.checks.filter { droppedColumns.isDisjoint(with: $0.columns) }
      .map { $0.renaming(renamedColumns) }
    let new = after.checks.filter { !known.contains($0) }
    return known.filter { check in
      !after.checks.contains(check)
        && !new.contains { !$0.columns.isDisjoint(with: check.columns) }
    }
  }

  /// The foreign keys that are gone, and that no other one of the same columns replaces.
  var lostForeignKeys: [TableShape.ForeignKey] {
    guard let before, let after else { return [] }
    return before.foreignKeys.filter { key in
      guard let columns = renamed(key.columns) else { return false }
      return !after.foreignKeys.contains { $0.columns == columns }
    }
  }

  /// Whether dropping constraints is all that the change does to the table: then that is what it is
  /// for, and they were not forgotten.
  var onlyDropsConstraints: Bool {
    guard let before, let after, before.columns.count == after.columns.count else { return false }
    return before.isStrict == after.isStrict && before.isWithoutRowid == after.isWithoutRowid
      && before.primaryKey == after.primaryKey
      && zip(before.columns, after.columns).allSatisfy { $0.saysTheSame(as: $1) }
      && after.checks.allSatisfy(before.checks.contains)
      && after.foreignKeys.allSatisfy(before.foreignKeys.contains)
      && after.uniques.allSatisfy(before.uniques.contains)
  }

  /// Whether the table was made anew by SQL of the manifest.
  func isRebuiltByHand(_ timeline: Timeline) -> Bool {
    isRebuilt && (copies.isEmpty ? timeline.isWritten(shaped) : !handCopies(timeline).isEmpty)
  }

  func handCopies(_ timeline: Timeline) -> [RowCopy] {
    copies.filter { timeline.isWritten($0.place) }
  }

  /// Whether one of the operation's own statements or one of the manifest sets a column in rows that
  /// are there, before the change or with it.
  func isUpdated(_ column: Identifier, _ timeline: Timeline, since first: Int) -> Bool {
    let names = Set([before, after].compactMap { $0?.name.identifier })
    return (first...migration).contains { number in
      timeline.statements(in: number).contains { statement in
        guard let target = statement.target else { return false }
        return target.updates.contains(column)
          && (names.contains(target.name.identifier) || target.isCopy)
      }
    }
  }

  /// Whether the migration first deletes rows by the column, or all of them.
  func isCleared(_ column: Identifier, _ timeline: Timeline) -> Bool {
    timeline.statements(in: migration).contains { statement in
      guard let target = statement.target, target.deletes, target.updates.isEmpty,
        target.name.identifier == before?.name.identifier,
        statement.place.number < place(of: column).number
      else { return false }
      let sql = TokenizedSQL(statement.sql)
      return statement.isUnconditional("DELETE")
        || sql.significant.contains { sql.name($0) == column }
    }
  }
}

extension TableShape.Column {
  fileprivate func saysTheSame(as other: Self) -> Bool {
    key == other.key && type?.identifier == other.type?.identifier
      && notNull == other.notNull && defaultText == other.defaultText
      && collation == other.collation && isGenerated == other.isGenerated
  }
}

extension Timeline {
  /// Whether a table is a virtual one, a search index most often: its rows follow from others.
  func isVirtual(_ table: String) -> Bool {
    let key = table.identifier
    return changes.contains { $0.after.map { $0.isVirtual && $0.key == key } ?? false }
  }
}

extension Timeline {
  /// An index that is gone, with the names that its columns have now.
  func index(_ gone: GoneObject) -> IndexShape? {
    let change = change(of: gone.object.table, in: gone.place.migration)
    return IndexShape(gone.object)?.renaming(change?.renamedColumns ?? [:])
  }
}

/// What rules look at in an index.
struct IndexShape {
  let name: String
  let table: String
  let isUnique: Bool
  /// Each term in normal form, without ASC.
  private(set) var terms: [[[UInt8]]]
  /// The name of the column, or nil for an expression.
  private(set) var columns: [Identifier?]
  /// In normal form; nil when the index is not partial.
  private(set) var condition: [[UInt8]]?

  /// Nil for an automatic index.
  init?(_ object: SchemaObject) {
    guard object.kind == .index, let sql = object.sql else { return nil }
    let tokens = TokenizedSQL(sql)
    guard case .createIndex(let index)? = try? parseCreate(tokens) else { return nil }
    name = object.name
    table = object.table
    isUnique = index.isUnique
    terms = index.terms.map { term in
      let words = tokens.normalTokens(in: term.range)
      return term.order == .ascending ? Array(words.dropLast()) : words
    }
    columns = index.terms.map { $0.column?.text.identifier }
    condition = index.condition.map { tokens.normalTokens(in: $0.range) }
  }

  /// The same with columns under other names.
  func renaming(_ names: [Identifier: Identifier]) -> IndexShape {
    var index = self
    index.terms = terms.map { $0.map { $0.renamed(names) } }
    index.columns = columns.map { $0.map { names[$0] ?? $0 } }
    index.condition = condition.map { $0.map { $0.renamed(names) } }
    return index
  }

  /// Whether two rows that the other one takes for the same are the same to this one: neither order nor
  /// direction of the terms has to do with it.
  func isAsUnique(as other: IndexShape) -> Bool {
    func keys(_ index: IndexShape) -> Set<[[UInt8]]> {
      Set(index.terms.map { $0.last == Array("desc".utf8) ? $0.dropLast() : $0 })
    }
    return isUnique && (condition == nil || condition == other.condition)
      && keys(self).isSubset(of: keys(other))
  }

  /// Whether what looks up this one's terms can use the other one as well.
  func isCovered(by other: IndexShape) -> Bool {
    condition == other.condition && terms.count <= other.terms.count
      && terms.elementsEqual(other.terms.prefix(terms.count))
  }
}
