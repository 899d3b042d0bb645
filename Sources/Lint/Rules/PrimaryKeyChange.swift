import SchemaHistory
import SchemaManifest
import SchemaPlanning
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let primaryKeyChange = Rule(
    id: "primary-key-change",
    section: .breaksDevices,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    isAboutFailures: true,
    why: """
      The primary key identifies a row. If its columns or the kind of its values change, \
      references from outside the database no longer find its rows. Examples are a row that \
      another device wrote, a link in a document and the record on the server. A sync engine takes \
      each row for a new row. A column that becomes or stops being INTEGER PRIMARY KEY has the \
      same effect. INT PRIMARY KEY looks alike, but a row inserted without a key then gets NULL \
      instead of the next number.
      """,
    fix: """
      Keep the key. Before anything syncs, `convert_primary_key` changes it together with every \
      reference in the database.
      """,
    examples: Example(.additive),
    wrong: """
      - rebuild_table:
          table: reminders
          columns:
            - { name: id, type: TEXT }
            - name: key
              type: TEXT
              primary_key: true
              not_null: true
              default: { sql: uuid() }
            - { name: title, type: TEXT }
            - { name: isCompleted, type: INTEGER, not_null: true, default: 0 }
          copy: { key: "'r-' || id" }
          strict: true
      """,
    right: "- add_column: { table: reminders, column: { name: key, type: TEXT } }",
    check: .history { timeline, scope in
      timeline.tables.compactMap { change, after in
        guard let before = change.before, !before.isVirtual,
          let message = message(before, after, change)
        else { return nil }
        let place = change.place(ofConstraintOver: after.primaryKey?.columns ?? [])
        guard scope.syncs(after.name, in: change.migration) || !timeline.convertsKey(of: change)
        else { return nil }
        return timeline.draft(
          message, at: place,
          keys: ["primary_key", "type", "columns", "column", "table"], object: after.name,
          table: after.name)
      }
    })
}

extension Timeline {
  /// Whether a `convert_primary_key` of the migration changes the key. A later operation may rebuild the table.
  fileprivate func convertsKey(of change: TableChange) -> Bool {
    migrations[change.migration].manifest.operations.contains { operation in
      guard case .convertPrimaryKey(let key) = operation.kind else { return false }
      return [change.before?.key, change.after?.key].contains(key.table.identifier)
    }
  }
}

private func message(
  _ before: TableShape, _ after: TableShape, _ change: TableChange
) -> String? {
  // Nothing refers to rows of a table without a primary key.
  if before.primaryKey != nil, change.changesKey {
    return "the primary key of `\(after.name)` changes from \(before.keyInWords) to "
      + "\(after.keyInWords): references from outside the database no longer find its rows"
  }
  guard !change.changesKey, (before.rowidAlias == nil) != (after.rowidAlias == nil) else {
    return nil
  }
  let key = after.primaryKey?.columns.first ?? before.primaryKey?.columns.first ?? "rowid"
  let column = "`\(after.name).\(after.column(key)?.name ?? key.text)`"
  return after.rowidAlias == nil
    ? "\(column) is no longer INTEGER PRIMARY KEY: a row inserted without a key gets NULL"
    : "\(column) becomes INTEGER PRIMARY KEY, which accepts only integers"
}

extension TableChange {
  /// Whether other columns identify a row, or whether a column of its key stores values of another
  /// kind.
  fileprivate var changesKey: Bool {
    guard let before, let after else { return false }
    let old = before.primaryKey?.columns ?? []
    guard let renamed = renamed(old), renamed == after.primaryKey?.columns ?? [] else {
      return true
    }
    return retypedColumns.contains { before.isInPrimaryKey($0.old) }
  }
}

extension TableShape {
  fileprivate var keyInWords: String {
    guard let key = primaryKey else { return "none" }
    let columns = key.columns.map { name in
      let column = column(name)
      return [column?.name ?? name.text, column?.type].compactMap { $0 }.joined(separator: " ")
    }
    return "`(\(columns.joined(separator: ", ")))`"
  }
}
