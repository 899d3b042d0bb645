import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let dropTable = Rule(
    id: "drop-table",
    section: .removes,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    why: """
      Dropping a table deletes its rows. Where something syncs, a device with an older version of \
      the app continues to write rows of the table. Other devices can no longer store them. If a \
      table with the same name and a copy of the rows replaces it, lint counts the table as \
      rebuilt, even over several migrations. A recreated full-text table is empty: searches \
      return no rows until a statement fills it.
      """,
    fix: """
      Keep the table and stop using it. Drop it, with a suppression, once no device runs a version \
      that knows it. Where nothing syncs, a suppression is enough: name the new place of the rows.
      """,
    examples: Example(.additive),
    wrong: "- drop_table: { table: reminders }",
    right: """
      - sql: |
          CREATE TABLE copy (
            id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
            title TEXT,
            isCompleted INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0
          ) STRICT;
          INSERT INTO copy SELECT id, title, isCompleted FROM reminders;
          DROP TABLE reminders;
          ALTER TABLE copy RENAME TO reminders;
      """,
    check: .history { timeline, scope in
      timeline.changes.compactMap { change in
        guard change.isDropped, !change.isReplacedLater, change.replacement == nil,
          let table = change.before?.name, !timeline.endsRebuild(change),
          let place = change.removal
        else { return nil }
        if timeline.recreatesIndex(change) {
          guard !timeline.fills(table, after: place) else { return nil }
          return timeline.draft(
            "this drops and recreates `\(table)`, but no later statement of the migration fills it",
            at: place, keys: ["table", "name"], object: table, table: table,
            help: "fill it in this migration: with `INSERT INTO … (…) VALUES ('rebuild')` if "
              + "another table has the content",
            severity: .warning)
        }
        let isNew = timeline.isUnreleased(droppedBy: change)
        // Devices do not exchange the rows of a virtual table.
        let profile =
          change.before?.isVirtual == true ? .local : scope.profile(table, in: place.migration)
        let harm = isNew ? "no release has it" : profile.harm(ofLosing: table)
        let effects = [timeline.outcome(ofRowsIn: change), harm].compactMap(\.self)
        return timeline.draft(
          "this drops the table `\(table)`: \(effects.joined(separator: "; "))", at: place,
          keys: ["table", "name"], object: table, table: table,
          severity: isNew ? .warning : nil)
      }
    })
}

extension Timeline {
  /// Describes what happens to the rows of a dropped table. Nil if the migration did not run on rows, or for
  /// a virtual table, whose rows usually come from other tables.
  fileprivate func outcome(ofRowsIn change: TableChange) -> String? {
    guard let table = change.before, !table.isVirtual, losses.ran(on: change),
      !table.columns.contains(where: {
        losses.isUntried($0.name, of: table.name, in: change.migration)
      })
    else { return nil }
    var (lost, holders, isElsewhere) = ([String](), [String](), false)
    for column in table.columns where !column.isGenerated {
      switch losses.destination(column.name, of: table.name, in: change.migration) {
      case .nowhere?: lost.append("`\(column.name)`")
      case .column(let holder, _)? where holders.contains(where: holder.isSameName): break
      case .column(let holder, _)?: holders.append(holder)
      case .elsewhere?, .detached?, .narrowed?: isElsewhere = true
      case nil: break
      }
    }
    guard isElsewhere || !holders.isEmpty else { return "its rows are lost" }
    let isPartial = losses.partlyLost.contains(
      .init(migration: change.migration, table: table.key))
    let gone =
      (isPartial ? ["some of its rows"] : [])
      + (lost.isEmpty ? [] : ["values of \(listed(lost, "and"))"])
    guard gone.isEmpty else { return "\(listed(gone, "and")) are lost" }
    return holders.count == 1 && !isElsewhere
      ? "`\(holders[0])` holds a copy of its rows" : "other tables hold its values"
  }

  /// Whether the migration creates a virtual table again, for example a search index with other options.
  fileprivate func recreatesIndex(_ change: TableChange) -> Bool {
    guard let before = change.before, before.isVirtual else { return false }
    return shape(of: before.name, in: change.migration)?.isVirtual ?? false
  }

  /// Whether a later statement of the migration, or its triggers, insert rows into the virtual table. A table
  /// that stores no rows, such as `fts5vocab`, needs none.
  fileprivate func fills(_ table: String, after place: StatementPlace) -> Bool {
    let words = shape(of: table, in: place.migration)?.moduleArguments ?? []
    return words.isDisjoint(with: fullTextModules)
      || statements(in: place.migration).contains { statement in
        statement.place.number > place.number
          && statement.events.contains { event in
            event.action == .insert && event.first?.isSameName(as: table) ?? false
          }
      }
  }

  /// Whether a rebuild of the same release left the dropped table behind.
  fileprivate func endsRebuild(_ change: TableChange) -> Bool {
    changes(releasedWith: change.migration).contains { rebuild in
      change.before.map { rebuild.leftovers.contains($0.key) } ?? false
    }
  }
}
