import SchemaModel
import SchemaSQLText

extension ParsedTable {
  /// Refuses to give a column other values if a foreign key refers to it. No foreign key acts while rows are
  /// rewritten, so the rows of the other table would refer to other rows than before, or to none.
  ///
  /// - Parameter key: the operation's key that changes the values.
  func requireUnreferenced(_ columns: [String], in schema: Schema, key: String) throws {
    for child in schema.tables.compactMap({ try? ParsedTable($0) }) {
      for links in child.references(to: self) {
        guard let link = links.first(where: { columns.contains(where: $0.parent.isSameName) })
        else { continue }
        throw PlanningError(
          "rows of `\(child.name)` refer by `\(link.child)` to `\(name).\(link.parent)`, whose values change: "
            + "schemactl does not run ON UPDATE actions while it rewrites rows. Remove the foreign key "
            + "first (`alter_column` with `references: null`, or `rebuild_table`), change the values of "
            + "both tables, and add it again afterwards", key: key)
      }
    }
  }
}

/// A foreign key that existing rows may violate after a change of the schema.
package struct EndangeredReference: Sendable {
  /// The table with the foreign key, and the key's columns.
  package let table: String
  package let columns: [String]
  private let child: ParsedTable
  private let parent: ParsedTable
  private let targets: [String]
  /// Whether the change drops the parent, so that every row that refers to it violates the key.
  private var isParentDropped = false

  /// The table to which the foreign key refers.
  package var parentName: Identifier { parent.name.identifier }

  /// The foreign keys that a change adds.
  package static func added(from before: Schema, to after: Schema) -> [EndangeredReference] {
    SchemaDelta(from: before, to: after).after.values.filter { $0.kind == .table }
      .sorted { $0.name < $1.name }.flatMap { object -> [EndangeredReference] in
        guard let new = try? ParsedTable(object),
          let old = try? ParsedTable(named: object.name, in: before)
        else { return [] }
        return new.parsed.foreignKeys.compactMap { columns, reference in
          guard let parent = try? ParsedTable(named: reference.table.text, in: before) else {
            return nil
          }
          let targets = reference.targets(in: parent)
          let pairs = Set(zip(columns, targets).map { [$0.text.identifier, $1.identifier] })
          let isKnown = old.references(to: parent).contains { links in
            Set(links.map { [$0.child.identifier, $0.parent.identifier] }) == pairs
          }
          // A renamed column of the parent keeps its rows.
          guard !isKnown, targets.count == columns.count,
            targets.allSatisfy({ parent.parsed.column(named: $0) != nil })
          else { return nil }
          return EndangeredReference(
            table: old.name, columns: columns.map(\.text), child: old, parent: parent,
            targets: targets)
        }
      }
  }

  /// The foreign keys that remain although a change drops their parent.
  ///
  /// - Parameters:
  ///   - children: the tables that may refer to a dropped table.
  ///   - delta: the change from `before` to `after`.
  package static func leftBehind(
    in children: [String], by delta: SchemaDelta, from before: Schema, to after: Schema
  ) -> [EndangeredReference] {
    let dropped = delta.before.values.filter { $0.kind == .table && delta.after[$0.key] == nil }
    return dropped.sorted { $0.name < $1.name }.compactMap { try? ParsedTable($0) }.flatMap {
      parent in
      children.flatMap { name -> [EndangeredReference] in
        guard let child = try? ParsedTable(named: name, in: before),
          let now = try? ParsedTable(named: name, in: after)
        else { return [] }
        let remaining = now.references(to: parent).map { $0.map(\.child) }
        return child.references(to: parent).compactMap { links in
          let columns = links.map(\.child)
          guard !links.isEmpty, remaining.contains(columns) else { return nil }
          return EndangeredReference(
            table: child.name, columns: columns, child: child, parent: parent,
            targets: links.map(\.parent), isParentDropped: true)
        }
      }
    }
  }

  /// Asks whether a row would violate the foreign key.
  ///
  /// - Parameter filter: SQL that is true for the rows of the table that stay; nil for all rows.
  package func question(where filter: String? = nil) -> Question {
    let own = columns.map { "\(Quoting.quoted(table)).\(Quoting.quoted($0))" }
    let names = columns.map { "`\($0)`" }.joined(separator: ", ")
    guard !isParentDropped else {
      return Question(
        RowQuery(of: child, showing: columns, where: hasParent(own, in: parent.name, targets)),
        of: table, promise: "no row of `\(table)` refers by \(names) to `\(parent.name)`",
        message: "rows of `\(table)` refer by \(names) to `\(parent.name)`, which this migration "
          + "drops: set \(names) to NULL or delete the rows first")
    }
    let condition =
      (filter.map { "(\($0)\n) AND " } ?? "") + missesParent(own, in: parent.name, targets)
    return Question(
      RowQuery(of: child, showing: columns, where: condition), of: table,
      promise: "every row of `\(table)` refers by \(names) to a row of `\(parent.name)`",
      message:
        "rows of `\(table)` refer by \(names) to missing rows of `\(parent.name)`: correct them "
        + "first")
  }
}

/// SQL that is true for a row that refers to a missing row.
///
/// - Parameters:
///   - columns: the referring columns, as SQL.
///   - targets: the names of the parent's columns.
package func missesParent(_ columns: [String], in parent: String, _ targets: [String]) -> String {
  (columns.map { "\($0) IS NOT NULL" } + ["NOT \(hasParent(columns, in: parent, targets))"])
    .joined(separator: " AND ")
}

/// SQL that is true if the parent row exists.
private func hasParent(_ columns: [String], in parent: String, _ targets: [String]) -> String {
  // A foreign key compares with the parent's affinity and collation (Foreign Keys, section 3).
  let match = zip(targets, columns).map { "p.\(Quoting.quoted($0)) = +\($1)" }
  return "EXISTS (SELECT 1 FROM main.\(Quoting.quoted(parent)) AS p "
    + "WHERE \(match.joined(separator: " AND ")))"
}
