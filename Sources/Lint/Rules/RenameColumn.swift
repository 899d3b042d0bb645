import SchemaManifest
import SchemaSQLText
import SchemaTimeline

extension Rule {
  static let renameColumn = Rule(
    id: "rename-column",
    section: .removes,
    severities: Severities(.warning, .error, .error),
    concernsOlderVersions: true,
    why: """
      For every version of the app that knows the old name, a renamed column is a dropped column. \
      The version's next statement fails, and its device sends rows with a column that no longer \
      exists. The same is true if a rebuilt table contains the values under another name.
      """,
    fix: """
      Keep the name in the database and use another name in the app. If the name must change, add \
      the new column with `move_column` and `keep_source: true`. Drop the old column once no \
      device runs a version that knows it.
      """,
    examples: Example(.additive),
    wrong: "- rename_column: { table: reminders, from: title, to: name }",
    right: """
      - move_column:
          table: reminders
          from: title
          to: { name: name, type: TEXT }
          using: title
          keep_source: true
      """,
    check: .history { timeline, scope in
      timeline.lostColumns(scope).compactMap { change, column, table in
        guard case .renamed(let name) = column.outcome,
          !timeline.isUndone(
            change, where: { $0.renamedColumns[name.identifier] == column.name.identifier })
        else { return nil }
        let profile = scope.profile(table, in: column.place.migration)
        return timeline.draft(
          "this renames `\(table).\(column.name)` to `\(name)`: "
            + profile.harm(ofLosing: column.name), at: column.place,
          keys: ["from", "copy", "column", "table"], object: "\(table).\(column.name)",
          table: table,
          fix: profile == .local
            ? nil
            : move(column.name, to: name, of: table, typed: change.after?.column(name)?.type))
      }
    })
}

/// Adds the new column and keeps the old one.
private func move(_ old: String, to new: String, of table: String, typed type: String?) -> String {
  var column = ColumnDefinition(name: new, position: Position(line: 1, column: 1))
  column.type = type
  return """
    # The app must write both columns until no device runs a version that knows only \(old).
    \(operationSnippet("move_column", [
      ("table", yamlScalar(table)), ("from", yamlScalar(old)), ("to", column.yaml),
      ("using", yamlQuoted(Quoting.identifier(old))), ("keep_source", "true"),
    ]))
    """
}
