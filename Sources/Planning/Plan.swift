import SchemaManifest
import SchemaModel
import SchemaSQLText

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
  /// The columns whose values the operation drops without naming them.
  var droppedColumns: [String] = []

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

extension OperationPlan {
  /// What it asks the rows before anything is written.
  package var questions: [Question] {
    steps.prefix(while: \.onlyAsks).compactMap { step in
      if case .question(let question) = step { question } else { nil }
    }
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

/// Names as SQL.
func list(_ names: [String]) -> String {
  names.map { Quoting.identifier($0) }.joined(separator: ", ")
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

  init(
    _ message: String, kind: Kind = .manifest, key: String? = nil, position: Position? = nil
  ) {
    self.kind = kind
    self.message = message
    self.key = key
    self.position = position
  }
}
