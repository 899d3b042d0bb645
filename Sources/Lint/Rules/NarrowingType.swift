import SchemaPlanning
import SchemaSQLText

extension Rule {
  static let narrowingType = Rule(
    id: "narrowing-type",
    section: .losesData,
    severities: .alwaysError,
    why: """
      A text that looks like a number becomes one in a column of INTEGER, REAL or NUMERIC affinity: \
      '007' is 7 from then on, '1.10' is 1.1, and a long string of digits keeps only the first \
      fifteen. CAST goes further and makes 0 of any text and 1 of 1.9. What was there cannot be told \
      from the result. A copy that says how each value is converted is no such loss, nor is a number \
      that becomes a text.
      """,
    fix: """
      Keep the type, or say how values become the new ones: move_column with `map` stops at a value \
      that it does not name.
      """,
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - alter_column: { table: reminders, column: title, type: INTEGER }
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - add_column: { table: reminders, column: { name: number, type: INTEGER } }
        - update:
            table: reminders
            set: { number: "title" }
            where: "title GLOB '[1-9]*' AND title NOT GLOB '*[^0-9]*'"
      """),
    check: { timeline, _ in
      timeline.changes.flatMap { change -> [Draft] in
        guard let after = change.after else { return [] }
        return change.changedTypes(timeline).compactMap { old, new, narrows in
          guard narrows else { return nil }
          return timeline.draft(
            "\(after.name).\(new.name) becomes \(new.typeInWords): a text that looks like a number "
              + "does not come back as it was ('007' is 7)",
            at: change.newest(of: [change.place(of: new.name)]),
            keys: ["type", "columns", "column", "table"], column: new.name,
            object: "\(after.name).\(new.name)", table: after.name)
        }
      }
    })
}

extension TableShape.Column {
  var typeInWords: String { type ?? "a column without a type" }
}

extension TableChange {
  /// The columns whose values are stored otherwise now, and whether that loses something. Columns
  /// of the primary key are judged as such.
  func changedTypes(
    _ timeline: Timeline
  ) -> [(old: TableShape.Column, new: TableShape.Column, narrows: Bool)] {
    guard let before, let after else { return [] }
    let mapping = mapping(timeline)?.mapping
    return keptColumns.compactMap { old, new in
      let (was, becomes) = (before.affinity(of: old), after.affinity(of: new))
      guard !before.isInPrimaryKey(old), !after.isInPrimaryKey(new), !old.isGenerated,
        !new.isGenerated, was.storage != becomes.storage
      else { return nil }
      let expression = mapping?.expressions[new.key]
      let isConverted = expression.map { $0.column == nil && !$0.isCast } ?? false
      let isCast = expression?.isCast ?? false
      return (old, new, !isConverted && was.loses(in: becomes, isCast: isCast))
    }
  }
}

extension TableShape {
  /// In a STRICT table ANY keeps every value as it is (STRICT Tables, section 2).
  fileprivate func affinity(of column: Column) -> Affinity {
    isStrict && column.type?.identifier == "any" ? .blob : column.affinity
  }
}

extension Affinity {
  /// INTEGER and NUMERIC store alike; they differ in CAST alone.
  fileprivate var storage: Affinity { self == .numeric ? .integer : self }

  fileprivate func loses(in other: Affinity, isCast: Bool) -> Bool {
    switch (self, other) {
    case (.text, .integer), (.text, .numeric), (.text, .real): true
    case (.blob, .integer), (.blob, .numeric), (.blob, .real): true
    case (.real, .integer): isCast
    default: false
    }
  }
}
