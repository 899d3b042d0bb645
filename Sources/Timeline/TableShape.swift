import SchemaModel
import SchemaPlanning
import SchemaSQLText

/// The properties of a table's definition that rules use.
package struct TableShape: Sendable {
  package struct Column: Sendable {
    package let name: String
    package let type: String?
    /// The conflict clause of NOT NULL; nil if the column has no NOT NULL constraint.
    package let notNull: CreateTable.ConflictAction?
    /// The text of the DEFAULT; nil if the column has no DEFAULT or DEFAULT NULL.
    package let defaultText: String?
    package let isGenerated: Bool
    package let isStored: Bool
    package let collation: Identifier?

    package var key: Identifier { name.identifier }

    package func isDefined(as other: Column) -> Bool {
      key == other.key && type?.identifier == other.type?.identifier && notNull == other.notNull
        && defaultText == other.defaultText && isGenerated == other.isGenerated
        && isStored == other.isStored && collation == other.collation
    }
  }

  package struct PrimaryKey: Sendable, Hashable {
    /// The columns in the order of the key.
    package let columns: [Identifier]
    package let isAutoincrement: Bool
    package let onConflict: CreateTable.ConflictAction
  }

  package struct Unique: Sendable, Hashable {
    /// The columns in the order of the constraint.
    package let columns: [Identifier]
    package let onConflict: CreateTable.ConflictAction
  }

  package struct Check: Sendable, Hashable {
    /// The tokens of the expression in normal form. CHECKs with equal tokens are equal.
    package let tokens: [[UInt8]]
    package let text: String
    /// The columns that it mentions.
    package let columns: Set<Identifier>

    package static func == (one: Self, other: Self) -> Bool { one.tokens == other.tokens }

    package func hash(into hasher: inout Hasher) { hasher.combine(tokens) }
  }

  package struct ForeignKey: Sendable, Hashable {
    package let columns: [Identifier]
    package let parent: String
    /// The columns to which the key refers; empty for the parent's primary key.
    package let parentColumns: [Identifier]
    package let onDelete: CreateTable.ForeignKeyAction
    package let onUpdate: CreateTable.ForeignKeyAction
    package let isDeferred: Bool

    /// Whether the deletion of a parent changes or deletes its children.
    package var acts: Bool { [.cascade, .setNull, .setDefault].contains(onDelete) }
  }

  package var name: String
  package private(set) var isVirtual = false
  package private(set) var columns: [Column] = []
  package private(set) var primaryKey: PrimaryKey?
  package private(set) var uniqueConstraints: [Unique] = []
  package private(set) var checks: [Check] = []
  package private(set) var foreignKeys: [ForeignKey] = []
  package private(set) var isStrict = false
  package private(set) var isWithoutRowid = false
  /// The column that is an alias of the rowid.
  package private(set) var rowidAlias: Identifier?
  /// The module and its arguments in CREATE VIRTUAL TABLE, word by word.
  package private(set) var moduleArguments: Set<Identifier> = []

  /// Returns nil if the stored text cannot be parsed. Only an edit of `sqlite_schema` can cause
  /// that.
  package init?(_ object: SchemaObject) {
    let tokens = object.tokens
    name = object.name
    switch try? parseCreate(tokens) {
    case .createVirtualTable?:
      isVirtual = true
      moduleArguments = Set(
        tokens.significant.map { Quoting.unquoted(tokens.text($0)).identifier })
    case .createTable(let table)?:
      columns = table.columns.map { Column($0, tokens) }
      primaryKey = table.primaryKey.map { key, isAutoincrement in
        PrimaryKey(
          columns: key.columns.map(\.text.identifier), isAutoincrement: isAutoincrement,
          onConflict: key.onConflict ?? .abort)
      }
      uniqueConstraints = table.uniques.map { columns, action in
        Unique(columns: columns.map(\.text.identifier), onConflict: action ?? .abort)
      }
      checks = table.checks.map { Check($0.expression, of: table, tokens) }
      foreignKeys = ForeignKey.all(of: table)
      isStrict = table.isStrict
      isWithoutRowid = table.isWithoutRowid
      rowidAlias = table.rowidAlias?.name.text.identifier
    default: return nil
    }
  }

  /// The columns of each UNIQUE constraint.
  package var uniques: [[Identifier]] { uniqueConstraints.map(\.columns) }

  /// The columns of each UNIQUE constraint and of the primary key.
  package var keys: [[Identifier]] {
    (uniques + [primaryKey?.columns ?? []]).filter { !$0.isEmpty }
  }

  /// Whether two rows cannot have the same values in the columns.
  package func hasKey(within columns: some Sequence<Identifier>) -> Bool {
    let columns = Set(columns)
    return keys.contains { columns.isSuperset(of: $0) }
  }

  /// The columns as the table spells them.
  package func names(of columns: [Identifier]) -> [String] {
    columns.map { column($0)?.name ?? $0.text }
  }

  /// The names of the columns as the table spells them, separated by commas.
  package func list(of columns: [Identifier]) -> String {
    names(of: columns).joined(separator: ", ")
  }

  package var key: Identifier { name.identifier }

  package func column(_ name: Identifier) -> Column? { columns.first { $0.key == name } }

  package func column(_ name: String) -> Column? { column(name.identifier) }

  package func isInPrimaryKey(_ column: Column) -> Bool {
    primaryKey?.columns.contains(column.name.identifier) ?? false
  }

  /// Whether no row has NULL in the column. Only some primary keys accept NULL (CREATE TABLE, section
  /// 3.5; STRICT Tables, section 2).
  package func isNeverNull(_ column: Column) -> Bool {
    column.notNull != nil || column.key == rowidAlias
      || (isStrict || isWithoutRowid) && isInPrimaryKey(column)
  }
}

extension TableShape.Column {
  fileprivate init(_ column: CreateTable.Column, _ tokens: TokenizedSQL) {
    name = column.name.text
    type = column.type?.text
    notNull = column.notNull
    isGenerated = column.generated != nil
    isStored = column.generated?.isStored ?? false
    collation = column.collation?.text.identifier
    defaultText = column.defaultExpression.flatMap { expression in
      tokens.text(expression.range).identifier == "null"
        ? nil : tokens.text(expression.outerRange)
    }
  }

  /// Whether the column has INTEGER affinity (Datatypes In SQLite, section 3.1).
  package var isInteger: Bool { affinity == .integer }

  package var affinity: Affinity { Affinity(ofType: type ?? "") }

  /// Whether the declared type has BLOB affinity. False for a column without a type, which has that
  /// affinity, too.
  package var isBlob: Bool { type != nil && affinity == .blob }
}

extension TableShape.ForeignKey {
  fileprivate static func all(of table: CreateTable) -> [TableShape.ForeignKey] {
    table.foreignKeys.map { columns, reference in
      TableShape.ForeignKey(
        columns: columns.map(\.text.identifier), parent: reference.table.text,
        parentColumns: reference.columns.map(\.text.identifier), onDelete: reference.onDelete,
        onUpdate: reference.onUpdate, isDeferred: reference.isDeferred)
    }
  }
}

extension TableShape.Check {
  fileprivate init(_ expression: Expression, of table: CreateTable, _ tokens: TokenizedSQL) {
    self.init(
      tokens: tokens.normalTokens(in: expression.range), text: tokens.oneLine(in: expression.range),
      columns: Set(
        tokens.identifiers(in: expression.range).map(\.text.identifier)
          .filter { table.column(named: $0.text) != nil }))
  }
}

extension TableShape.Check {
  /// The same CHECK with renamed columns.
  package func renaming(_ names: [Identifier: Identifier]) -> Self {
    guard !names.isEmpty else { return self }
    let renamed = tokens.map { $0.renamed(names) }
    let text = renamed.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    return Self(tokens: renamed, text: text, columns: Set(columns.map { names[$0] ?? $0 }))
  }
}

extension [UInt8] {
  /// The normal form of the token, or of the new name if the token names a renamed column.
  package func renamed(_ names: [Identifier: Identifier]) -> [UInt8] {
    names[String(decoding: self, as: UTF8.self)].map { Array($0.folded) } ?? self
  }
}
