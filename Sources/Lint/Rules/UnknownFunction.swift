import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText

extension Rule {
  static let unknownFunction = Rule(
    id: "unknown-function",
    section: .hurtsLater,
    severities: .alwaysError,
    why: """
      Neither SQLite nor schemactl.yaml knows the function. A DEFAULT, a view or a trigger is stored \
      nevertheless, and the first INSERT or SELECT that needs it fails; a migration that calls it \
      fails at once. uuid() is built in.
      """,
    fix:
      "Spell it right, or name it under `functions` in schemactl.yaml and let the app register it.",
    bad: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: UPDATE reminders SET title = shorten(title) WHERE title > ''
      """),
    good: Rule.Example(
      .local, remindersManifest,
      """
      operations:
        - sql: UPDATE reminders SET title = upper(title) WHERE title > ''
      """),
    check: { timeline, _ in
      timeline.missingNames.compactMap { place, missing, object, table in
        guard case .function(let name) = missing, !isOfEngine(name) else { return nil }
        return timeline.draft(
          "there is no function \(name)(): what calls it fails"
            + (object.map { " (\($0))" } ?? ""), at: place, keys: ["sql", "name", "table"],
          object: name, table: table)
      }
    })
}

/// What the engines register themselves.
private func isOfEngine(_ function: String) -> Bool {
  let name = function.identifier
  return name.hasPrefix("sqlitedata_") || name.hasPrefix("crsql_")
}

extension Timeline {
  /// Functions and collations that nobody has declared, each where it is first used, and in what.
  var missingNames: [(place: StatementPlace, name: MissingName, object: String?, table: String?)] {
    var found: [(place: StatementPlace, name: MissingName, object: String?, table: String?)] = []
    for statement in statements {
      for name in statement.warnings.missing {
        found.append((statement.place, name, nil, statement.target?.name))
      }
    }
    for (table, column, name) in end?.missing ?? [] {
      found.append(
        (
          table.place(of: column), name, "the default of \(table.shape.name).\(column)",
          table.shape.name
        ))
    }
    for (place, broken) in end?.broken ?? [] {
      guard let name = MissingName(message: broken.message) else { continue }
      found.append(
        (
          place, name, "the \(broken.object.kind.rawValue) \(broken.object.name)",
          broken.object.table
        ))
    }
    return found
  }
}
