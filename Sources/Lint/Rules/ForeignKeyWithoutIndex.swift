import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaTimeline
import SchemaYAML

extension Rule {
  static let foreignKeyWithoutIndex = Rule(
    id: "foreign-key-without-index",
    section: .hurtsLater,
    severities: Severities(.note, .note, .note),
    why: """
      When a parent is deleted or its key changes, SQLite looks for its children. Without an index that \
      begins with the foreign key's columns it reads the whole child table for each parent. Lint checks \
      the latest schema and reports the migration that added the foreign key or dropped the index.
      """,
    fix: "Create an index on the foreign key's columns.",
    examples: Example(after: []),
    wrong: """
      - sql: |
          CREATE TABLE lists (
            id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid())
          ) STRICT;
          CREATE TABLE reminders (
            id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()),
            listID TEXT REFERENCES lists (id) ON DELETE CASCADE
          ) STRICT;
      """,
    right: referringManifest,
    check: .history { timeline, _ in
      guard let end = timeline.end else { return [] }
      let indexes = end.indexes
      return end.tables.flatMap { table -> [Draft] in
        var reported: Set<[Identifier]> = []
        return table.shape.foreignKeys.compactMap { key in
          let known =
            (indexes[table.shape.key] ?? []).filter(\.servesForeignKeys).map(\.columns)
            + table.shape.keys.map { $0.map { $0 } }
          let isServed = known.contains { columns in
            Set(columns.prefix(key.columns.count)) == Set(key.columns.map { $0 })
          }
          guard !isServed, reported.insert(key.columns).inserted else { return nil }
          let names = table.shape.names(of: key.columns)
          let columns = names.joined(separator: ", ")
          let index = ([table.shape.name] + names).joined(separator: "_")
          let fix = operationSnippet(
            "create_index",
            [
              ("name", yamlScalar(index)), ("table", yamlScalar(table.shape.name)),
              ("columns", flow(names.map(yamlScalar))),
            ])
          let parent = timeline.spelling(of: key.parent.identifier)
          return timeline.draft(
            "no index begins with `\(table.shape.name) (\(columns))`: to delete a row of `\(parent)`, "
              + "SQLite reads all of `\(table.shape.name)`",
            at: timeline.loss(ofIndexFor: key, of: table) ?? timeline.addition(of: key, to: table),
            keys: ["foreign_keys", "columns", "table"],
            column: names.count == 1 ? names[0] : nil, object: "\(table.shape.name).\(columns)",
            table: table.shape.name,
            fix: fix, .after, correction: .append(operation: fix))
        }
      }
    })
}

extension Timeline {
  /// The statement that dropped the last index for the foreign key.
  fileprivate func loss(
    ofIndexFor key: TableShape.ForeignKey, of table: TrackedTable
  ) -> StatementPlace? {
    let added = addition(of: key, to: table)
    return removed.last { removed in
      guard removed.place.number > added.number, removed.object.table.identifier == table.shape.key,
        let index = index(removed), index.servesForeignKeys
      else { return false }
      return Set(index.columns.prefix(key.columns.count)) == Set(key.columns.map { $0 })
    }?.place
  }

  /// The statement that added the foreign key.
  fileprivate func addition(
    of key: TableShape.ForeignKey, to table: TrackedTable
  ) -> StatementPlace {
    let change = origin(
      of: { old, columns in old.foreignKeys.contains { $0.columns == columns } },
      over: key.columns, in: table.shape)
    guard let change, change.before != nil else { return table.place(of: key.columns[0].text) }
    return place(of: "references", over: key.columns, change)
  }
}

extension IndexShape {
  /// Whether the index contains all rows that refer to a parent. NULL refers to no parent, so that
  /// the index may omit rows with NULL.
  fileprivate var servesForeignKeys: Bool {
    guard let condition else { return true }
    let words = condition.map { Identifier(String(decoding: $0, as: UTF8.self)) }
    return columns.first.map { column in
      guard let column else { return false }
      return words == [column, "is", "not", "null"] || words == [column, "notnull"]
    } ?? false
  }
}
