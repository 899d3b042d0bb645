import SchemaSQLText

extension Grammar {
  package static let manifest = MappingRule(
    "a manifest",
    [
      .optional("description", .text(.any), "What the migration does, and why."),
      .required("operations", .list(of: .operation, atLeast: 0), "The changes, in order."),
      .optional(
        "before", .list(of: .mapping(assertion), atLeast: 0),
        "Assertions on the database before the first operation."),
      .optional(
        "after", .list(of: .mapping(assertion), atLeast: 0),
        "Assertions on the database after the last operation."),
      .optional(
        "foreign_keys", .choice(ForeignKeyMode.allCases.map(\.rawValue)),
        "When foreign keys are checked: after the migration (deferred) or by each statement."),
      .optional("requires", .mapping(requirements), "What the migration needs to run."),
      .optional(
        "replaces", .list(of: .mapping(replacedEntries), atLeast: 1),
        "Where another tool has made this change: the items are alternatives."),
      .optional("lint", .mapping(lint), "Findings of lint that are allowed here."),
    ])

  /// The keys that the canonical digest covers.
  static let canonicalKeys = [
    "after", "before", "foreign_keys", "operations", "replaces", "requires",
  ]

  static let assertion = MappingRule(
    "an assertion",
    [
      .required("query", .sql, "A query that gives one row of one column."),
      .required("equals", .literal, "The value that the query must give."),
      .optional("message", .text(.any), "What to tell the user when it does not."),
    ])

  static let requirements = MappingRule(
    "`requires`",
    [.optional("sqlite", .text(.version), "The oldest SQLite that can run the migration.")])

  static let lint = MappingRule(
    "`lint`",
    [
      .required(
        "allow", .list(of: .mapping(suppression), atLeast: 0), "The findings that are allowed.")
    ])

  package static let suppression = MappingRule(
    "a suppression",
    [
      .required("rule", .text(.name), "The id of the rule."),
      .required("reason", .text(.filled), "Why the finding is allowed."),
      .optional("until", .text(.date), "The last day on which it is, in UTC."),
    ])

  package static let literal = MappingRule(
    "a value",
    [
      .optional("sql", .sql, "An expression that SQLite evaluates."),
      .optional("blob", .text(.hexadecimal), "Bytes, two hexadecimal digits each."),
    ], exactlyOneOf: ["sql", "blob"])

  static let constant = MappingRule(
    "a value",
    literal.keys.filter { $0.name == "blob" }.map {
      KeyRule.required($0.name, $0.shape, $0.summary)
    })
}
