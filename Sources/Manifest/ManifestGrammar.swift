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
        "Migrations that this migration replaces; the items are alternatives."),
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
      .optional("sql", .expression, "An expression that SQLite evaluates."),
      .optional("blob", .text(.hexadecimal), "Bytes, two hexadecimal digits each."),
    ], exactlyOneOf: ["sql", "blob"])

  package static let constant = MappingRule(
    "a value",
    literal.keys.filter { $0.name == "blob" }.map {
      KeyRule.required($0.name, $0.shape, $0.summary)
    })
}

// MARK: Operations

extension Grammar {
  package static let operations: [OperationRule] =
    tableOperations + columnOperations + schemaObjectOperations + dataOperations

  static let operationsByName: [ExactText: OperationRule] = Dictionary(
    operations.map { (ExactText($0.name), $0) }, uniquingKeysWith: { first, _ in first })

  private static let name = Shape.text(.name)
  private static let names = Shape.list(of: .text(.name), atLeast: 1)

  private static let tableOperations = [
    OperationRule(
      "create_table", "Creates a table.",
      [.required("name", name, "The table's name.")] + tableDefinition
    ) { .createTable($0.tableDefinition($1, name: "name")) },
    OperationRule(
      "drop_table", "Drops a table and its rows.", [.required("table", name, "The table.")]
    ) { .dropTable(table: $0.name($1["table"])) },
    OperationRule(
      "rename_table", "Renames a table.",
      [.required("table", name, "The table."), .required("to", name, "Its new name.")]
    ) { $0.renameTable($1) },
    OperationRule(
      "rebuild_table", "Gives a table a new definition and copies its rows.",
      [
        .required("table", name, "The table."),
        .optional(
          "sql", .sql,
          "The whole CREATE TABLE statement, for a definition that the other keys cannot express."),
        .optional("columns", .list(of: .mapping(column), atLeast: 1), "The columns, in order."),
      ] + tableProperties + [
        .optional(
          "copy", .map(key: name, value: .expression, atLeast: 0),
          "An expression over the old row for each new column."),
        .optional(
          "where", .expression, "A condition for the rows to keep; needs `rows_may_be_lost: true`."),
        .optional("rows_may_be_lost", .boolean, "Consent to the loss of the other rows."),
      ], exactlyOneOf: ["columns", "sql"]
    ) { $0.rebuildTable($1) },
    OperationRule(
      "convert_primary_key",
      "Replaces an integer primary key, and all foreign keys that refer to it, by UUIDs.",
      [
        .required("table", name, "The table."),
        .required("to", .choice(["uuid"]), "The kind of the new key."),
        .required(
          "uuids", .choice(ConvertPrimaryKey.UUIDs.allCases.map(\.rawValue)),
          "`from_integer` merges equal ids of two devices, `per_database` keeps them apart."),
      ]
    ) { $0.convertPrimaryKey($1) },
  ]

  private static let columnOperations = [
    OperationRule(
      "add_column", "Adds a column to a table.",
      [
        .required("table", name, "The table."),
        .required("column", .mapping(column), "The column."),
      ]
    ) { .addColumn(table: $0.name($1["table"]), column: $0.column($1["column"])) },
    OperationRule(
      "drop_column", "Drops a column and its values.",
      [.required("table", name, "The table."), .required("column", name, "The column.")]
    ) { .dropColumn(table: $0.name($1["table"]), column: $0.name($1["column"])) },
    OperationRule(
      "rename_column", "Renames a column.",
      [
        .required("table", name, "The table."), .required("from", name, "The column."),
        .required("to", name, "Its new name."),
      ]
    ) { $0.renameColumn($1) },
    OperationRule(
      "move_column", "Replaces a column by another one and converts all its values.",
      [
        .required("table", name, "The table."),
        .required("from", name, "The old column."),
        .required("to", .mapping(column), "The new column."),
        .optional("map", values, "The new value for each old one."),
        .optional("using", .expression, "The new value, as an expression over the old row."),
        .optional("keep_source", .boolean, "Keep the old column."),
        .optional(
          "mirror", .boolean,
          "With `keep_source`: keep both columns consistent with triggers."),
        .optional("map_back", values, "With `mirror`: the old value for each new one."),
        .optional(
          "dependents", .choice(["rename"]),
          "Let SQLite rename the old column in views, triggers and indexes."),
      ], exactlyOneOf: ["map", "using"]
    ) { $0.moveColumn($1) },
    OperationRule(
      "alter_column", "Changes properties of a column; null removes one.",
      [.required("table", name, "The table."), .required("column", name, "The column.")]
        + columnChanges
    ) { $0.alterColumn($1) },
  ]

  private static let schemaObjectOperations =
    [
      OperationRule(
        "create_index", "Creates an index.",
        [
          .required("name", name, "The index's name."),
          .required("table", name, "The table."),
          .required(
            "columns", .list(of: .either(name, indexColumn), atLeast: 1),
            "Names, or mappings with an order or a collation."),
          .optional("unique", .boolean, "Whether the values must be unique."),
          .optional("where", .expression, "A condition for the rows to index."),
        ]
      ) { $0.createIndex($1) },
      OperationRule("create_view", "Creates a view.", wholeStatement("The view's name.")) {
        .createView(name: $0.name($1["name"]), sql: $0.sql($1["sql"]))
      },
      OperationRule("create_trigger", "Creates a trigger.", wholeStatement("The trigger's name.")) {
        .createTrigger(name: $0.name($1["name"]), sql: $0.sql($1["sql"]))
      },
      OperationRule(
        "create_virtual_table", "Creates a virtual table.",
        [
          .required("name", name, "The table's name."),
          .required("using", name, "The module, as in `fts5`."),
          .optional("arguments", .list(of: .sql, atLeast: 0), "The module's arguments."),
        ]
      ) { $0.createVirtualTable($1) },
      OperationRule("drop_index", "Drops an index.", [.required("name", name, "The index.")]) {
        .dropIndex(name: $0.name($1["name"]))
      },
      OperationRule("drop_view", "Drops a view.", [.required("name", name, "The view.")]) {
        .dropView(name: $0.name($1["name"]))
      },
      OperationRule("drop_trigger", "Drops a trigger.", [.required("name", name, "The trigger.")]) {
        .dropTrigger(name: $0.name($1["name"]))
      },
      OperationRule(
        "drop_virtual_table", "Drops a virtual table.", [.required("name", name, "The table.")]
      ) { .dropVirtualTable(name: $0.name($1["name"])) },
    ]

  private static let dataOperations = [
    OperationRule(
      "insert", "Inserts rows.",
      [
        .required("table", name, "The table."),
        .required(
          "rows", .list(of: .map(key: name, value: .literal, atLeast: 1), atLeast: 1),
          "The values of each row, by column."),
      ]
    ) { $0.insert($1) },
    OperationRule(
      "update", "Changes rows.",
      [
        .required("table", name, "The table."),
        .required(
          "set", .map(key: name, value: .expression, atLeast: 1), "An expression for each column."),
        .optional("where", .expression, "A condition that selects the rows."),
        .optional("all", .consent, "Every row."),
      ], exactlyOneOf: ["where", "all"]
    ) { $0.update($1) },
    OperationRule(
      "delete", "Deletes rows.",
      [
        .required("table", name, "The table."),
        .optional("where", .expression, "A condition that selects the rows."),
        .optional("all", .consent, "Every row."),
      ], exactlyOneOf: ["where", "all"]
    ) { .delete(table: $0.name($1["table"]), where: $1["where"].map($0.sql)) },
    OperationRule("sql", "Runs SQL statements.", shape: .oneOrMany(.script)) {
      .sql(($1.elements ?? [$1]).map($0.sql))
    },
    OperationRule(
      "assert",
      "Stops the migration if a query does not return the expected value. `verify`, `check`, "
        + "`freeze` and `bundle` evaluate it on a new database, unless the project declares "
        + "functions of the app.", assertion.keys
    ) {
      .assert($0.assertion($1))
    },
  ]

  private static func wholeStatement(_ summary: String) -> [KeyRule] {
    [.required("name", name, summary), .required("sql", .sql, "The whole CREATE statement.")]
  }

  private static let values = Shape.map(key: .constant, value: .constant, atLeast: 1)

  private static let tableDefinition: [KeyRule] =
    [.required("columns", .list(of: .mapping(column), atLeast: 1), "The columns, in order.")]
    + tableProperties

  private static let tableProperties: [KeyRule] = [
    .optional("primary_key", names, "The columns of the primary key."),
    .optional("unique", .list(of: names, atLeast: 0), "Sets of columns that must be unique."),
    .optional("checks", .list(of: .expression, atLeast: 0), "Conditions that each row must meet."),
    .optional("foreign_keys", .list(of: .mapping(foreignKey), atLeast: 0), "The foreign keys."),
    .optional("strict", .boolean, "Whether SQLite enforces the types (STRICT)."),
    .optional("without_rowid", .boolean, "Whether the table is WITHOUT ROWID."),
  ]

  package static let column = MappingRule(
    "a column",
    [
      .required("name", name, "The column's name."),
      .optional("type", .text(.type), "The declared type, as in `TEXT` or `INTEGER`."),
      .optional("primary_key", .boolean, "Whether it is the primary key."),
      .optional("autoincrement", .boolean, "Whether SQLite never reuses an id."),
      .optional("not_null", notNull, "Whether the column refuses NULL."),
      .optional(
        "default", .columnDefault,
        "The value for an INSERT that does not name the column; an expression is `{ sql: \"…\" "
          + "}`."),
      .optional("unique", .boolean, "Whether the values must be unique."),
      .optional("check", .expression, "A condition that each value must meet."),
      .optional("collate", name, "The collation."),
      .optional("references", .mapping(reference), "The parent table and column."),
      .optional("generated", .mapping(generated), "The expression that computes it."),
    ])

  /// The properties of a column that `alter_column` can change. Null removes a property.
  private static let columnChanges: [KeyRule] = changeableProperties.compactMap { name in
    column.key(name).map { .optional($0.name, .nullable($0.shape), $0.summary) }
  }

  static let changeableProperties = [
    "type", "not_null", "default", "collate", "check", "references", "generated",
  ]

  private static let notNull = Shape.either(
    .boolean,
    MappingRule(
      "`not_null`",
      [
        .required(
          "on_conflict", .choice(CreateTable.ConflictAction.allCases.map(\.word)),
          "The conflict action for NULL.")
      ]))

  private static let action = Shape.choice(
    CreateTable.ForeignKeyAction.allCases.map(\.word))

  private static let referenceBehaviour: [KeyRule] = [
    .optional("on_delete", action, "The action when a statement deletes the parent."),
    .optional("on_update", action, "The action when the parent's key changes."),
    .optional(
      "deferrable", .boolean,
      "Whether SQLite checks it at the end of the transaction (INITIALLY DEFERRED)."),
  ]

  private static let reference = MappingRule(
    "`references`",
    [
      .required("table", name, "The parent table."),
      .optional("column", name, "The parent's column; default: its primary key."),
    ] + referenceBehaviour)

  private static let foreignKey = MappingRule(
    "a foreign key",
    [
      .required("columns", names, "The columns of this table."),
      .required("table", name, "The parent table."),
      .optional("to", names, "The parent's columns; default: its primary key."),
    ] + referenceBehaviour)

  private static let generated = MappingRule(
    "`generated`",
    [
      .required("as", .expression, "The expression."),
      .optional(
        "stored", .boolean,
        "Whether SQLite stores the value; otherwise it computes the value on each read."),
    ])

  private static let indexColumn = MappingRule(
    "an indexed column",
    [
      .optional("column", name, "A column."),
      .optional("expression", .expression, "An expression."),
      .optional("order", .choice(SortOrder.allCases.map(\.word)), "The direction."),
      .optional("collate", name, "The collation."),
    ], exactlyOneOf: ["column", "expression"])
}
