import SchemaManifest
import SchemaSQLText

/// The way in which an operation changes a table.
package enum Strategy: String, Sendable, CaseIterable {
  /// One of SQLite's own statements.
  case native
  /// An UPDATE of the rows in place.
  case update
  /// An edit of the SQL in `sqlite_schema`, after a scan has proven that the rows agree with the new SQL.
  case schemaEdit = "schema-edit"
  /// A copy of every row into a new table (`Rewrite`).
  case rewrite
  /// SQL of the manifest.
  case sql
  /// A query of an assertion, which writes nothing.
  case assertion
}

/// The steps that an operation becomes for a given schema.
package struct OperationPlan: Sendable {
  package let operation: Operation
  package let strategy: Strategy
  /// The reason why no cheaper strategy is possible. Nil if the strategy explains itself.
  let reason: String?
  package let steps: [Step]
  /// The expected SQL of tables after the plan, if the plan is more than one native statement.
  package let expectations: [TableExpectation]
  /// The properties that must be true afterwards of the tables whose rows the plan writes.
  package let proofs: [RowProof]
  /// The columns whose values the operation drops although it does not name them.
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
  /// The questions of the plan. They are about the rows before it writes anything.
  package var questions: [Question] {
    steps.compactMap { step in
      if case .question(let question) = step { question } else { nil }
    }
  }
}

/// One step of a plan. Steps run in their order.
package enum Step: Sendable {
  /// A read-only question about rows. The answer yes stops the migration.
  case question(Question)
  /// One generated statement, and the SQL of the manifest that it contains, if any.
  case statement(String, SQLSource?)
  /// An UPDATE of rows in place.
  case update(RowUpdate)
  /// A copy of the rows of one table to another.
  case copy(RowCopy)
  /// An edit of a table's SQL in `sqlite_schema`.
  case edit(SchemaEdit)
  /// SQL of the manifest: any number of statements, which SQLite splits.
  case script(SQLSource)
  /// An assertion. A scratch database only compiles it.
  case assertion(Assertion)
  /// The beginning (true) or the end (false) of a rewrite of rows. Within it no trigger of the user fires and
  /// no foreign key acts.
  case rewriting(Bool)

  /// Whether the step leaves the database unchanged.
  package var readsOnly: Bool {
    switch self {
    case .question, .assertion: true
    case .statement, .update, .copy, .script, .edit, .rewriting: false
    }
  }
}

/// Names as a list in SQL, quoted where necessary.
func list(_ names: [String]) -> String {
  names.map { Quoting.identifier($0) }.joined(separator: ", ")
}

/// The SQL of a table that its plan must produce, apart from its spelling.
package struct TableExpectation: Sendable {
  package let table: String
  package let sql: String
}

/// The reason why an operation cannot be planned. Errors of SQLite are thrown unchanged.
package struct PlanningError: Error, Sendable {
  package enum Kind: Sendable {
    /// The manifest must change (65): it does not fit the schema, or requires something that cannot run.
    case manifest
    /// The operation fails on this schema (3).
    case failed
  }

  package let kind: Kind
  package let message: String
  /// The operation's key that caused the error.
  package let key: String?
  /// A more precise position inside the operation, if it is known.
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
