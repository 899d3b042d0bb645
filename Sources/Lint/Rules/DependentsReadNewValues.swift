import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaPlanning
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let dependentsReadNewValues = Rule(
    id: "dependents-read-new-values",
    section: .losesData,
    severities: Severities(.warning, .warning, .warning),
    why: """
      With `dependents: rename` views, triggers, indexes, CHECKs and computed columns that mention the old \
      column mention the new one, and keep every other word. Where `map` or `using` changes values those words are about values \
      that are not there any more: `NOT isCompleted` becomes `NOT state`, which is true of 'open' and of \
      'done', and SQLite says nothing.
      """,
    fix: """
      Drop what mentions the column before the move, and create it again after it, for the new values; a \
      CHECK goes with rebuild_table. Where the same words mean the right thing, say so in `lint.allow`.
      """,
    bad: Rule.Example(
      .local, remindersManifest, todoManifest,
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
      .local, remindersManifest, todoManifest,
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
    check: .history { timeline, _ in
      timeline.moves.flatMap { place, move, table -> [Draft] in
        guard move.renamesDependents, let change = move.changeInWords else { return [] }
        let names = timeline.names(of: move.to.name, after: place)
        let objects = timeline.made.filter { made in
          made.place.migration == place.migration && made.place.operation >= place.operation
            && timeline.onlyRenames(made.place) && names.contains(where: made.object.isAboutValues)
        }
        let after = timeline.change(of: table.name, in: place.migration)?.after
        let readers =
          table.columns.filter { $0.sources.contains(move.from.identifier) }
          .map { ("the column \($0.name)", "\(table.name).\($0.name)") }
          + (after?.checks.filter { table.holds($0, beforeMoving: move) } ?? [])
          .map { ("CHECK (\($0.text))", table.name) }
          + objects.map { ("the \($0.object.kind.rawValue) \($0.object.name)", $0.object.name) }
        return readers.map { reader, object in
          timeline.draft(
            "`dependents: rename` keeps the words of \(reader), which are about the values of "
              + "\(table.name).\(move.from): \(change)",
            at: place, keys: ["dependents", "from"], object: object, table: table.name)
        }
      }
    })
}

private let todoManifest = """
  operations:
    - create_view:
        name: todo
        sql: CREATE VIEW todo AS SELECT id FROM reminders WHERE NOT isCompleted
  """

extension Timeline {
  /// What a column that a migration makes is called until its end.
  fileprivate func names(of column: String, after place: StatementPlace) -> [String] {
    let operations = migrations[place.migration].manifest.operations
    return operations[place.operation...].reduce(into: [column]) { names, operation in
      guard case .renameColumn(_, let from, let to) = operation.kind,
        names.contains(where: { $0.identifier == from.identifier })
      else { return }
      names.append(to)
    }
  }

  /// Whether what the operation changes besides its table changes in its names alone.
  fileprivate func onlyRenames(_ place: StatementPlace) -> Bool {
    switch operation(place)?.kind {
    case .moveColumn?, .renameColumn?, .renameTable?: true
    default: false
    }
  }
}

extension MoveColumn {
  /// What becomes of the values; nil when each stays what it is.
  fileprivate var changeInWords: String? {
    switch mapping {
    case .using(let source):
      Quoting.unquoted(source.text).identifier == from.identifier
        ? nil : "\(to.name) will hold what `using` makes of them"
    case .map(let entries):
      entries.first { $0.from != $0.to || isStoredAsText($0.to) }.map {
        let stored = isStoredAsText($0.to) ? Quoting.stringLiteral($0.to.sql) : $0.to.sql
        return "where it holds \($0.from.sql), \(to.name) will hold \(stored)"
      }
    }
  }

  /// Whether a number becomes a text by the type of its new column.
  private func isStoredAsText(_ value: Literal) -> Bool {
    switch value {
    case .integer, .real: Affinity(ofType: to.type ?? "") == .text
    default: false
    }
  }
}

extension TableShape {
  /// Whether a CHECK has the same words here, about the old column.
  fileprivate func holds(_ check: Check, beforeMoving move: MoveColumn) -> Bool {
    let (from, to) = (move.from.identifier, move.to.name.identifier)
    guard check.columns.contains(to) else { return false }
    return checks.contains { old in
      old.columns.contains(from)
        && old.tokens.map { $0.elementsEqual(from.folded) ? Array(to.folded) : $0 } == check.tokens
    }
  }
}

extension SchemaObject {
  /// Whether its words can be about what the column holds: not where it is only named, as by an index on
  /// the column, or by UPDATE OF.
  fileprivate func isAboutValues(of column: String) -> Bool {
    let tokens = TokenizedSQL(sql ?? "")
    func isMentioned(in range: Range<Int>) -> Bool {
      tokens.identifiers(in: range).contains { $0.isSame(as: column) }
    }
    let ranges: [Range<Int>?] =
      switch try? parseCreate(tokens) {
      case .createIndex(let index)?:
        index.terms.map { $0.column == nil ? $0.range : nil } + [index.condition?.range]
      case .createTrigger(let trigger)?: [trigger.condition?.range, trigger.bodyRange]
      default: [0..<tokens.bytes.count]
      }
    return ranges.compactMap { $0 }.contains(where: isMentioned)
  }
}
