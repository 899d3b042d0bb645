import SchemaPlanning
import SchemaSQLText

extension Rule {
  static let primaryKeyChange = Rule(
    id: "primary-key-change",
    section: .breaksDevices,
    severities: .alwaysError,
    why: """
      The primary key is what a row is. With other columns or other values in it, every reference to \
      the row from outside (a child that another device has written, a link in a user's document, \
      the record on the server) means nothing any more, and engines take each row for a new one. \
      It is done, if at all, before anything syncs.
      """,
    fix: "Leave the key. Before anything syncs convert_primary_key does it, with every reference.",
    bad: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - rebuild_table:
            table: reminders
            columns:
              - { name: id, type: TEXT }
              - name: key
                type: TEXT
                primary_key: true
                not_null: true
                default: { sql: uuid() }
              - { name: title, type: TEXT }
              - { name: isCompleted, type: INTEGER, not_null: true, default: 0 }
            copy: { key: "'r-' || id" }
            strict: true
      """),
    good: Rule.Example(
      .additive, remindersManifest,
      """
      operations:
        - add_column: { table: reminders, column: { name: key, type: TEXT } }
      """),
    check: { timeline, _ in
      timeline.changes.compactMap { change in
        // Nothing refers to rows that had no key.
        guard let before = change.before, let after = change.after, before.primaryKey != nil,
          !before.isVirtual, change.changesKey
        else { return nil }
        let keys = after.primaryKey?.columns ?? []
        return timeline.draft(
          "the primary key of \(after.name) was \(before.keyInWords) and becomes "
            + "\(after.keyInWords): what refers to its rows from outside finds them no longer",
          at: change.newest(of: keys.map(change.place(of:)) + [change.shaped]),
          keys: ["primary_key", "columns", "table"], object: after.name, table: after.name)
      }
    })
}

extension TableChange {
  /// Whether a row is told from others by other columns, or by values of another kind.
  var changesKey: Bool {
    guard let before, let after else { return false }
    let old = before.primaryKey?.columns ?? []
    guard let renamed = renamed(old), renamed == after.primaryKey?.columns ?? [] else {
      return true
    }
    return keptColumns.contains { old, new in
      before.isInPrimaryKey(old)
        && (old.affinity == .integer) != (new.affinity == .integer)
    }
  }
}

extension TableShape {
  fileprivate var keyInWords: String {
    guard let key = primaryKey else { return "none" }
    let columns = key.columns.map { name in
      let column = column(name)
      return [column?.name ?? name.text, column?.type].compactMap { $0 }.joined(separator: " ")
    }
    return "(\(columns.joined(separator: ", ")))"
  }
}
