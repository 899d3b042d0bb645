import ManifestFormat
import Planning
import SQLText
import SchemaModel

extension Rule {
  static let dependentsReadNewValues = Rule(
    id: "dependents-read-new-values",
    section: .losesData,
    severities: Severities(.warning, .warning, .warning),
    why: """
      With `dependents: rename` views, triggers and indexes that mention the old column mention the new \
      one, and keep every other word. Where `map` or `using` changes values those words are about values \
      that are not there any more: `NOT isCompleted` becomes `NOT state`, which is true of 'open' and of \
      'done', and SQLite says nothing.
      """,
    fix: """
      Drop what mentions the column before the move, and create it again after it, with a condition on the \
      new values. Where the same words mean the right thing, say so in `lint.allow`.
      """,
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - create_view:
            name: todo
            sql: CREATE VIEW todo AS SELECT id FROM reminders WHERE NOT isCompleted
      """,
      """
      operations:
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: state, type: TEXT, not_null: true, default: open }
            map: { 0: open, 1: done }
            dependents: rename
      lint:
        allow:
          - rule: drop-column
            reason: The database is local to one device.
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - create_view:
            name: todo
            sql: CREATE VIEW todo AS SELECT id FROM reminders WHERE NOT isCompleted
      """,
      """
      operations:
        - drop_view: { name: todo }
        - move_column:
            table: reminders
            from: isCompleted
            to: { name: state, type: TEXT, not_null: true, default: open }
            map: { 0: open, 1: done }
        - create_view:
            name: todo
            sql: CREATE VIEW todo AS SELECT id FROM reminders WHERE state = 'open'
      lint:
        allow:
          - rule: drop-column
            reason: The database is local to one device.
      """),
    check: { timeline, _ in
      timeline.moves.compactMap { place, move, table -> Draft? in
        guard move.renamesDependents, let change = move.mapping.change(of: move) else { return nil }
        let columns = table.columns.filter { $0.sources.contains(move.from.asciiLowercased) }
        let objects = timeline.made.filter { made in
          made.place.migration == place.migration && made.place.operation == place.operation
            && made.object.readsValue(of: move.to.name)
        }
        let readers =
          columns.map { "the column \($0.name)" }
          + objects.map { "the \($0.object.kind.rawValue) \($0.object.name)" }
        guard !readers.isEmpty else { return nil }
        return timeline.draft(
          "`dependents: rename` keeps the words of \(readers.joined(separator: ", ")), which read "
            + "\(table.name).\(move.from): \(change)",
          at: place, keys: ["dependents", "from"], object: "\(table.name).\(move.from)",
          table: table.name)
      }
    })
}

extension ValueMapping {
  /// What becomes of the values, in words; nil when each stays what it is.
  fileprivate func change(of move: MoveColumn) -> String? {
    switch self {
    case .using: "they will read what `using` makes of it"
    case .map(let entries):
      entries.first { $0.from != $0.to }.map {
        "where it holds \($0.from.sql), \(move.to.name) will hold \($0.to.sql)"
      }
    }
  }
}

extension SchemaObject {
  /// Whether its words are about what the column holds. An index on the column alone has none.
  fileprivate func readsValue(of column: String) -> Bool {
    let tokens = TokenizedSQL(sql ?? "")
    guard tokens.identifiers(in: 0..<tokens.bytes.count).contains(where: { $0.isSame(as: column) })
    else { return false }
    guard case .createIndex(let index)? = try? parseCreate(tokens) else { return true }
    return index.condition != nil || index.terms.contains { $0.column == nil }
  }
}
