import SchemaManifest
import SchemaSQLText

extension Rule {
  static let nullToNotNull = Rule(
    id: "null-to-not-null",
    section: .failsOnData,
    severities: .alwaysError,
    why: """
      A column that could be NULL is NULL in some row on some device. Making it NOT NULL fails there, \
      and the user cannot update. A default does not help: it stands in for a value that is absent, \
      not for NULL. A statement before that writes a value where there is none does, and so does a \
      copy that gives NULL a value, as coalesce does.
      """,
    fix: "First `update` the rows in which the column is NULL, in the same migration.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - alter_column: { table: reminders, column: title, not_null: true }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - update: { table: reminders, set: { title: "''" }, where: title IS NULL }
        - alter_column: { table: reminders, column: title, not_null: true }
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard let before = change.before, let after = change.after else { return [] }
        return change.keptColumns.compactMap { old, new in
          guard old.notNull == nil, let action = new.notNull, !old.isGenerated, !new.isGenerated,
            before.rowidAlias != old.key,
            !(change.isRebuilt && action == .replace && new.defaultText != nil),
            !timeline.losses.acceptsNull(in: old.name, of: change),
            !change.isRefilled(new.name, timeline),
            !change.isUpdated(new.key, timeline, since: 0),
            !change.isUpdated(old.key, timeline, since: 0),
            !change.isCleared(old.key, timeline)
          else { return nil }
          return timeline.draft(
            "\(after.name).\(new.name) becomes NOT NULL, and nothing fills the rows in which it is "
              + "NULL: the migration fails on a database that has one",
            at: change.newest(of: [change.place(of: new.name)]),
            keys: ["not_null", "columns", "column", "table"], column: new.name,
            object: "\(after.name).\(new.name)", table: after.name,
            fix: operationSnippet(
              "update",
              [
                ("table", yamlScalar(after.name)),
                (
                  "set",
                  "{ \(yamlScalar(new.name)): "
                    + "\(yamlQuoted(new.defaultText ?? emptyValue(ofType: new.type))) }"
                ), ("where", yamlScalar("\(Quoting.identifier(new.name)) IS NULL")),
              ]))
        }
      }
    })
}

extension TableChange {
  /// Whether an operation says how the column of the new table is made of the old row.
  fileprivate func isRefilled(_ column: String, _ timeline: Timeline) -> Bool {
    guard let operation = timeline.operation(place(of: column)),
      case .rebuildTable(let rebuild) = operation.kind
    else { return false }
    return rebuild.copy.contains { $0.column.identifier == column.identifier }
      || rebuild.where != nil
  }
}
