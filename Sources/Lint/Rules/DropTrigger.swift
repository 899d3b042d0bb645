import SchemaModel
import SchemaSQLText

extension Rule {
  static let dropTrigger = Rule(
    id: "drop-trigger",
    section: .removes,
    severities: Severities(.warning, .warning, .error),
    why: """
      What the trigger kept in step (a time of change, a search index, a count) is kept in step no \
      longer, without a word. Where rows sync, devices with and without the trigger write different \
      rows for the same edit. A trigger that another one of the same table and event replaces in the \
      same migration is not dropped.
      """,
    fix: "Leave the trigger, or make the one that does its work in the same migration.",
    bad: Rule.Example(
      .sqliteData, tableManifest("notes", columns: "{ name: text, type: TEXT }"), trimManifest,
      """
      operations:
        - drop_trigger: { name: notes_trim }
      """),
    good: Rule.Example(
      .sqliteData, tableManifest("notes", columns: "{ name: text, type: TEXT }"), trimManifest,
      """
      operations:
        - drop_trigger: { name: notes_trim }
        - create_trigger:
            name: notes_tidy
            sql: |
              CREATE TRIGGER notes_tidy AFTER INSERT ON notes
              WHEN NOT sqlitedata_icloud_syncEngineIsSynchronizingChanges() BEGIN
                UPDATE notes SET text = trim(NEW.text) WHERE id = NEW.id;
              END
      """),
    check: { timeline, _ in
      timeline.gone.compactMap { gone in
        let trigger = gone.object
        guard trigger.kind == .trigger, gone.hasTable, !gone.isImplicit,
          !timeline.isReplaced(gone), !timeline.mentionsLostColumn(gone)
        else { return nil }
        return timeline.draft(
          "dropping the trigger \(trigger.name): what it kept in step when \(trigger.table) is "
            + "written is kept in step no longer", at: gone.place, keys: ["name"],
          object: trigger.name, table: trigger.table)
      }
    })
}

/// A trigger that keeps out of the way of the engine.
let trimManifest = """
  operations:
    - create_trigger:
        name: notes_trim
        sql: |
          CREATE TRIGGER notes_trim AFTER INSERT ON notes
          WHEN NOT sqlitedata_icloud_syncEngineIsSynchronizingChanges() BEGIN
            UPDATE notes SET text = trim(NEW.text) WHERE id = NEW.id;
          END
  """

extension Timeline {
  /// Whether the same migration makes another trigger for the same event.
  fileprivate func isReplaced(_ gone: GoneObject) -> Bool {
    let event = CreateTrigger(gone.object)?.event
    return gone.heirs.contains { heir in
      CreateTrigger(heir)?.event == event
        && made.contains { $0.place.migration == gone.place.migration && $0.object.key == heir.key }
    }
  }

  /// Whether the object speaks of a column that goes in the same migration.
  func mentionsLostColumn(_ gone: GoneObject) -> Bool {
    let lost = change(of: gone.object.table, in: gone.place.migration)?.droppedColumns ?? []
    guard !lost.isEmpty else { return false }
    let tokens = TokenizedSQL(gone.object.sql ?? "")
    return !tokens.names(in: 0..<tokens.bytes.count).isDisjoint(with: lost)
  }
}

extension CreateTrigger {
  /// Nil for another kind of object.
  init?(_ object: SchemaObject) {
    guard case .createTrigger(let trigger)? = try? parseCreate(TokenizedSQL(object.sql ?? ""))
    else { return nil }
    self = trigger
  }
}
