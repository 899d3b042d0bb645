import SchemaPlanning
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let syncedPrimaryKey = Rule(
    id: "synced-primary-key",
    section: .breaksDevices,
    severities: Severities(.off, .warning, .error),
    concernsSyncedSchema: true,
    why: """
      Only their primary keys distinguish rows of two devices, so two devices must never create \
      the same key. Integers that count up collide immediately. sqlite-data requires a key of one \
      column in every table, including join tables: globally unique text, with a default that \
      creates it. The column must be NOT NULL ON CONFLICT REPLACE, so that the default also \
      replaces NULL. It must not have AUTOINCREMENT. A key that is a foreign key to a synced table \
      gets its values there and needs no default. A text with a COLLATE clause is a natural key \
      (the title of a tag) and needs no default either. Two devices that create the same key mean \
      the same row. cr-sqlite only requires a key that is NOT NULL.
      """,
    fix: """
      Use a text column with `primary_key: true`, `not_null: { on_conflict: replace }` and a \
      default that creates a UUID. Under sqlite-data it is `{ sql: "uuid()" }`, because SQLiteData \
      registers that function. SQLite itself does not have it: unless the app registers `uuid()`, \
      too, neither the app nor the `sqlite3` shell can insert a row. `{ sql: "\(plainUUID)" }` \
      works everywhere. `convert_primary_key` changes the key of an existing table.
      """,
    examples: Example(.sqliteData, after: []),
    wrong: """
      - create_table:
          name: tags
          columns:
            - { name: id, type: INTEGER, primary_key: true, autoincrement: true }
            - { name: title, type: TEXT }
          strict: true
      """,
    right: tableManifest("tags", columns: "{ name: title, type: TEXT }"),
    check: .history { timeline, scope in
      timeline.syncedTables(scope).compactMap { table in
        let found = problems(of: table, scope, timeline.defaults).map(\.exact)
        func hasThem(_ table: TableShape, _: [Identifier]) -> Bool {
          problems(of: table, scope, timeline.defaults).map(\.exact) == found
        }
        guard !found.isEmpty, let change = timeline.origin(of: hasThem, in: table) else {
          return nil
        }
        let keys = table.primaryKey?.columns ?? []
        return timeline.draft(
          "the primary key of `\(table.name)` \(found.map(\.text).joined(separator: ", and "))",
          at: change.place(ofConstraintOver: keys),
          keys: ["primary_key", "name", "table"], column: keys.count == 1 ? keys[0].text : nil,
          object: table.name, table: table.name, help: keyAdvice(scope.profile))
      }
    })
}

/// A random UUID (version 4) in plain SQL.
private let plainUUID =
  "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || "
  + "'-' || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || "
  + "hex(randomblob(6)))"

private func keyAdvice(_ profile: Profile) -> String {
  let value = profile == .sqliteData ? "uuid()" : plainUUID
  let origin =
    profile == .sqliteData
    ? "SQLiteData registers `uuid()`" : "SQLite itself has no `uuid()`, and this works in every app"
  return "use a text column with `primary_key: true`, `not_null: { on_conflict: replace }` and "
    + "`default: { sql: \"\(value)\" }`; \(origin)"
}

private func problems(
  of table: TableShape, _ scope: LintScope, _ defaults: [ExactText: DefaultOutcome]
) -> [String] {
  guard let key = table.primaryKey else {
    return ["is missing: nothing distinguishes the rows of two devices"]
  }
  if scope.profile == .crSQLite {
    let nullable = key.columns.compactMap(table.column).filter { !table.isNeverNull($0) }
    return nullable.isEmpty
      ? []
      : [
        "may be NULL (\(nullable.map { "`\($0.name)`" }.joined(separator: ", ")))"
      ]
  }
  guard key.columns.count == 1, let column = table.column(key.columns[0]) else {
    return ["has \(key.columns.count) columns: it must be a single column"]
  }
  let isParentsKey = table.foreignKeys.contains { foreign in
    foreign.columns == key.columns && !scope.isLocal(foreign.parent.identifier)
      && foreign.parent.identifier != table.name.identifier
  }
  if isParentsKey { return [] }
  if key.isAutoincrement {
    return ["counts up (AUTOINCREMENT): two devices create the same keys for different rows"]
  }
  if column.isInteger {
    return ["is an integer: two devices create the same keys for different rows"]
  }
  // A UUID does not need a collation.
  let isNatural = column.collation.map { $0 != "binary" } ?? false
  if isNatural, column.affinity == .text, column.notNull != nil { return [] }
  var problems: [String] = []
  switch column.defaultText.map({ defaults[$0] ?? .chance }) {
  case nil: problems.append("has no default that creates a new key")
  case .constant?: problems.append("has a default that gives each row the same key")
  case .time?:
    problems.append("has a default that gives rows inserted at the same time the same key")
  case .chance?, .unknown?: break
  }
  let isBLOB = column.affinity == .blob && column.type != nil
  if scope.profile == .sqliteData, isBLOB || column.affinity == .real {
    problems.append("is not a text, as SQLiteData requires")
  }
  if scope.profile == .sqliteData, column.notNull != .replace {
    problems.append("is not NOT NULL ON CONFLICT REPLACE")
  }
  return problems
}
