import SchemaSQLText

extension Grammar {
  package static let manifest = MappingRule(
    "a manifest",
    [
      .optional("description", .text(.any), "The purpose of the migration."),
      .required("operations", .list(of: .operation, atLeast: 0), "The changes, in order."),
      .optional(
        "before", .list(of: .mapping(assertion), atLeast: 0),
        "Assertions on the database before the first operation."),
      .optional(
        "after", .list(of: .mapping(assertion), atLeast: 0),
        "Assertions on the database after the last operation."),
      .optional(
        "foreign_keys", .choice(ForeignKeyMode.allCases.map(\.rawValue)),
        "When SQLite checks foreign keys: after the migration (deferred) or in each statement."),
      .optional("requires", .mapping(requirements), "The requirements of the migration."),
      .optional(
        "replaces", .list(of: .mapping(replacedEntries), atLeast: 1),
        "Migrations that this one replaces; the items are alternatives."),
      .optional("lint", .mapping(lint), "Suppressed findings of lint."),
    ])

  /// The keys that the canonical digest covers.
  static let canonicalKeys = [
    "after", "before", "foreign_keys", "operations", "replaces", "requires",
  ]

  static let assertion = MappingRule(
    "an assertion",
    [
      .required("query", .sql, "A query that returns one row of one column."),
      .required("equals", .literal, "The value that the query must return."),
      .optional("message", .text(.any), "The error message if the value differs."),
    ])

  static let requirements = MappingRule(
    "`requires`",
    [.optional("sqlite", .text(.version), "The oldest SQLite that can run the migration.")])

  package static let lint = MappingRule(
    "`lint`",
    [
      .required(
        "allow", .list(of: .mapping(suppression), atLeast: 0), "The suppressed findings.")
    ])

  package static let suppression = MappingRule(
    "a suppression",
    [
      .required("rule", .text(.name), "The id of the rule."),
      .required("reason", .text(.filled), "The reason for the suppression."),
      .optional("until", .text(.date), "The last day of the suppression, in UTC."),
    ])

  package static let literal = MappingRule(
    "a value",
    [
      .optional("sql", .sql, "An expression that SQLite evaluates."),
      .optional("blob", .text(.hexadecimal), "Bytes, two hexadecimal digits each."),
    ], exactlyOneOf: ["sql", "blob"])

  package static let constant = MappingRule(
    "a value",
    literal.keys.filter { $0.name == "blob" }.map {
      KeyRule.required($0.name, $0.shape, $0.summary)
    })
}
