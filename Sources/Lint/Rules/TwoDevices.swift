import SchemaDevices
import SchemaHistory
import SchemaManifest
import SchemaModel
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let twoDevices = Rule(
    id: "two-devices",
    section: .breaksDevices,
    severities: Severities(.off, .error, .error),
    why: """
      Other rules report that a change breaks devices. This rule shows it. Lint builds the schemas \
      of adjacent releases in the history lock, and of each release and the latest schema, in \
      memory. It generates rows that satisfy them, and both devices create and edit rows that \
      reach the other device through a server. A device sends the columns that it changed. A \
      device that receives a row uses the default for a missing column (NULL under sqlite-data). \
      If it has the row, it updates only the columns that are present. A statement that SQLite \
      refuses, or a lost value or row, is a finding at the migration that causes it. The finding \
      has statements that reproduce it in two `sqlite3` shells. `sync.oldest_release` ends the \
      support of older releases. `lint --full` tries all pairs of releases. A suppression of the \
      rule that found the same change of the same object covers this finding, too.
      """,
    fix: """
      Only add: a column that is nullable or NOT NULL ON CONFLICT REPLACE DEFAULT x, a table, or an \
      index that is not unique. Keep existing columns and tables until no device runs a release that \
      knows them.
      """,
    examples: Example(
      .sqliteData, releases: ["1.0": 1],
      after: [
        tableManifest("reminders", columns: "{ name: urgency, type: INTEGER, check: urgency < 2 }")
      ]),
    wrong: "- alter_column: { table: reminders, column: urgency, check: urgency < 3 }",
    right: """
      - add_column:
          table: reminders
          column: { name: priority, type: INTEGER }
      """,
    check: .devices { disagreements, timeline in
      // Report an operation once, even if devices disagree about several columns.
      var operations: Set<[Int?]> = []
      return disagreements.map(timeline.draft).filter { draft in
        draft.severity == .note || !draft.isOneChange(timeline.migrations)
          || operations.insert([draft.migration, draft.operation]).inserted
      }
    })
}

extension Timeline {
  fileprivate func draft(_ disagreement: Disagreement) -> Draft {
    let place = place(of: disagreement)
    let operations = migrations[disagreement.migration].manifest.operations
    let number =
      place?.operation ?? operations.firstIndex { $0.alters(disagreement.object) }
      ?? (operations.count == 1 ? 0 : nil)
    let operation = migrations.operation(number, of: disagreement.migration)
    let position =
      disagreement.column.flatMap { operation?.definition(ofColumn: $0)?.position }
      ?? ["column", "from", "to", "columns", "unique", "name", "table"].lazy
      .compactMap { operation?.keys[$0] }.first ?? place?.position
      ?? operations.first?.position
    return Draft(
      message: disagreement.message, transcript: disagreement.transcript,
      migration: disagreement.migration, operation: number,
      position: position ?? Position(line: 1, column: 1), object: disagreement.object,
      table: disagreement.table, fix: nil,
      severity: disagreement.transcript == nil ? .note : nil)
  }

  /// The statement that caused the disagreement, if it is known.
  fileprivate func place(of disagreement: Disagreement) -> StatementPlace? {
    let table = disagreement.table.identifier
    let own = changes.filter { change in
      change.migration == disagreement.migration
        && change.before?.name.identifier == table
    }
    if let column = disagreement.column?.identifier {
      let lost = own.lazy.flatMap(\.lost).first { $0.name.identifier == column }
      let place = lost?.place ?? own.lazy.compactMap { $0.columnPlaces[column] }.first
      if let place, place.migration == disagreement.migration { return place }
    }
    let made = made.first { made in
      made.place.migration == disagreement.migration && made.object.kind != .view
        && made.object.table.identifier == table
    }
    guard let change = own.first else { return made?.place }
    if let removal = change.removal, change.isDropped || change.isRenamed { return removal }
    return change.last.migration == disagreement.migration ? change.last : made?.place
  }
}

extension Disagreement {
  /// The name of the column; nil if the disagreement concerns the table.
  fileprivate var column: String? {
    object == table ? nil : String(object.dropFirst(table.count + 1))
  }
}

extension Operation {
  /// Whether the operation is an `alter_column` of this column. If it only edits the stored
  /// definition, its statements do not mention the column.
  fileprivate func alters(_ object: String) -> Bool {
    guard case .alterColumn(let change) = kind else { return false }
    return "\(change.table).\(change.column)".identifier == object.identifier
  }
}
