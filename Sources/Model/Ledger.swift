import SchemaSQLText

/// The table in a user's database that records the migrations that it has run. Two histories can share a
/// database if each has its own ledger.
package struct Ledger: Sendable, Equatable, CustomStringConvertible {
  package let table: Identifier

  package static let usual = Ledger(table: "schemactl_migrations")

  package init(table: Identifier) {
    self.table = table
  }

  package var description: String { table.text }

  /// The table in which `repair` keeps its record.
  package var repairs: String {
    "schemactl_repairs" + (self == .usual ? "" : "_of_\(table.text)")
  }

  /// The error message about a migration that uses it.
  package var refusal: String {
    "`\(table)` is schemactl's ledger"
      + (self == .usual ? "" : ", because `ledger_table` in `schemactl.yaml` names it")
      + ": a migration may not use it"
  }

  /// The reason why a ledger cannot have this name; nil if it can.
  package static func problem(ofName name: String) -> String? {
    if name.identifier.isInternal {
      return "begins with `sqlite_`, which SQLite reserves for its own tables"
    }
    if name.utf8.contains(0) { return "contains a NUL character" }
    return name.identifier.hasPrefix("schemactl_repairs")
      ? "begins with `schemactl_repairs`, the table in which `repair` keeps its record" : nil
  }
}

extension SchemaObject {
  /// Whether it is the ledger or belongs to it. Such objects are not part of the schema that a history
  /// creates.
  package func isOf(_ ledger: Ledger) -> Bool {
    key.name == ledger.table || holder == ledger.table
  }
}
