import SchemaSQLText
import SchemaSQLite

/// One entry of a manifest's `operations`.
package struct Operation: Sendable {
  /// The name in a manifest, such as `move_column`.
  package let name: String
  package private(set) var kind: Kind
  /// The position of the operation's name.
  package let position: Position
  /// The position of each of the operation's own keys (`table`, `from`, `to`, …).
  package let keys: [ExactText: Position]
  /// The SQL expressions of the manifest that generated statements contain.
  package let expressions: [SQLSource]
  /// Suppressions that apply only to this operation.
  package let suppressions: [Suppression]
  /// The operation's part of the manifest's canonical form, which is used to compare two versions of a
  /// manifest operation by operation. Empty if the operation does not come from a manifest.
  package let canonicalForm: [UInt8]

  package init(
    name: String, kind: Kind, position: Position, keys: [ExactText: Position] = [:],
    expressions: [SQLSource] = [], suppressions: [Suppression] = [],
    canonicalForm: [UInt8] = []
  ) {
    self.name = name
    self.kind = kind
    self.position = position
    self.keys = keys
    self.expressions = expressions
    self.suppressions = suppressions
    self.canonicalForm = canonicalForm
  }

  /// The operation with the given SQL in place of its own kind.
  package func with(sql sources: [SQLSource]) -> Operation {
    var operation = self
    operation.kind = .sql(sources)
    return operation
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
    case insert(table: String, rows: [[Cell]])
    case update(table: String, set: [Assignment], where: SQLSource?)
    case delete(table: String, where: SQLSource?)
    case sql([SQLSource])
    case assert(Assertion)
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
}

package struct ColumnDefinition: Sendable {
  package var name: String
  package var type: String?
  package var primaryKey = false
  package var autoincrement = false
  package var notNull: NotNull?
  /// The default value; nil without a DEFAULT clause. `.null` means DEFAULT NULL.
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

/// A NOT NULL constraint, with its conflict action.
package enum NotNull: Sendable, Equatable {
  case plain
  case onConflict(CreateTable.ConflictAction)
}

/// The target of a foreign key, and its actions.
package struct Reference: Sendable {
  package var table: String
  /// The parent's columns; empty for its primary key.
  package var columns: [String] = []
  package var onDelete: CreateTable.ForeignKeyAction?
  package var onUpdate: CreateTable.ForeignKeyAction?
  /// DEFERRABLE INITIALLY DEFERRED.
  package var deferrable = false
}

package struct ForeignKeyDefinition: Sendable {
  package var columns: [String]
  package var reference: Reference
}

package struct Generated: Sendable {
  package var expression: SQLSource
  package var stored: Bool
}

package struct IndexDefinition: Sendable {
  package enum Term: Sendable {
    case column(String)
    case expression(SQLSource)
  }

  package struct Column: Sendable {
    package var term: Term
    package var descending = false
    package var collate: String?
  }

  package var name: String
  package var table: String
  package var columns: [Column]
  package var unique = false
  package var `where`: SQLSource?
}

/// A value of a row of an `insert`.
package struct Cell: Sendable {
  package var column: String
  package var value: Literal
}

/// An assignment `column: "<expression>"`, in `update` and in a rebuild's `copy`.
package struct Assignment: Sendable {
  package var column: String
  package var expression: SQLSource
}

/// The conversion of an old row into the value of the new column.
package enum ValueMapping: Sendable {
  /// A new value for each old value. The old values are distinct.
  case map([MappedValue])
  /// An SQL expression over the old row.
  case using(SQLSource)
}

package struct MappedValue: Sendable {
  package var from: Value
  package var to: Value

  package init(from: Value, to: Value) {
    self.from = from
    self.to = to
  }
}

package struct MoveColumn: Sendable {
  package var table: String
  package var from: String
  package var to: ColumnDefinition
  package var mapping: ValueMapping
  /// Whether the old column keeps its place and the new one is appended.
  package var keepSource = false
  /// Whether triggers keep both columns consistent. Then `mapBack` gives the old value for each new one.
  package var mirror = false
  package var mapBack: [MappedValue] = []
  /// `dependents: rename`: whether SQLite renames the old column in dependent objects.
  package var renamesDependents = false
}

/// The change of one property by `alter_column`: none (`keep`), `null` in YAML (`remove`), or a new value.
package enum Change<Value: Sendable>: Sendable {
  case keep
  case remove
  case set(Value)

  package var isKept: Bool { if case .keep = self { true } else { false } }
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
}

package struct RebuildTable: Sendable {
  /// The new definition under the table's own name; without columns if `sql` contains the definition.
  package var table: TableDefinition
  /// The whole CREATE TABLE statement; nil if the manifest lists the columns.
  package var sql: SQLSource?
  package var copy: [Assignment] = []
  package var `where`: SQLSource?
  package var rowsMayBeLost = false
}

package struct ConvertPrimaryKey: Sendable {
  package enum UUIDs: String, Sendable, CaseIterable {
    case fromInteger = "from_integer"
    case perDatabase = "per_database"
  }

  package var table: String
  package var uuids: UUIDs
}

/// An SQL function that the application registers.
package struct DeclaredFunction: Sendable, Equatable {
  package let name: String
  /// The number of arguments; -1 for any number.
  package let arguments: Int

  package init(name: String, arguments: Int = -1) {
    self.name = name
    self.arguments = arguments
  }
}
