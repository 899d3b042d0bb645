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
  /// A read-only question to the rows; a yes stops the migration.
  case question(Question)
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
    case .question, .assertion: true
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

/// A question in SQL to the rows. The migration stops when the answer is yes.
package struct Question: Sendable {
  /// The tables that it reads; empty if it asks rows that the plan has written.
  package let tables: [String]
  package let condition: String
  /// What is true when the answer is no: `items.title holds no NULL`. Nil where it is asked of rows that the
  /// plan has made.
  package let promise: String?
  /// What is true when the answer is yes.
  package let message: String
  /// The values that prevent the operation, if the question asks for values.
  package let scan: Scan?
  /// The rows that prevent it, if they can be named.
  package let rows: RowQuery?

  /// Whether a condition is true.
  init(condition: String, of tables: String..., promise: String? = nil, message: String) {
    self.tables = tables
    self.condition = condition
    self.promise = promise
    self.message = message
    scan = nil
    rows = nil
  }

  /// Whether there are such rows.
  package init(_ rows: RowQuery, of tables: String..., promise: String, message: String) {
    self.tables = tables
    condition = rows.exists
    self.promise = promise
    self.message = message
    scan = nil
    self.rows = rows
  }

  init(_ scan: Scan) {
    let column = "\(scan.table).\(scan.column)"
    tables = [scan.table]
    condition = "EXISTS (SELECT 1 FROM main.\(Quoting.quoted(scan.table)) WHERE \(scan.predicate))"
    promise =
      switch scan.problem {
      case .unmapped: "`map` names every value of \(column)"
      case .refused(let other, _): "\(other) accepts every value of \(column)"
      case .changed(let other, _): "every value of \(column) stays the same in \(other)"
      }
    message = "\(column) holds a value that \(scan.problem.clause)"
    self.scan = scan
    rows = nil
  }
}

/// Values of a column that prevent an operation.
package struct Scan: Sendable {
  package let table: String
  package let column: String
  /// The rows that hold them, as an expression over a row of `table`.
  package let predicate: String
  package let problem: Problem

  package enum Problem: Sendable {
    /// `map` does not name them.
    case unmapped
    /// A column of a STRICT table would not accept them.
    ///
    /// - Parameters:
    ///   - column: the column's name and type.
    ///   - key: of the operation, which asks for it.
    case refused(by: String, key: String)
    /// A column of another type would store other values.
    case changed(by: String, key: String)

    /// The operation's key that is to blame.
    package var key: String {
      switch self {
      case .unmapped: "map"
      case .refused(_, let key), .changed(_, let key): key
      }
    }

    /// After "a value that".
    package var clause: String {
      switch self {
      case .unmapped: "`map` does not name"
      case .refused(let other, _): "\(other) of a STRICT table does not accept"
      case .changed(let other, _): "\(other) would store as another value"
      }
    }
  }
}

/// The stored text that a table must have, but for its spelling, once its plan has run.
package struct TableExpectation: Sendable {
  package let table: String
  package let sql: String
}

/// Why an operation cannot be planned. An error of SQLite is thrown as it is.
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

  package init(
    _ kind: Kind, _ message: String, key: String? = nil, position: Position? = nil
  ) {
    self.kind = kind
    self.message = message
    self.key = key
    self.position = position
  }
}
