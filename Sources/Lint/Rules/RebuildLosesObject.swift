import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let rebuildLosesObject = Rule(
    id: "rebuild-loses-object",
    section: .losesData,
    severities: .alwaysError,
    why: """
      DROP TABLE also drops the table's triggers and indexes, and the new definition may lack \
      COLLATE, ON CONFLICT or STRICT. An AUTOINCREMENT table uses the ids of deleted rows again, \
      unless the migration copies its row of `sqlite_sequence` (a warning). A table without an \
      INTEGER PRIMARY KEY gets new rowids, and a search index that refers to them finds other \
      rows. Objects of a dropped column are not findings. A CHECK, a UNIQUE or a foreign key that \
      the new definition lacks is a finding of `drop-constraint`.
      """,
    fix: "Recreate the lost objects, or use `rebuild_table` or `alter_column`, which keep them.",
    examples: Example(after: [indexedReminders]),
    wrong: rebuiltReminders(copy: ""),
    right: rebuiltReminders(copy: "")
      + "\n      CREATE INDEX reminders_title ON reminders (title);",
    check: .history { timeline, _ in
      let objects = timeline.removed.compactMap { removed -> Draft? in
        guard removed.isImplicit, let rebuild = timeline.rebuild(dropping: removed),
          let after = rebuild.after, !timeline.mentionsLostColumn(removed, in: rebuild)
        else { return nil }
        let index = timeline.index(removed, in: rebuild)
        let replacements = removed.replacements + timeline.replacements(of: removed, in: rebuild)
        guard
          !replacements.contains(where: {
            index?.isReplaced(by: $0) ?? removed.object.doesTheSame(as: $0)
          }), index?.key(of: after) == nil
        else { return nil }
        let isWidened = index?.isWidened(in: after, replacements) ?? false
        return timeline.draft(
          "the rebuild of `\(after.name)` drops its \(removed.object.kind.rawValue) "
            + "`\(removed.object.name)` and does not recreate it", at: removed.place,
          object: removed.object.name, table: after.name, severity: isWidened ? .warning : nil)
      }
      // Report the lost counter once per table, at the latest rebuild that loses it.
      let lastLosses = Dictionary(
        timeline.changes.filter { $0.losesSequence(timeline) }
          .map { ($0.after?.key, $0.migration) }, uniquingKeysWith: max)
      let parts = timeline.tables.compactMap { change, after -> Draft? in
        let parts = change.lostParts(timeline)
        let losesCounter =
          change.losesSequence(timeline) && lastLosses[after.key] == change.migration
        guard !parts.isEmpty || losesCounter else { return nil }
        let counter = "its AUTOINCREMENT counter, and SQLite uses ids of deleted rows again"
        let lost = parts + (losesCounter ? [counter] : [])
        return timeline.draft(
          "the rebuild of `\(after.name)` loses \(lost.joined(separator: ", "))",
          at: change.newest(of: [change.shaped]),
          object: after.name, table: after.name, severity: parts.isEmpty ? .warning : nil)
      }
      return objects + parts
    })
}

private let indexedReminders =
  remindersManifest + "\n  - sql: CREATE INDEX reminders_title ON reminders (title)"

extension Timeline {
  /// The rebuild, within a release, of the table with which the object was dropped.
  fileprivate func rebuild(dropping removed: RemovedObject) -> TableChange? {
    let (table, last) = (removed.object.table.identifier, removed.place.migration)
    let together = changes(releasedWith: last)
    let leaving = together.last { $0.migration <= last && $0.leftovers.contains(table) }
    // The rebuild may end later.
    let start = together.last { change in
      change.migration <= last && change.isReplacedLater
        && (change.after ?? change.before)?.key == table
    }
    let name = start?.before?.key ?? table
    return leaving
      ?? together.first { change in
        change.isRebuilt && change.before?.key == name
          && (start.map { $0.migration <= change.migration } ?? (change.migration == last))
      }
  }

  /// Objects of the same kind that the release creates on the new table.
  fileprivate func replacements(
    of removed: RemovedObject, in rebuild: TableChange
  ) -> [SchemaObject] {
    made.filter { made in
      made.object.kind == removed.object.kind && made.object.table.identifier == rebuild.after?.key
        && made.place.number > min(removed.place.number, rebuild.shaped.number)
        && losses.areInOneRelease(made.place.migration, rebuild.migration)
    }.map(\.object)
  }
}

extension IndexShape {
  /// Whether the new table has a UNIQUE constraint or a unique index that includes these columns.
  fileprivate func isWidened(in table: TableShape?, _ replacements: [SchemaObject]) -> Bool {
    guard isUnique, condition == nil else { return false }
    let columns = Set(columns)
    return table?.uniques.contains { columns.isSubset(of: $0.map(Optional.some)) } ?? false
      || replacements.compactMap(IndexShape.init).contains { index in
        index.isUnique && columns.isSubset(of: index.columns)
      }
  }

  /// Whether the other index makes this one unnecessary, regardless of its name.
  fileprivate func isReplaced(by replacement: SchemaObject) -> Bool {
    guard let replacement = IndexShape(replacement) else { return false }
    return isUnique
      ? replacement.isAtLeastAsStrict(as: self)
      : isUseless(beside: replacement) || !replacement.isUnique && isCovered(by: replacement)
  }
}

extension SchemaObject {
  /// Whether the other object is a trigger with the same effect, regardless of its name.
  fileprivate func doesTheSame(as other: SchemaObject) -> Bool {
    guard let trigger = createTrigger, let replacement = other.createTrigger else { return false }
    // A table that is renamed first has another name in its triggers.
    let names = [table.identifier: other.table.identifier]
    return trigger.event == replacement.event && trigger.timing == replacement.timing
      && tokens.normalTokens(in: trigger.bodyRange).map { $0.renamed(names) }
        == other.tokens.normalTokens(in: replacement.bodyRange)
  }
}

extension TableChange {
  /// Describes the parts that the definition of the new table lacks.
  fileprivate func lostParts(_ timeline: Timeline) -> [String] {
    guard let before, let after, isRebuiltByHand(timeline) else { return [] }
    var lost: [String] = []
    if before.isStrict, !after.isStrict { lost.append("STRICT") }
    for (old, new) in keptColumns {
      if let collation = old.collation, new.collation == nil, collation != "binary" {
        lost.append("COLLATE \(collation) of `\(new.name)`")
      }
      if let action = old.notNull, action != .abort, new.notNull == .abort {
        lost.append("ON CONFLICT \(action.rawValue) of `\(new.name)`")
      }
    }
    if let key = before.primaryKey, key.onConflict != .abort, after.primaryKey?.onConflict == .abort
    {
      lost.append("ON CONFLICT \(key.onConflict.rawValue) of the primary key")
    }
    for unique in before.uniqueConstraints where unique.onConflict != .abort {
      if after.uniqueConstraints.contains(where: {
        $0.columns == unique.columns && $0.onConflict == .abort
      }) {
        lost.append("ON CONFLICT \(unique.onConflict.rawValue) of UNIQUE")
      }
    }
    if let reader = timeline.readerOfRowids(of: after.name, migration), losesRowids(timeline) {
      lost.append("its rowids, by which \(reader) finds its rows")
    }
    return lost
  }

  fileprivate func losesSequence(_ timeline: Timeline) -> Bool {
    guard isRebuiltByHand(timeline), before?.primaryKey?.isAutoincrement == true,
      let key = after?.primaryKey,
      key.isAutoincrement || after?.rowidAlias != nil
    else { return false }
    return !timeline.statements(in: migration).contains { statement in
      statement.events.contains { event in
        [.insert, .update].contains(event.action) && event.first == "sqlite_sequence"
      } && !statement.events.contains { [.alterTable, .dropTable].contains($0.action) }
        && statement.target == nil
    }
  }

  /// Whether the rebuild copies rows of a rowid table without their rowids, so that they get new
  /// ones.
  private func losesRowids(_ timeline: Timeline) -> Bool {
    guard let before, let after, before.rowidAlias == nil, !before.isWithoutRowid,
      after.rowidAlias == nil, !after.isWithoutRowid
    else { return false }
    return !copies.contains { timeline.statement(at: $0)?.readsRowids ?? false }
  }
}

extension StatementEffect {
  fileprivate var readsRowids: Bool {
    events.contains { event in
      event.action == .read
        && event.second.map { ["rowid", "oid", "_rowid_"].contains($0.identifier) } ?? false
    }
  }
}

extension Timeline {
  /// The search index that has the table as its content and refers to its rows by rowid.
  fileprivate func readerOfRowids(of table: String, _ migration: Int) -> String? {
    let key = table.identifier
    return end?.tables.first { reader in
      reader.shaped.migration <= migration && reader.shape.moduleArguments.contains("content")
        && reader.shape.moduleArguments.contains(key)
    }?.shape.name
  }
}
