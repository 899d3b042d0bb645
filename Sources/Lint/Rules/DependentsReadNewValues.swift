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
      With `dependents: rename`, schemactl replaces the name of the old column in views, triggers, \
      indexes, CHECKs and generated columns and leaves the rest of their text. If `map` or `using` \
      changes the values, that text compares the new values with the old ones: `NOT isCompleted` \
      becomes `NOT state`, which is true for 'open' and for 'done', and SQLite reports no error.
      """,
    fix: """
      Drop the objects that mention the column before the move, and create them for the new values \
      after it; change a CHECK with rebuild_table. If the text is right for the new values, suppress \
      the finding.
      """,
    examples: Example(after: [remindersManifest, todoManifest]),
    wrong: """
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
      """,
    right: """
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
      """,
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
          .map { ("the column `\($0.name)`", "\(table.name).\($0.name)") }
          + (after?.checks.filter { table.holds($0, beforeMoving: move) } ?? [])
          .map { ("CHECK (\($0.text))", table.name) }
          + objects.map { ("the \($0.object.kind.rawValue) `\($0.object.name)`", $0.object.name) }
        return readers.map { reader, object in
          timeline.draft(
            "\(reader) compares values of `\(table.name).\(move.from)`, and `dependents: rename` "
              + "changes only the name in it: \(change)",
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
  /// All names of a new column until the end of its migration.
  fileprivate func names(of column: String, after place: StatementPlace) -> [String] {
    let operations = migrations[place.migration].manifest.operations
    return operations[place.operation...].reduce(into: [column]) { names, operation in
      guard case .renameColumn(_, let from, let to) = operation.kind,
        names.contains(where: { $0.identifier == from.identifier })
      else { return }
      names.append(to)
    }
  }

  /// Whether the operation changes only names in the objects around its table.
  fileprivate func onlyRenames(_ place: StatementPlace) -> Bool {
    switch operation(place)?.kind {
    case .moveColumn?, .renameColumn?, .renameTable?: true
    default: false
    }
  }
}

extension MoveColumn {
  /// How the values change; nil if they do not.
  fileprivate var changeInWords: String? {
    switch mapping {
    case .using(let source):
      Quoting.unquoted(source.text).identifier == from.identifier
        ? nil : "`\(to.name)` holds the results of `using`"
    case .map(let entries):
      entries.first { $0.from != $0.to || isStoredAsText($0.to) }.map {
        let stored = isStoredAsText($0.to) ? Quoting.stringLiteral($0.to.sql) : $0.to.sql
        return "`\(to.name)` holds \(stored) instead of \($0.from.sql)"
      }
    }
  }

  /// Whether the type of the new column stores a number as a text.
  private func isStoredAsText(_ value: Literal) -> Bool {
    switch value {
    case .integer, .real: Affinity(ofType: to.type ?? "") == .text
    default: false
    }
  }
}

extension TableShape {
  /// Whether the table has the same CHECK over the old column.
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
  /// Whether the object can depend on the column's values. An index on the column and UPDATE OF only name it.
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
