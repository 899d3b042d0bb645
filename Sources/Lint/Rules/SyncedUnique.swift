import SchemaManifest
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

extension Rule {
  static let syncedUnique = Rule(
    id: "synced-unique",
    section: .breaksDevices,
    severities: Severities(.off, .warning, .error),
    concernsSyncedSchema: true,
    why: """
      Two devices that are offline can both create a row with the same value. When they sync, a \
      UNIQUE constraint refuses one of the rows on one of the devices permanently, and the devices \
      never agree again. A unique index, even a partial index, does the same. Only the primary key \
      can be unique, because two devices never create the same key.
      """,
    fix: """
      Use an ordinary index, and let the app show or merge equal rows. A value that must be unique \
      (one cover image for each list) can be the primary key.
      """,
    examples: Example(.sqliteData, after: []),
    wrong: tableManifest("tags", columns: "{ name: title, type: TEXT }")
      + "\n  - sql: CREATE UNIQUE INDEX tags_title ON tags (title)",
    right: tableManifest("tags", columns: "{ name: title, type: TEXT }")
      + "\n  - sql: CREATE INDEX tags_title ON tags (title)",
    check: .history { timeline, scope in
      let constraints = timeline.syncedTables(scope).flatMap { table in
        table.uniques.compactMap { columns in
          timeline.origin(of: { $0.uniques.contains($1) }, over: columns, in: table).map {
            draft(columns, of: table, at: $0.place(ofConstraintOver: columns), timeline)
          }
        }
      }
      let indexes = timeline.latestUniqueIndexes.compactMap { index -> Draft? in
        guard scope.syncs(index.table.identifier) else { return nil }
        let what = index.isPartial ? "partial unique index" : "unique index"
        return timeline.draft(
          "the \(what) `\(index.name)`: \(happens(index.table))", at: index.place,
          keys: ["unique", "name"], object: index.name, table: index.table,
          fix: index.ordinary)
      }
      return constraints + indexes
    })
}

extension CreatedUniqueIndex {
  /// The same index without UNIQUE; nil for a partial index and for expressions.
  fileprivate var ordinary: String? {
    let names = columns.compactMap { $0?.text }
    guard names.count == columns.count, !isPartial else { return nil }
    return operationSnippet(
      "create_index",
      [
        ("name", yamlScalar(name)), ("table", yamlScalar(table)),
        ("columns", flow(names.map(yamlScalar))),
      ])
  }
}

private func draft(
  _ columns: [Identifier], of table: TableShape, at place: StatementPlace, _ timeline: Timeline
) -> Draft {
  // Use the spelling of the table's definition.
  let names = table.names(of: columns)
  let single =
    names.count == 1 && timeline.operation(place)?.definition(ofColumn: names[0])?.unique == true
  return timeline.draft(
    "`UNIQUE (\(names.joined(separator: ", ")))` of `\(table.name)`: \(happens(table.name))",
    at: place,
    keys: ["unique", "columns", "table"], column: single ? names[0] : nil,
    object: single || names.count == 1 ? "\(table.name).\(names[0])" : table.name,
    table: table.name)
}

private func happens(_ table: String) -> String {
  "two devices that are offline can create equal rows, and when they sync, one device refuses the "
    + "row of the other permanently"
}
