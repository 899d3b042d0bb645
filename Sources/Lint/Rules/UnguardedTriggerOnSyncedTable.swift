import SchemaModel
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let unguardedTriggerOnSyncedTable = Rule(
    id: "unguarded-trigger-on-synced-table",
    section: .breaksDevices,
    severities: Severities(.off, .off, .warning),
    concernsSyncedSchema: true,
    why: """
      The engine stores the rows of other devices with ordinary statements, which fire the table's \
      triggers. A trigger that writes synced tables then changes a row that has just arrived. The \
      engine sends the change as an edit of this device. A modification time changes on every \
      device in turn, and the trigger creates rows of other devices twice. A trigger that raises \
      an error refuses the row. A trigger that maintains a local search index must fire for such \
      rows and is not a finding. The triggers of `mirror`, which copy values of older devices to \
      the new column, are not findings either.
      """,
    fix: """
      Begin the trigger with `WHEN NOT sqlitedata_icloud_syncEngineIsSynchronizingChanges()`, or \
      for cr-sqlite with `WHEN crsql_internal_sync_bit() = 0`.
      """,
    examples: Example(
      .sqliteData, after: [tableManifest("notes", columns: "{ name: text, type: TEXT }")]),
    wrong: """
      - create_trigger:
          name: notes_trim
          sql: |
            CREATE TRIGGER notes_trim AFTER INSERT ON notes BEGIN
              UPDATE notes SET text = trim(NEW.text) WHERE id = NEW.id;
            END
      """,
    right: trimManifest,
    check: .history { timeline, scope in
      (timeline.end?.objects ?? []).compactMap { made in
        guard made.object.kind == .trigger, !timeline.mirrors(made.place),
          scope.syncs(made.object.table.identifier)
        else { return nil }
        let tokens = made.object.tokens
        guard let trigger = made.object.createTrigger, trigger.timing != .insteadOf,
          !trigger.isGuarded(tokens)
        else { return nil }
        let written = trigger.writtenTables(tokens).filter { name in
          scope.syncs(name.text.identifier) && !timeline.isVirtual(name.text)
        }
        guard !written.isEmpty || trigger.raises(tokens) else { return nil }
        let names = Set(written).sorted().map { timeline.spelling(of: $0) }
        let what =
          written.isEmpty
          ? "raises an error"
          : "writes \(names.map { "`\($0)`" }.joined(separator: ", "))"
        return timeline.draft(
          "the trigger `\(made.object.name)` \(what) also when the engine stores rows of another device",
          at: made.place, keys: ["name"], object: made.object.name, table: made.object.table)
      }
    })
}

private let guards: Set<Identifier> = [
  "sqlitedata_icloud_syncengineissynchronizingchanges", "crsql_internal_sync_bit",
]

extension CreateTrigger {
  fileprivate func isGuarded(_ sql: TokenizedSQL) -> Bool {
    [condition?.range, bodyRange].compactMap { $0 }.flatMap { sql.identifiers(in: $0) }
      .contains { guards.contains($0.text.identifier) }
  }

  /// The tables that the statements of the body write to.
  fileprivate func writtenTables(_ sql: TokenizedSQL) -> [Identifier] {
    statements.compactMap { range in
      WritingStatement(TokenizedSQL(sql.text(range)))?.table.name.text.identifier
    }
  }

  fileprivate func raises(_ sql: TokenizedSQL) -> Bool {
    let tokens = sql.significant(in: bodyRange)
    return zip(tokens, tokens.dropFirst(2)).contains { word, action in
      sql.isWord(word, "RAISE") && !sql.isWord(action, "IGNORE")
    }
  }
}
