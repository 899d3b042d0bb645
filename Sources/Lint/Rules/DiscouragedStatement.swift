import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

extension Rule {
  static let discouragedStatement = Rule(
    id: "discouraged-statement",
    section: .misplaced,
    severities: .alwaysError,
    why: """
      A migration changes a schema and its rows, but a PRAGMA configures a connection. schemactl \
      ignores `foreign_keys`, `defer_foreign_keys` and `foreign_key_check`, because it checks \
      foreign keys itself at the end of each migration. It resets `legacy_alter_table` and \
      `ignore_check_constraints` after the migration. Under `writable_schema` SQLite stores any \
      text as a definition: one wrong byte makes the database unreadable. A TEMP table, view or \
      trigger disappears with the migration. PRAGMAs that only read are not findings.
      """,
    fix: """
      Remove the PRAGMA and use `alter_column`, which edits a definition and verifies it. Drop a \
      TEMP table in the migration that creates it. Move a TEMP trigger or view that the app needs \
      to `connection.sql`.
      """,
    wrong: """
      - sql: |
          PRAGMA foreign_keys = OFF;
          ALTER TABLE reminders ADD COLUMN notes TEXT;
      """,
    right: """
      - sql: |
          PRAGMA table_info(reminders);
          ALTER TABLE reminders ADD COLUMN notes TEXT;
      """,
    check: .history { timeline, _ in
      var edited: Set<Int> = []
      let pragmas = timeline.statements.compactMap { statement -> Draft? in
        guard let event = statement.events.first(where: \.changesSettings),
          let name = event.first?.identifier,
          name != "writable_schema" || edited.insert(statement.place.migration).inserted
        else { return nil }
        return timeline.draft(
          "`PRAGMA \(name)` does not belong in a migration: \(outcome(of: name))",
          at: statement.place, object: name.text, table: nil)
      }
      return pragmas + temporaryObjects(timeline)
    })
}

private func outcome(of pragma: Identifier) -> String {
  switch pragma {
  case "writable_schema":
    "SQLite stores any text without a check, and a wrong byte makes the database unreadable"
  case _ where Pragmas.acceptedNotRun.contains(pragma):
    "schemactl ignores it, and checks foreign keys at the end of each migration"
  default: "schemactl resets it after the migration"
  }
}

private func temporaryObjects(_ timeline: Timeline) -> [Draft] {
  timeline.leftBehind.map { place, object in
    let advice =
      ["view", "trigger"].contains("\(object.kind)")
      ? ": objects of a connection belong in `connection.sql`" : ""
    return timeline.draft(
      "the temporary \(object.kind) `\(object.name)` disappears when the migration ends\(advice)",
      at: place, object: object.name, table: nil)
  }
}

extension AuthorizerEvent {
  fileprivate var changesSettings: Bool {
    guard action == .pragma, let name = first?.identifier, !Pragmas.onlyReads(self) else {
      return false
    }
    if name == "writable_schema" {
      return second.map { !["off", "0", "no", "false", "reset"].contains($0.identifier) } ?? false
    }
    // A PRAGMA without a value only reads the setting.
    return second != nil || !Pragmas.putBack.contains(name) && name != "foreign_keys"
  }
}
