/// A CREATE statement, parsed by `parseCreate`.
package enum ParsedStatement: Sendable, Equatable {
  case createTable(CreateTable)
  case createIndex(CreateIndex)
  case createView(CreateView)
  case createTrigger(CreateTrigger)
  case createVirtualTable(CreateVirtualTable)

  /// The name of the created object, without its schema.
  package var name: Name {
    switch self {
    case .createTable(let table): table.name
    case .createIndex(let index): index.name
    case .createView(let view): view.name
    case .createTrigger(let trigger): trigger.name
    case .createVirtualTable(let table): table.name
    }
  }
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

package struct CreateIndex: Sendable, Equatable {
  package let schema: Name?
  package let name: Name
  package let isUnique: Bool
  package let ifNotExists: Bool
  package let table: Name
  package let terms: [IndexedTerm]
  /// The condition of a partial index.
  package let condition: Expression?
}

package struct CreateView: Sendable, Equatable {
  package let schema: Name?
  package let name: Name
  package let isTemporary: Bool
  package let ifNotExists: Bool
  package let columns: [Name]
  package let selectRange: Range<Int>
}

package struct CreateTrigger: Sendable, Equatable {
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

  package let schema: Name?
  package let name: Name
  package let isTemporary: Bool
  package let ifNotExists: Bool
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

package struct CreateVirtualTable: Sendable, Equatable {
  package let schema: Name?
  package let name: Name
  package let ifNotExists: Bool
  package let module: Name
  /// The text between the commas, from the first to the last significant token. Omits empty
  /// arguments, which SQLite does not pass to the module.
  package let arguments: [Range<Int>]
}

/// A violation of SQLite's grammar.
package struct SyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
  package let message: String
  /// The byte offset of the error.
  package let offset: Int

  package var description: String { message }
}
