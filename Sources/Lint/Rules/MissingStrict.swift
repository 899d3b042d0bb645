import SchemaManifest
import SchemaTimeline

extension Rule {
  static let missingStrict = Rule(
    id: "missing-strict",
    section: .hurtsLater,
    severities: .optIn,
    why: """
      Without STRICT a column accepts values of any type, even if its declaration names a type. An \
      INTEGER column stores 'abc', and the app that reads it fails far from the statement that \
      wrote it. A table can become STRICT later only if every value on every device has its \
      column's type. Lint checks the latest schema. STRICT needs SQLite 3.37. With an older \
      `minimum_sqlite` lint reports nothing.
      """,
    fix: "Set `strict: true`, and use the types INT, INTEGER, REAL, TEXT, BLOB and ANY.",
    examples: Example(configuration: "lint: { rules: { missing-strict: note } }", after: []),
    wrong: tagsManifest,
    right: tagsManifest + "\n      strict: true",
    check: .history { timeline, scope in
      if let minimum = scope.minimumSQLite, minimum.number < 3_037_000 { return [] }
      return (timeline.end?.tables ?? []).compactMap { table in
        guard !table.shape.isStrict, !table.shape.isVirtual else { return nil }
        return timeline.draft(
          "`\(table.shape.name)` is not STRICT: its columns accept values of any type",
          at: table.created, keys: ["name", "table"], object: table.shape.name,
          table: table.shape.name)
      }
    })
}

private let tagsManifest = """
  operations:
    - create_table:
        name: tags
        columns:
          - name: id
            type: TEXT
            primary_key: true
            not_null: true
            default: { sql: uuid() }
          - { name: title, type: TEXT }
  """
