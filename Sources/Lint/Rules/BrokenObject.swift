import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText

extension Rule {
  static let brokenObject = Rule(
    id: "broken-object",
    section: .hurtsLater,
    severities: Severities(.error, .error, .error),
    why: """
      SQLite does not look at what a view or a trigger mentions when it is made. One that names a \
      table or a column that is not there fails when the app first reads the view or writes the \
      table, and until it is gone it keeps SQLite from every RENAME and DROP COLUMN, of any table. \
      The schema that the history ends with is judged: what a later migration repairs or drops is \
      no finding.
      """,
    fix: """
      Correct the names, or drop the view or the trigger and make it again as it must be now.
      """,
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - create_trigger:
            name: reminders_trim
            sql: |
              CREATE TRIGGER reminders_trim AFTER UPDATE OF title ON reminders BEGIN
                UPDATE reminders SET titel = trim(NEW.title) WHERE id = NEW.id;
              END
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - create_trigger:
            name: reminders_trim
            sql: |
              CREATE TRIGGER reminders_trim AFTER UPDATE OF title ON reminders BEGIN
                UPDATE reminders SET title = trim(NEW.title)
                WHERE id = NEW.id AND title <> trim(NEW.title);
              END
      """),
    check: { timeline, _ in
      (timeline.end?.broken ?? []).compactMap { place, broken in
        // Those are other rules' findings.
        guard MissingName(message: broken.message) == nil else { return nil }
        let kind = broken.object.kind.rawValue
        return timeline.draft(
          "the \(kind) \(broken.object.name) does not compile: \(broken.message)", at: place,
          keys: ["name"], object: broken.object.name, table: broken.object.table)
      }
    })
}
