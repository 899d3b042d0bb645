import SchemaManifest
import SchemaSQLText

extension Rule {
  static let redundantIndex = Rule(
    id: "redundant-index",
    section: .hurtsLater,
    severities: Severities(.note, .note, .note),
    why: """
      Another index, the primary key or a UNIQUE constraint begins with the same columns and answers \
      every query that this one answers. It costs space, and time with every write, and is of no use. \
      The schema that the history ends with is judged.
      """,
    fix: "Drop it: an index on (a, b) serves whoever looks for a.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            CREATE INDEX reminders_title ON reminders (title);
            CREATE INDEX reminders_both ON reminders (title, isCompleted);
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: |
            CREATE INDEX reminders_title ON reminders (title);
            CREATE INDEX reminders_both ON reminders (isCompleted, title);
      """),
    check: { timeline, _ in
      guard let end = timeline.end else { return [] }
      let shapes = Dictionary(
        end.tables.map { ($0.shape.key, $0.shape) }, uniquingKeysWith: { first, _ in first })
      let indexes = end.indexes
      return end.objects.compactMap { place, object in
        guard let index = IndexShape(object) else { return nil }
        let others = indexes[index.table.identifier] ?? []
        let other = others.first { other in
          other.name != index.name && index.isUseless(beside: other)
            // Of two that are alike one is enough.
            && !(other.isUseless(beside: index) && other.name > index.name)
        }?.name
        let key = shapes[index.table.identifier].flatMap(index.key)
        guard let cover = other.map({ "the index \($0)" }) ?? key else { return nil }
        return timeline.draft(
          "the index \(index.name) is of no use: \(cover) of \(index.table) begins with its columns",
          at: place, keys: ["name"], object: index.name, table: index.table,
          fix: operationSnippet("drop_index", [("name", yamlScalar(index.name))]))
      }
    })
}

extension IndexShape {
  func isUseless(beside other: IndexShape) -> Bool {
    guard condition == nil, other.condition == nil, isCovered(by: other) else { return false }
    // A unique index refuses rows as well.
    return !isUnique || other.isUnique && other.terms.count == terms.count
  }

  /// The key or the UNIQUE constraint of the table that begins with the index's columns.
  func key(of table: TableShape) -> String? {
    guard condition == nil, terms.allSatisfy({ $0.count == 1 }) else { return nil }
    func begins(_ key: [Identifier]) -> Bool {
      guard isUnique ? key.count == columns.count : key.count >= columns.count else { return false }
      return columns.elementsEqual(key.prefix(columns.count).map { $0 })
    }
    // Of a column with a collation of its own the key has the same.
    if let primary = table.primaryKey?.columns, begins(primary) { return "the primary key" }
    return table.uniques.contains(where: begins) ? "a UNIQUE constraint" : nil
  }
}
