import SchemaManifest
import SchemaSQLText

extension Rule {
  static let foreignKeyWithoutIndex = Rule(
    id: "foreign-key-without-index",
    section: .hurtsLater,
    severities: Severities(.note, .note, .note),
    why: """
      Each time a parent is deleted or its key changes, SQLite looks for its children, and without an \
      index that begins with the foreign key's columns it reads the whole child table for each of \
      them: deleting a list of a hundred reminders takes a hundred passes. The schema that the history \
      ends with is judged.
      """,
    fix: "Make an index on the foreign key's columns.",
    bad: Rule.Example(
      .local,
      """
      operations:
        - sql: |
            CREATE TABLE lists (
              id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid())
            ) STRICT;
            CREATE TABLE reminders (
              id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()),
              listID TEXT REFERENCES lists (id) ON DELETE CASCADE
            ) STRICT;
      """),
    good: Rule.Example(.local, referringManifest),
    check: { timeline, _ in
      guard let end = timeline.end else { return [] }
      let indexes = end.indexes
      return end.tables.flatMap { table -> [Draft] in
        var reported: Set<[Identifier]> = []
        return table.shape.foreignKeys.compactMap { key in
          let known =
            (indexes[table.shape.key] ?? []).filter(\.servesForeignKeys).map(\.columns)
            + (table.shape.uniques + [table.shape.primaryKey?.columns ?? []]).map { $0.map { $0 } }
          let isServed = known.contains { columns in
            Set(columns.prefix(key.columns.count)) == Set(key.columns.map { $0 })
          }
          guard !isServed, reported.insert(key.columns).inserted else { return nil }
          let names = key.columns.map { table.shape.column($0)?.name ?? $0.text }
          let columns = names.joined(separator: ", ")
          let index = ([table.shape.name] + names).joined(separator: "_")
          let fix = operationSnippet(
            "create_index",
            [
              ("name", yamlScalar(index)), ("table", yamlScalar(table.shape.name)),
              ("columns", list(names)),
            ])
          return timeline.draft(
            "no index begins with \(table.shape.name) (\(columns)): to delete a row of \(key.parent) "
              + "SQLite reads all of \(table.shape.name)",
            at: table.place(of: names[0]), keys: ["foreign_keys", "columns", "table"],
            column: names.count == 1 ? names[0] : nil, object: "\(table.shape.name).\(columns)",
            table: table.shape.name,
            fix: fix, correction: .append(operation: fix))
        }
      }
    })
}

extension LastSchema {
  /// The indexes of each table, by its folded name.
  var indexes: [Identifier: [IndexShape]] {
    Dictionary(grouping: objects.compactMap { IndexShape($0.object) }) { $0.table.identifier }
  }
}

extension IndexShape {
  /// NULL points at no parent, so that an index without the NULLs serves as well.
  fileprivate var servesForeignKeys: Bool {
    guard let condition else { return true }
    let words = condition.map { Identifier(String(decoding: $0, as: UTF8.self)) }
    return columns.first.map { column in
      guard let column else { return false }
      return words == [column, "is", "not", "null"] || words == [column, "notnull"]
    } ?? false
  }
}
