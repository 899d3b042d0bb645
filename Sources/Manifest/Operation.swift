import SchemaSQLText

/// One entry of a manifest's `operations`.
package struct Operation: Sendable {
  package let kind: Kind
  /// Where the operation's name stands.
  package let position: Position
  /// Where each of the operation's own keys stands (`table`, `from`, `to`, …).
  package let keys: [ExactText: Position]
  /// Suppressions that hold for this operation alone.
  package let suppressions: [Suppression]
  /// The operation's part of the manifest's canonical form, by which two versions of a manifest are
  /// compared operation by operation. Empty when the operation comes from no manifest.
  package let canonicalForm: [UInt8]

  package init(
    kind: Kind, position: Position, keys: [ExactText: Position] = [:],
    suppressions: [Suppression] = [],
    canonicalForm: [UInt8] = []
  ) {
    self.kind = kind
    self.position = position
    self.keys = keys
    self.suppressions = suppressions
    self.canonicalForm = canonicalForm
  }

  /// The operation with other SQL in its place.
  package func with(sql sources: [SQLSource]) -> Operation {
    Operation(
      kind: .sql(sources), position: position, keys: keys, suppressions: suppressions,
      canonicalForm: canonicalForm)
  }

  package enum Kind: Sendable {
    case createTable(TableDefinition)
    case dropTable(table: String)
    case renameTable(table: String, to: String)
    case addColumn(table: String, column: ColumnDefinition)
    case dropColumn(table: String, column: String)
    case renameColumn(table: String, from: String, to: String)
    case moveColumn(MoveColumn)
    case alterColumn(AlterColumn)
    case rebuildTable(RebuildTable)
    case convertPrimaryKey(ConvertPrimaryKey)
    case createIndex(IndexDefinition)
    case createView(name: String, sql: SQLSource)
    case createTrigger(name: String, sql: SQLSource)
    case createVirtualTable(name: String, using: String, arguments: [SQLSource])
    case dropIndex(name: String)
    case dropView(name: String)
    case dropTrigger(name: String)
    case dropVirtualTable(name: String)
    case insert(table: String, rows: [InsertedRow])
    case update(table: String, set: [Assignment], where: SQLSource?)
    case delete(table: String, where: SQLSource?)
    case sql([SQLSource])
    case assert(Assertion)
  }

  /// The operation's name in a manifest.
  package var name: String {
    switch kind {
    case .createTable: "create_table"
    case .dropTable: "drop_table"
    case .renameTable: "rename_table"
    case .addColumn: "add_column"
    case .dropColumn: "drop_column"
    case .renameColumn: "rename_column"
    case .moveColumn: "move_column"
    case .alterColumn: "alter_column"
    case .rebuildTable: "rebuild_table"
    case .convertPrimaryKey: "convert_primary_key"
    case .createIndex: "create_index"
    case .createView: "create_view"
    case .createTrigger: "create_trigger"
    case .createVirtualTable: "create_virtual_table"
    case .dropIndex: "drop_index"
    case .dropView: "drop_view"
    case .dropTrigger: "drop_trigger"
    case .dropVirtualTable: "drop_virtual_table"
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    case .sql: "sql"
    case .assert: "assert"
    }
  }
}

package struct TableDefinition: Sendable {
  package var name: String
  package var columns: [ColumnDefinition]
  package var primaryKey: [String] = []
  package var unique: [[String]] = []
  package var checks: [SQLSource] = []
  package var foreignKeys: [ForeignKeyDefinition] = []
  package var strict = false
  package var withoutRowid = false

  package init(name: String, columns: [ColumnDefinition]) {
    self.name = name
    self.columns = columns
  }
}

package struct ColumnDefinition: Sendable {
  package var name: String
  package var type: String?
  package var primaryKey = false
  package var autoincrement = false
  package var notNull: NotNull?
  /// Nil is no DEFAULT clause; `.null` is DEFAULT NULL.
  package var `default`: Literal?
  package var unique = false
  package var check: SQLSource?
  package var collate: String?
  package var references: Reference?
  package var generated: Generated?
  package var position: Position

  package init(name: String, position: Position) {
    self.name = name
    self.position = position
  }
}

/// NOT NULL, and what happens when a NULL comes nevertheless.
package enum NotNull: Sendable, Hashable {
  case plain
  case onConflict(ConflictAction)
}

package enum ConflictAction: String, Sendable, Hashable, CaseIterable {
  case rollback, abort, fail, ignore, replace
}

package enum ForeignKeyAction: String, Sendable, Hashable, CaseIterable {
  case noAction = "no_action"
  case restrict
  case setNull = "set_null"
  case setDefault = "set_default"
  case cascade

  /// As SQL spells it: `SET NULL`.
  package var sql: String { String(rawValue.uppercased().map { $0 == "_" ? " " : $0 }) }
}

/// What a foreign key points at, and what it does.
package struct Reference: Sendable {
  package var table: String
  /// Empty: the parent's primary key.
  package var columns: [String] = []
  package var onDelete: ForeignKeyAction?
  package var onUpdate: ForeignKeyAction?
  /// DEFERRABLE INITIALLY DEFERRED.
  package var deferrable = false

  package init(table: String) {
    self.table = table
  }
}

package struct ForeignKeyDefinition: Sendable {
  package var columns: [String]
  package var reference: Reference

  package init(columns: [String], reference: Reference) {
    self.columns = columns
    self.reference = reference
  }
}

package struct Generated: Sendable {
  package var expression: SQLSource
  package var stored: Bool

  package init(expression: SQLSource, stored: Bool) {
    self.expression = expression
    self.stored = stored
  }
}

package struct IndexDefinition: Sendable {
  package enum Term: Sendable {
    case column(String)
    case expression(SQLSource)
  }

  package struct Column: Sendable {
    package var term: Term
    package var descending: Bool
    package var collate: String?

    package init(term: Term, descending: Bool = false, collate: String? = nil) {
      self.term = term
      self.descending = descending
      self.collate = collate
    }
  }

  package var name: String
  package var table: String
  package var columns: [Column]
  package var unique = false
  package var `where`: SQLSource?

  package init(name: String, table: String, columns: [Column]) {
    self.name = name
    self.table = table
    self.columns = columns
  }
}

/// One row of an `insert`, its columns in the order written.
package struct InsertedRow: Sendable {
  package struct Cell: Sendable {
    package var column: String
    package var value: Literal

    package init(column: String, value: Literal) {
      self.column = column
      self.value = value
    }
  }

  package var cells: [Cell]
  package var position: Position

  package init(cells: [Cell], position: Position) {
    self.cells = cells
    self.position = position
  }
}

/// `column: "<expression>"`, in `update` and in a rebuild's `copy`.
package struct Assignment: Sendable {
  package var column: String
  package var expression: SQLSource

  package init(column: String, expression: SQLSource) {
    self.column = column
    self.expression = expression
  }
}

/// How the new column gets its values from the old row.
package enum ValueMapping: Sendable {
  /// Value by value. Neither side is ever `.sql`; keys are distinct.
  case map([MappedValue])
  /// An SQL expression over the old row.
  case using(SQLSource)
}

package struct MappedValue: Sendable {
  package var from: Literal
  package var to: Literal

  package init(from: Literal, to: Literal) {
    self.from = from
    self.to = to
  }
}

package struct MoveColumn: Sendable {
  package var table: String
  package var from: String
  package var to: ColumnDefinition
  package var mapping: ValueMapping
  /// Leave the old column where it is and put the new one last.
  package var keepSource = false
  /// Keep both columns in step by triggers; then `mapBack` says how values return.
  package var mirror = false
  package var mapBack: [MappedValue] = []
  /// `dependents: rename`: let SQLite rewrite what mentions the old column.
  package var renamesDependents = false

  package init(table: String, from: String, to: ColumnDefinition, mapping: ValueMapping) {
    self.table = table
    self.from = from
    self.to = to
    self.mapping = mapping
  }
}

/// What `alter_column` does to one property: nothing (`keep`), `null` in YAML (`remove`), or set.
package enum Change<Value: Sendable>: Sendable {
  case keep
  case remove
  case set(Value)
}

package struct AlterColumn: Sendable {
  package var table: String
  package var column: String
  package var type: Change<String> = .keep
  /// `not_null: false` is `.remove`.
  package var notNull: Change<NotNull> = .keep
  package var `default`: Change<Literal> = .keep
  package var collate: Change<String> = .keep
  package var check: Change<SQLSource> = .keep
  package var references: Change<Reference> = .keep
  package var generated: Change<Generated> = .keep

  package init(table: String, column: String) {
    self.table = table
    self.column = column
  }
}

package struct RebuildTable: Sendable {
  /// The table's new definition under its own name; without columns when `sql` gives it.
  package var table: TableDefinition
  /// The whole CREATE TABLE statement.
  package var sql: SQLSource?
  package var copy: [Assignment] = []
  package var `where`: SQLSource?
  package var rowsMayBeLost = false

  package init(table: TableDefinition) {
    self.table = table
  }
}

package struct ConvertPrimaryKey: Sendable {
  package enum UUIDs: String, Sendable, CaseIterable {
    case fromInteger = "from_integer"
    case perDatabase = "per_database"
  }

  package var table: String
  package var uuids: UUIDs

  package init(table: String, uuids: UUIDs) {
    self.table = table
    self.uuids = uuids
  }
}
