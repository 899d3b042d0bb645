import SchemaSQLText
import SchemaSQLite

/// A tool whose ledger schemactl can read. `docs/import.md` describes the rules.
package enum LedgerKind: String, Sendable, CaseIterable {
  case grdb, dbmate, rails, sqlx, diesel, drizzle, prisma, django, goose, flyway, alembic, atlas
  case golangMigrate = "golang-migrate"
}

/// An item of `replaces`: if another tool's ledger contains all these entries, the migration counts as
/// applied.
package struct ReplacedEntries: Sendable {
  /// The table in which the other tool records its migrations.
  package let ledger: String
  /// The kind of the ledger; nil if the name and columns of the table determine it.
  package let kind: LedgerKind?
  /// The column that contains the entries, for a table of an unknown kind.
  package let column: String?
  package let entries: [String]
  /// The parents of the first entry, for Alembic; nil if its parent is the entry before it in the history.
  package let parents: [String]?

  package init(
    ledger: String, kind: LedgerKind?, column: String?, entries: [String], parents: [String]? = nil
  ) {
    self.ledger = ledger
    self.kind = kind
    self.column = column
    self.entries = entries
    self.parents = parents
  }
}

extension Grammar {
  static let replacedEntries = MappingRule(
    "an item of `replaces`",
    [
      .optional(
        "ledger", .text(.name), "The table in which another tool records its migrations."),
      .optional(
        "kind", .choice(LedgerKind.allCases.map(\.rawValue)),
        "The tool; by default schemactl recognises the table."),
      .optional(
        "column", .text(.name), "The column with the entries, for a table of another tool."),
      .optional(
        "entries", .list(of: .constant, atLeast: 1),
        "Entries of that ledger. If all of them have run, this migration counts as applied."),
      .optional(
        "parents", .list(of: .constant, atLeast: 0),
        "The revisions of Alembic that the first entry follows; by default the entry before it in the history."
      ),
      .optional(
        "migrations", .list(of: .text(.name), atLeast: 2),
        "The ids of the migrations that this squash replaces (`schemactl squash`)."),
    ], exactlyOneOf: ["ledger", "migrations"])
}

extension ManifestDecoder {
  /// Decodes an item of `replaces`; nil for a list of migrations.
  mutating func replacedEntries(_ fields: Node) -> ReplacedEntries? {
    if fields["migrations"] != nil {
      for key in ["kind", "column", "entries", "parents"] where fields[key] != nil {
        report(
          "`migrations` and `\(key)` exclude each other: remove one", at: fields.position(of: key))
      }
      return nil
    }
    if fields["ledger"] != nil, fields["entries"] == nil {
      report("an item of `replaces` with `ledger` needs `entries`", at: fields.position)
    }
    if let kind = fields["kind"], fields["column"] != nil {
      report("`kind` and `column` exclude each other: remove one", at: kind.position)
    }
    if fields["parents"] != nil, (choice(fields["kind"]) ?? LedgerKind.alembic) != .alembic {
      report("only `kind: alembic` has `parents`", at: fields.position(of: "parents"))
    }
    return ReplacedEntries(
      ledger: name(fields["ledger"]), kind: choice(fields["kind"]),
      column: fields["column"].map(text),
      entries: fields.elements("entries").compactMap { entry($0) },
      parents: fields["parents"] == nil
        ? nil : fields.elements("parents").compactMap { entry($0) })
  }

  private mutating func entry(_ node: Node) -> String? {
    switch value(node) {
    case .text(let text) where !text.isEmpty: return text
    case .integer(let number): return "\(number)"
    default:
      report("an entry is a name or a number: write it in quotes", at: node.position)
      return nil
    }
  }
}
