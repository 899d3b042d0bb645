/// One CREATE statement, as `parseCreate` reads it.
package enum ParsedStatement: Sendable, Hashable {
  case createTable(CreateTable)
  case createIndex(CreateIndex)
  case createView(CreateView)
  case createTrigger(CreateTrigger)
  case createVirtualTable(CreateVirtualTable)

  /// The name of what is created, without its schema.
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

/// An identifier and where it stands.
package struct Name: Sendable, Hashable {
  /// Without quotes.
  package let text: String
  /// The bytes it takes, quotes included.
  package let range: Range<Int>

  /// Whether SQLite takes both for one name: it folds ASCII letters only.
  package func isSame(as other: String) -> Bool {
    text.utf8.lazy.map(\.lowercased).elementsEqual(other.utf8.lazy.map(\.lowercased))
  }
}

/// A name that may be qualified: `main.t`.
package struct QualifiedName: Sendable, Hashable {
  package let schema: Name?
  package let name: Name
}

/// Where an SQL expression stands; what it says is left to SQLite.
package struct Expression: Sendable, Hashable {
  /// From the first to the last significant token, without the parentheses that the grammar asks
  /// for around it.
  package let range: Range<Int>
  /// The same with those parentheses; equal to `range` where there are none.
  package let outerRange: Range<Int>

  package var isParenthesized: Bool { range != outerRange }
}

package enum SortOrder: String, Sendable, Hashable {
  case ascending = "ASC"
  case descending = "DESC"
}

/// A term of an index, PRIMARY KEY or UNIQUE.
package struct IndexedTerm: Sendable, Hashable {
  /// The whole term, COLLATE and order included.
  package let range: Range<Int>
  /// The term without its outermost COLLATE and its order.
  package let expression: Expression
  /// The name, when the expression is nothing else. SQLite takes it for a column, and for a string
  /// when the table has no such column.
  package let column: Name?
  package let collation: Name?
  /// Nil when none is stated, which is ascending.
  package let order: SortOrder?
}

package struct CreateIndex: Sendable, Hashable {
  package let schema: Name?
  package let name: Name
  package let isUnique: Bool
  package let ifNotExists: Bool
  package let table: Name
  package let terms: [IndexedTerm]
  /// The condition of a partial index.
  package let condition: Expression?
}

package struct CreateView: Sendable, Hashable {
  package let schema: Name?
  package let name: Name
  package let isTemporary: Bool
  package let ifNotExists: Bool
  package let columns: [Name]
  package let selectRange: Range<Int>
}

package struct CreateTrigger: Sendable, Hashable {
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
  /// `before` when the statement names none, as SQLite has it.
  package let timing: Timing
  package let event: Event
  /// The columns of UPDATE OF.
  package let columns: [Name]
  /// The table or view, which only a temporary trigger may qualify.
  package let table: QualifiedName
  package let isForEachRow: Bool
  package let condition: Expression?
  /// From BEGIN through END.
  package let bodyRange: Range<Int>
  /// Each statement of the body without its `;`.
  package let statements: [Range<Int>]
}

package struct CreateVirtualTable: Sendable, Hashable {
  package let schema: Name?
  package let name: Name
  package let ifNotExists: Bool
  package let module: Name
  /// The text between the commas, from the first to the last significant token; empty ones, which
  /// SQLite does not pass on, are left out.
  package let arguments: [Range<Int>]
}

/// What SQLite's grammar does not allow.
package struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String
  /// The byte of the text at which it shows.
  package let offset: Int

  package var description: String { message }
}
