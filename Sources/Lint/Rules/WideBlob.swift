import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let wideBlob = Rule(
    id: "wide-blob",
    section: .hurtsLater,
    severities: Severities(.note, .note, .note),
    why: """
      A row with an image takes many pages, and every query that reads the table for a title reads \
      them too. A sync engine sends the image again with every edit of the row. If the BLOB is in \
      a separate table, with the parent's key as its key, only queries for the BLOB read it. A \
      BLOB that is a key, that an index or a foreign key uses, or whose length a CHECK limits is \
      not a finding.
      """,
    fix:
      "Move the BLOB to a table with two columns: the parent's key as primary key, and the BLOB.",
    examples: Example(after: []),
    wrong: """
      - sql: |
          CREATE TABLE players (
            id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), name TEXT, image BLOB
          ) STRICT;
      """,
    right: """
      - sql: |
          CREATE TABLE players (
            id TEXT PRIMARY KEY NOT NULL DEFAULT (uuid()), name TEXT
          ) STRICT;
          CREATE TABLE playerAssets (
            playerID TEXT PRIMARY KEY NOT NULL
              REFERENCES players (id) ON DELETE CASCADE,
            image BLOB
          ) STRICT;
      """,
    check: .history { timeline, _ in
      guard let end = timeline.end else { return [] }
      let indexes = end.indexes
      return end.tables.flatMap { table -> [Draft] in
        let shape = table.shape
        let indexed = Set((indexes[shape.key] ?? []).flatMap(\.columns).compactMap { $0 })
        let narrow = indexed.union(shape.uniques.joined()).union(
          shape.foreignKeys.flatMap(\.columns)
        ).union(shape.checks.flatMap(\.columns))
        let blobs = shape.columns.filter { column in
          column.isBlob && !column.isGenerated
            && !shape.isInPrimaryKey(column) && !narrow.contains(column.key)
        }
        let keys = Set(blobs.map(\.key)).union(shape.foreignKeys.flatMap(\.columns))
        let others = shape.columns.filter { !shape.isInPrimaryKey($0) && !keys.contains($0.key) }
        guard !others.isEmpty else { return [] }
        return blobs.map { column in
          let origin = timeline.origin(
            of: { old, names in old.column(names[0])?.isBlob ?? false }, over: [column.key],
            in: shape)
          return timeline.draft(
            "`\(shape.name).\(column.name)` is a BLOB among other columns: queries for the others read "
              + "past it",
            about: column, of: shape,
            at: origin?.place(of: column.name) ?? table.place(of: column.name),
            keys: ["column", "columns", "name", "table"])
        }
      }
    })
}
