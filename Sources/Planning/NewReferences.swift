import SchemaModel
import SchemaSQLText

/// A foreign key that a change adds to an existing table, whose rows may violate it.
package struct NewReference: Sendable {
  package let table: String
  package let columns: [String]
  private let child: ParsedTable
  private let parent: ParsedTable
  private let targets: [String]

  package static func added(from before: Schema, to after: Schema) -> [NewReference] {
    SchemaDelta(from: before, to: after).after.values.filter { $0.kind == .table }
      .sorted { $0.name < $1.name }.flatMap { object -> [NewReference] in
        guard let new = try? ParsedTable(object),
          let old = try? ParsedTable(named: object.name, in: before)
        else { return [] }
        let known = old.parsed.foreignKeys.map { Set($0.columns.map(\.text.identifier)) }
        return new.parsed.foreignKeys.compactMap { columns, reference in
          guard !known.contains(Set(columns.map(\.text.identifier))),
            let parent = try? ParsedTable(named: reference.table.text, in: before)
          else { return nil }
          let targets =
            reference.columns.isEmpty ? parent.primaryKey : reference.columns.map(\.text)
          guard targets.count == columns.count else { return nil }
          return NewReference(
            table: old.name, columns: columns.map(\.text), child: old, parent: parent,
            targets: targets)
        }
      }
  }

  /// - Parameter filter: which rows of the table stay; nil is all.
  package func question(where filter: String?) -> Question {
    let own = columns.map { "\(Quoting.quoted(table)).\(Quoting.quoted($0))" }
    // A foreign key compares with the parent's affinity and collation (Foreign Keys, section 3).
    let match = zip(targets, own).map { "p.\(Quoting.quoted($0)) = +\($1)" }
    let orphaned =
      (filter.map { ["(\($0)\n)"] } ?? []) + own.map { "\($0) IS NOT NULL" } + [
        "NOT EXISTS (SELECT 1 FROM main.\(Quoting.quoted(parent.name)) AS p "
          + "WHERE \(match.joined(separator: " AND ")))"
      ]
    let condition = orphaned.joined(separator: " AND ")
    let names = columns.joined(separator: ", ")
    return Question(
      RowQuery(of: child, showing: columns, where: condition), of: table, parent.name,
      promise: "every row of \(table) refers by \(names) to a row of \(parent.name)",
      message: "rows of \(table) refer by \(names) to missing rows of \(parent.name): correct them "
        + "first")
  }
}
