import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let redundantIndex = Rule(
    id: "redundant-index",
    section: .hurtsLater,
    severities: Severities(.note, .note, .note),
    why: """
      Another index, the primary key or a UNIQUE constraint begins with the same columns and serves the \
      same queries. The index takes space, and time with every write. Lint checks the latest schema and \
      reports the migration that made the index redundant.
      """,
    fix: "Drop it: an index on `(a, b)` also serves lookups by `a`.",
    wrong: """
      - sql: |
          CREATE INDEX reminders_title ON reminders (title);
          CREATE INDEX reminders_both ON reminders (title, isCompleted);
      """,
    right: """
      - sql: |
          CREATE INDEX reminders_title ON reminders (title);
          CREATE INDEX reminders_both ON reminders (isCompleted, title);
      """,
    check: .history { timeline, scope in
      guard let end = timeline.end else { return [] }
      let tables = Dictionary(
        end.tables.map { ($0.shape.key, $0) }, uniquingKeysWith: { first, _ in first })
      let indexes = Dictionary(
        grouping: end.objects.compactMap { made in
          IndexShape(made.object).map { (place: made.place, shape: $0) }
        }
      ) { $0.shape.table.identifier }
      return indexes.values.flatMap { indexes in
        indexes.compactMap { place, index -> Draft? in
          let other = indexes.first { index.isRedundant(beside: $0.shape) }
          let table = tables[index.table.identifier]
          guard
            let cover = other.map({ "the index `\($0.shape.name)`" })
              ?? table.flatMap({ index.key(of: $0.shape) })
          else { return nil }
          let covered =
            other?.place ?? table.flatMap { timeline.key(for: index, of: $0.shape) } ?? place
          // Whichever was created later made the index redundant.
          let culprit = place.number > covered.number ? place : covered
          let isNew = culprit.migration == place.migration && scope.isDraft(place.migration)
          return timeline.draft(
            "\(cover) of `\(table?.shape.name ?? index.table)` serves every lookup of the index "
              + "`\(index.name)`",
            at: culprit, keys: ["name", "table"], object: index.name, table: index.table,
            fix: isNew
              ? nil : operationSnippet("drop_index", [("name", yamlScalar(index.name))]), .after,
            help: isNew
              ? "Remove the \(timeline.isWritten(place) ? "statement" : "operation") that creates "
                + "`\(index.name)`." : nil)
        }
      }.sorted { ($0.migration, $0.position) < ($1.migration, $1.position) }
    })
}

extension Timeline {
  /// The statement that gave the table the key whose first columns are those of the index.
  fileprivate func key(for index: IndexShape, of table: TableShape) -> StatementPlace? {
    let columns = index.columns.compactMap { $0 }
    return origin(
      of: { old, columns in
        old.keys.contains { index.isUnique ? $0 == columns : $0.starts(with: columns) }
      }, over: columns, in: table
    )?.place(ofConstraintOver: columns)
  }
}

extension IndexShape {
  fileprivate func isRedundant(beside other: IndexShape) -> Bool {
    // Report only one of two equal indexes.
    name != other.name && isUseless(beside: other)
      && !(other.isUseless(beside: self) && other.name > name)
  }
}
