import SchemaManifest
import SchemaSQLText
import SchemaSQLite

/// How an operation changes a table.
package enum Strategy: String, Sendable, CaseIterable {
  /// SQLite's own statement.
  case native
  /// Values change in place.
  case update
  /// Another text in `sqlite_schema`, after a scan has proven that the rows agree with it.
  case schemaEdit = "schema-edit"
  /// Every row is written into a new table (`Rewrite`).
  case rewrite
  /// SQL of the manifest.
  case sql
  /// Reads only.
  case assertion
}

/// What an operation becomes against a given schema.
package struct OperationPlan: Sendable {
  package let operation: Operation
  package let strategy: Strategy
  /// Why no cheaper strategy does, or why this one may; nil where the strategy itself says it.
  let reason: String?
  package let steps: [Step]
  /// The tables as they must read afterwards, where the plan is more than one native statement.
  package let expectations: [TableExpectation]
  /// What must be in the tables afterwards whose rows the plan rewrites.
  package let proofs: [RowProof]

  package init(
    operation: Operation, strategy: Strategy, because reason: String? = nil, steps: [Step],
    expectations: [TableExpectation] = [], proofs: [RowProof] = []
  ) {
    self.operation = operation
    self.strategy = strategy
    self.reason = reason
    self.steps = steps
    self.expectations = expectations
    self.proofs = proofs
  }
}

/// One step of a plan, in the order in which they run.
package enum Step: Sendable {
  /// A read-only question to the rows, answered before anything is written.
  case scan(Scan)
  /// A condition that must be false.
  case guarding(Guard)
  /// One generated statement.
  case statement(String, SQLSource?)
  /// Rows of a table change in place.
  case update(RowUpdate)
  /// Rows go from one table to another.
  case copy(RowCopy)
  /// Another text for a table in `sqlite_schema`.
  case edit(SchemaEdit)
  /// SQL of the manifest: any number of statements, split by SQLite.
  case script(SQLSource)
  /// Runs on real databases only.
  case assertion(Assertion)
  /// From here on a structural change rewrites rows: no trigger of the user fires and no foreign
  /// key acts; or that is over.
  case rewriting(Bool)

  /// Whether the step leaves the database as it is.
  package var onlyAsks: Bool {
    switch self {
    case .scan, .guarding, .assertion: true
    case .statement, .update, .copy, .script, .edit, .rewriting: false
    }
  }
}

/// Another text for a table, written into `sqlite_schema` (ALTER TABLE, section 8: `PRAGMA
/// writable_schema`).
///
/// SQLite does not check it: a plan that has one has proven that the rows agree with the text.
package struct SchemaEdit: Sendable {
  package let table: String
  package let sql: String
  package let change: Change

  package enum Change: Sendable {
    case text
    /// The table and another one, which holds the same rows as the text stores them, exchange their
    /// b-trees and those of their automatic indexes.
    case exchange(with: String, automaticIndexes: Int)
    /// Another table, with its automatic indexes, gets the name of a table that was dropped.
    case takeName(from: String, automaticIndexes: Int)
  }

  package init(table: String, sql: String, change: Change = .text) {
    self.table = table
    self.sql = sql
    self.change = change
  }

  package var exchangesRows: Bool { if case .exchange = change { true } else { false } }
}

/// An SQL condition that stops the migration when it is true.
package struct Guard: Sendable {
  package let condition: String
  package let message: String
  /// What is asked of tables before anything is written; nil for what is asked of rows that the plan
  /// has made.
  package let promise: Promise?

  package struct Promise: Sendable {
    package let tables: [String]
    /// What is true of them when the condition is false: `items.title holds no NULL`.
    package let sentence: String
  }

  init(condition: String, of tables: String..., promise: String, message: String) {
    self.condition = condition
    self.promise = Promise(tables: tables, sentence: promise)
    self.message = message
  }

  init(condition: String, message: String) {
    self.condition = condition
    promise = nil
    self.message = message
  }
}

/// A question whose answer stops the migration when there is a row.
package struct Scan: Sendable {
  package let table: String
  package let column: String
  /// The rows that stand in the way, as an expression over a row of `table`.
  package let predicate: String
  package let problem: Problem

  /// What is wrong with the values that are found.
  package enum Problem: Sendable {
    /// `map` does not name them.
    case unmapped
    /// A column of another type would store other values.
    ///
    /// - Parameters:
    ///   - column: the column's name and type.
    ///   - key: of the operation, which asks for it.
    case changed(by: String, key: String)
  }

  package init(table: String, column: String, predicate: String, problem: Problem) {
    self.table = table
    self.column = column
    self.predicate = predicate
    self.problem = problem
  }

  /// True when such a row is there.
  package var exists: String {
    "EXISTS (SELECT 1 FROM main.\(Quoting.quoted(table)) WHERE \(predicate))"
  }
}

/// The stored text that a table must have, but for its spelling, once its plan has run.
package struct TableExpectation: Sendable {
  package let table: String
  package let sql: String

  package init(table: String, sql: String) {
    self.table = table
    self.sql = sql
  }
}

/// Why an operation cannot be planned.
package struct PlanningError: Error, Sendable {
  package enum Kind: Sendable {
    /// The manifest must change (65): it does not fit the schema, or asks for what cannot run yet.
    case manifest
    /// The operation fails on this schema (3).
    case failed
  }

  package let kind: Kind
  package let message: String
  /// The operation's key that the message is about.
  package let key: String?
  /// A place inside the operation, where it is known better.
  package let position: Position?
  /// What SQLite said, where it could not be asked at all.
  package let fault: DatabaseError?

  package init(
    _ kind: Kind, _ message: String, key: String? = nil, position: Position? = nil
  ) {
    self.kind = kind
    self.message = message
    self.key = key
    self.position = position
    fault = nil
  }

  init(_ error: DatabaseError) {
    kind = .failed
    message = error.message
    key = nil
    position = nil
    fault = error.isFault ? error : nil
  }
}
