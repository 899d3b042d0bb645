import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let syncedForeignKey = Rule(
    id: "synced-foreign-key",
    section: .breaksDevices,
    severities: Severities(.off, .warning, .error),
    concernsSyncedSchema: true,
    why: """
      Rows arrive in any order, and a delete on one device can meet an insert on another. \
      sqlite-data can postpone a row until its parent arrives, if the parent syncs and an order \
      exists. A cycle, or a table that refers to itself, has no order. If the parent is deleted, \
      the child must follow: ON DELETE CASCADE, SET NULL or SET DEFAULT. RESTRICT and NO ACTION \
      (the default) refuse the delete on one device only. cr-sqlite accepts foreign keys only on \
      connections that do not enforce them. The schema does not show that, so lint reports each \
      foreign key.
      """,
    fix: """
      Use `on_delete: cascade` or `set_null`. Let the parent sync, or define the column without \
      REFERENCES. Remove one foreign key from a cycle.
      """,
    examples: Example(.sqliteData, after: [tableManifest("lists")]),
    wrong: tableManifest(
      "reminders", columns: "{ name: listID, type: TEXT, references: { table: lists } }")
      + "\n  - sql: CREATE INDEX reminders_listID ON reminders (listID)",
    right: tableManifest(
      "reminders",
      columns: """
        name: listID
                  type: TEXT
                  references: { table: lists, on_delete: cascade }
        """)
      + "\n  - sql: CREATE INDEX reminders_listID ON reminders (listID)",
    check: .history { timeline, scope in
      let keys = timeline.syncedTables(scope).flatMap { table in
        table.foreignKeys.compactMap { key in
          timeline.origin(of: { old, _ in old.foreignKeys.contains(key) }, in: table).map {
            (
              table: table, key: key,
              place: timeline.place(of: "references", over: key.columns, $0)
            )
          }
        }
      }
      var parents: [Identifier: Set<Identifier>] = [:]
      // In the order of creation, so that a cycle is reported at the key that closes it.
      return keys.sorted { $0.place.number < $1.place.number }.compactMap { table, key, place in
        let ancestors = reached(from: [key.parent.identifier]) { parents[$0] ?? [] }
        parents[table.key, default: []].insert(key.parent.identifier)
        let parent = timeline.spelling(of: key.parent.identifier)
        let problems = problems(of: key, to: parent, table, scope, ancestors)
        guard !problems.isEmpty else { return nil }
        return draft(key, of: table, problems, at: place, timeline, scope)
      }
    })
}

private func problems(
  of key: TableShape.ForeignKey, to parent: String, _ table: TableShape, _ scope: LintScope,
  _ ancestors: Set<Identifier>
) -> [String] {
  if scope.profile == .crSQLite {
    return ["cr-sqlite accepts it only on connections that do not enforce foreign keys"]
  }
  var problems: [String] = []
  if key.parent.identifier == table.key {
    problems.append("the table refers to itself: no order of its rows is valid")
  } else if ancestors.contains(table.key) {
    problems.append("it closes a cycle: no order of the rows is valid")
  }
  // SQLiteData finds tables by the spelling in the schema.
  if scope.profile == .sqliteData, key.parent != parent {
    problems.append(
      "the table has the name `\(parent)`, and SQLiteData compares names case-sensitively")
  }
  if scope.isLocal(key.parent.identifier) {
    problems.append(
      "`\(key.parent)` does not sync: on every other device the parent of such a row is missing")
  }
  if !key.acts {
    problems.append(
      "ON DELETE \(key.onDelete.rawValue) refuses on one device a delete that another device made; "
        + "use CASCADE, SET NULL or SET DEFAULT")
  }
  return problems
}

private func draft(
  _ key: TableShape.ForeignKey, of table: TableShape, _ problems: [String],
  at place: StatementPlace, _ timeline: Timeline, _ scope: LintScope
) -> Draft {
  let names = table.names(of: key.columns)
  let isInline =
    names.count == 1
    && timeline.operation(place)?.definition(ofColumn: names[0])?.references != nil
  return timeline.draft(
    "the foreign key `\(table.name) (\(names.joined(separator: ", ")))` to `\(key.parent)`: "
      + problems.joined(separator: "; "),
    at: place, keys: ["foreign_keys", "column", "columns", "table"],
    column: isInline ? names[0] : nil, object: "\(table.name).\(names.joined(separator: ","))",
    table: table.name,
    help: scope.profile == .crSQLite
      ? "define the column without REFERENCES, or suppress the finding if the app does not enforce "
        + "foreign keys" : nil)
}
