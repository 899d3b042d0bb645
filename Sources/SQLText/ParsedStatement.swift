/// A CREATE statement, parsed by `parseCreate`.
package enum ParsedStatement: CreateStatement, Equatable {
  case createTable(CreateTable)
  case createIndex(CreateIndex)
  case createView(CreateView)
  case createTrigger(CreateTrigger)
  case createVirtualTable(CreateVirtualTable)

  package var header: CreateHeader {
    switch self {
    case .createTable(let table): table.header
    case .createIndex(let index): index.header
    case .createView(let view): view.header
    case .createTrigger(let trigger): trigger.header
    case .createVirtualTable(let table): table.header
    }
  }
}

/// The clauses that all CREATE statements have.
package struct CreateHeader: Sendable, Equatable {
  package let schema: Name?
  package let name: Name
  package let isTemporary: Bool
  package let ifNotExists: Bool
}

package protocol CreateStatement: Sendable {
  var header: CreateHeader { get }
}

extension CreateStatement {
  package var schema: Name? { header.schema }
  package var name: Name { header.name }
  package var isTemporary: Bool { header.isTemporary }
  package var ifNotExists: Bool { header.ifNotExists }
}

/// An identifier and its position.
package struct Name: Sendable, Equatable {
  /// Without quotes.
  package let text: String
  /// The byte range, including quotes.
  package let range: Range<Int>

  /// Whether SQLite considers both names equal: it folds ASCII letters only.
  package func isSame(as other: String) -> Bool {
    text.isSameName(as: other)
  }
}

/// A name that may be qualified: `main.t`.
package struct QualifiedName: Sendable, Equatable {
  package let schema: Name?
  package let name: Name
}

/// The position of an SQL expression, which is not parsed further.
package struct Expression: Sendable, Equatable {
  /// From the first to the last significant token, without the parentheses that the grammar
  /// requires around the expression.
  package let range: Range<Int>
  /// Includes those parentheses; equal to `range` if there are none.
  package let outerRange: Range<Int>
}

package enum SortOrder: String, Sendable, Hashable, CaseIterable {
  case ascending = "ASC"
  case descending = "DESC"
}

/// A term of an index, PRIMARY KEY or UNIQUE.
package struct IndexedTerm: Sendable, Equatable {
  /// The whole term, including COLLATE and order.
  package let range: Range<Int>
  /// The term without its outermost COLLATE and its order.
  package let expression: Expression
  /// The name, if it is the whole expression. SQLite reads it as a column, or as a string if the
  /// table has no such column.
  package let column: Name?
  package let collation: Name?
  /// Nil if it is not stated, which means ascending.
  package let order: SortOrder?
}

package struct CreateIndex: CreateStatement, Equatable {
  package let header: CreateHeader
  package let isUnique: Bool
  package let table: Name
  package let terms: [IndexedTerm]
  /// The condition of a partial index.
  package let condition: Expression?
}

package struct CreateView: CreateStatement, Equatable {
  package let header: CreateHeader
  package let columns: [Name]
  package let selectRange: Range<Int>
}

package struct CreateTrigger: CreateStatement, Equatable {
  package enum Timing: String, Sendable, Hashable {
    case before = "BEFORE"
    case after = "AFTER"
    case insteadOf = "INSTEAD OF"
  }

  package enum Event: String, Sendable, Hashable {
    case delete = "DELETE"
    case insert = "INSERT"
    case update = "UPDATE"
  }

  package let header: CreateHeader
  /// `before` if the statement names none, as in SQLite.
  package let timing: Timing
  package let event: Event
  /// The columns of UPDATE OF.
  package let columns: [Name]
  /// The table or view. Only a temporary trigger may qualify it.
  package let table: QualifiedName
  package let condition: Expression?
  /// From BEGIN through END.
  package let bodyRange: Range<Int>
  /// Each statement of the body, without its `;`.
  package let statements: [Range<Int>]
}

package struct CreateVirtualTable: CreateStatement, Equatable {
  package let header: CreateHeader
  package let module: Name
  /// The text between the commas, from the first to the last significant token. Omits empty
  /// arguments, which SQLite does not pass to the module.
  package let arguments: [Range<Int>]
}

/// A text is not a statement of the expected kind.
package struct SyntaxError: Error {}

/// A CREATE TABLE statement: its parts and their positions.
package struct CreateTable: CreateStatement, Equatable {
  package let header: CreateHeader
  /// Empty for CREATE TABLE … AS SELECT.
  package let columns: [Column]
  package let constraints: [Constraint]
  package let isStrict: Bool
  package let isWithoutRowid: Bool

  package struct Column: Sendable, Equatable {
    package let name: Name
    package let type: TypeName?
    package let constraints: [ColumnConstraint]
    /// From the first to the last significant token.
    package let range: Range<Int>
  }

  /// A declared type, with its numbers: `VARCHAR(10)`.
  package struct TypeName: Sendable, Equatable {
    /// The type as SQLite reports it: verbatim, or only the first name if that is quoted.
    package let text: String
    package let range: Range<Int>
  }

  package struct ColumnConstraint: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
      case primaryKey(PrimaryKey)
      case notNull(onConflict: ConflictAction?)
      /// `NULL`, which has no effect in SQLite.
      case null(onConflict: ConflictAction?)
      case unique(onConflict: ConflictAction?)
      case check(Expression)
      case `default`(Expression)
      case collate(Name)
      case references(Reference)
      /// A DEFERRABLE clause that does not follow its REFERENCES. SQLite applies it to the last
      /// foreign key before it in the table.
      case deferral(isDeferred: Bool)
      case generated(Generated)
      /// CONSTRAINT and a name without a constraint, which SQLite accepts.
      case nameOnly
    }

    /// The name after CONSTRAINT.
    package let name: Name?
    package let kind: Kind
    /// Begins at CONSTRAINT, if present.
    package let range: Range<Int>
  }

  package struct Constraint: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
      case primaryKey([IndexedTerm], isAutoincrement: Bool, onConflict: ConflictAction?)
      case unique([IndexedTerm], onConflict: ConflictAction?)
      case check(Expression, onConflict: ConflictAction?)
      case foreignKey([Name], Reference)
      /// CONSTRAINT and a name without a constraint, which SQLite accepts.
      case nameOnly
    }

    /// The name after CONSTRAINT.
    package let name: Name?
    package let kind: Kind
    /// Begins at CONSTRAINT, if present.
    package let range: Range<Int>
  }

  package struct PrimaryKey: Sendable, Equatable {
    package let order: SortOrder?
    package let onConflict: ConflictAction?
    package let isAutoincrement: Bool
  }

  /// An ON CONFLICT clause. SQLite's default is ABORT.
  package enum ConflictAction: String, Sendable, Hashable, CaseIterable {
    case rollback = "ROLLBACK"
    case abort = "ABORT"
    case fail = "FAIL"
    case ignore = "IGNORE"
    case replace = "REPLACE"
  }

  package enum ForeignKeyAction: String, Sendable, Hashable, CaseIterable {
    case noAction = "NO ACTION"
    case restrict = "RESTRICT"
    case setNull = "SET NULL"
    case setDefault = "SET DEFAULT"
    case cascade = "CASCADE"
  }

  /// A REFERENCES clause.
  package struct Reference: Sendable, Equatable {
    package let table: Name
    /// Empty for the primary key.
    package let columns: [Name]
    package internal(set) var onDelete = ForeignKeyAction.noAction
    package internal(set) var onUpdate = ForeignKeyAction.noAction
    /// Whether the foreign key is checked only at COMMIT.
    package internal(set) var isDeferred = false
    /// From REFERENCES to its last action or DEFERRABLE clause.
    package internal(set) var range: Range<Int>
  }

  package struct Generated: Sendable, Equatable {
    package let expression: Expression
    package let isStored: Bool
  }
}

/// The constraints of columns and of the table together.
extension CreateTable {
  package typealias Key = (columns: [Name], onConflict: ConflictAction?)
  package typealias Check = (name: Name?, expression: Expression, onConflict: ConflictAction?)

  /// The primary key; nil if the table has none.
  package var primaryKey: (key: Key, isAutoincrement: Bool)? {
    for column in columns {
      if let key = column.primaryKey {
        return (([column.name], key.onConflict), key.isAutoincrement)
      }
    }
    for case .primaryKey(let terms, let isAutoincrement, let action) in constraints.map(\.kind) {
      return ((terms.compactMap(\.column), action), isAutoincrement)
    }
    return nil
  }

  /// The names of the primary key's columns, in order.
  package var keyColumns: [String] { primaryKey?.key.columns.map(\.text) ?? [] }

  /// The column that is an alias of the rowid (CREATE TABLE, section 5).
  package var rowidAlias: Column? {
    guard !isWithoutRowid, let key = primaryKey?.key.columns, key.count == 1,
      let column = column(named: key[0].text), column.type?.text.identifier == "integer",
      // In a column constraint, DESC makes it an ordinary column. In a table constraint, it does not.
      column.primaryKey?.order != .descending
    else { return nil }
    return column
  }

  /// The UNIQUE constraints.
  package var uniques: [Key] {
    columns.flatMap { column in
      column.constraints.compactMap { constraint -> Key? in
        if case .unique(let action) = constraint.kind { ([column.name], action) } else { nil }
      }
    }
      + constraints.compactMap { constraint in
        if case .unique(let terms, let action) = constraint.kind {
          (terms.compactMap(\.column), action)
        } else {
          nil
        }
      }
  }

  /// The CHECK constraints.
  package var checks: [Check] {
    columns.flatMap(\.constraints).compactMap { constraint in
      if case .check(let check) = constraint.kind { (constraint.name, check, nil) } else { nil }
    }
      + constraints.compactMap { constraint in
        if case .check(let check, let action) = constraint.kind {
          (constraint.name, check, action)
        } else {
          nil
        }
      }
  }

  /// The column of that name, regardless of ASCII case.
  package func column(named name: String) -> Column? {
    columns.first { $0.name.isSame(as: name) }
  }

  /// The foreign keys of columns and of the table.
  package var foreignKeys: [(columns: [Name], reference: Reference)] {
    columns.flatMap { column in column.references.map { ([column.name], $0) } }
      + constraints.compactMap { constraint in
        if case .foreignKey(let columns, let reference) = constraint.kind {
          (columns, reference)
        } else {
          nil
        }
      }
  }
}

/// The effective properties of the column. SQLite uses the last of repeated clauses.
extension CreateTable.Column {
  /// The conflict clause of NOT NULL, `abort` by default; nil if the column accepts NULL.
  package var notNull: CreateTable.ConflictAction? {
    last { if case .notNull(let action) = $0 { action ?? .abort } else { nil } }
  }

  package var defaultExpression: Expression? {
    last { if case .default(let expression) = $0 { expression } else { nil } }
  }

  package var collation: Name? {
    last { if case .collate(let name) = $0 { name } else { nil } }
  }

  package var generated: CreateTable.Generated? {
    last { if case .generated(let generated) = $0 { generated } else { nil } }
  }

  package var primaryKey: CreateTable.PrimaryKey? {
    last { if case .primaryKey(let key) = $0 { key } else { nil } }
  }

  package var checks: [Expression] {
    constraints.compactMap { if case .check(let check) = $0.kind { check } else { nil } }
  }

  package var isUnique: Bool {
    constraints.contains { if case .unique = $0.kind { true } else { false } }
  }

  /// The column's foreign keys, one for each REFERENCES, including later DEFERRABLE clauses.
  package var references: [CreateTable.Reference] {
    var references: [CreateTable.Reference] = []
    for constraint in constraints {
      if case .references(let reference) = constraint.kind {
        references.append(reference)
      } else if case .deferral(let isDeferred) = constraint.kind, !references.isEmpty {
        references[references.count - 1].isDeferred = isDeferred
      }
    }
    return references
  }

  private func last<Value>(
    _ value: (CreateTable.ColumnConstraint.Kind) -> Value?
  ) -> Value? {
    constraints.compactMap { value($0.kind) }.last
  }
}

extension CreateTable {
  /// Whether a conflict clause may remove rows (REPLACE of a key) or skip a new row (IGNORE).
  package var mayLoseRowsOnConflict: Bool {
    (uniques + [primaryKey?.key].compactMap(\.self)).contains { $0.onConflict.losesRows }
      || columns.contains { $0.notNull == .ignore } || checks.contains { $0.onConflict == .ignore }
  }
}

extension CreateTable.ConflictAction? {
  fileprivate var losesRows: Bool { self == .ignore || self == .replace }
}
