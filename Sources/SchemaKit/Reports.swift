import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaModel
import SchemaSQLText

/// The result of a migration run.
public struct MigrationReport: Sendable, Hashable {
  /// One migration that was applied and committed.
  public struct Applied: Sendable, Hashable {
    /// The migration's id: its file's name without `.yaml`.
    public let id: String
    /// The duration.
    public let milliseconds: Int64
  }

  /// The applied migrations, in order; empty if no migration was pending.
  public let applied: [Applied]
  /// The ids of migrations that another tool, such as GRDB, had applied, and that this run adopted.
  public let adopted: [String]
  /// Whether the run created the file.
  public let createdDatabase: Bool
  /// The path of the requested backup; nil if no migration was pending, or the database was missing.
  public let backup: String?
  /// The differences between the database and its history that no migration made.
  public let drift: [SchemaDifference]

  init(_ report: MigrateReport) {
    applied = report.applied.map { Applied(id: $0.id, milliseconds: $0.milliseconds) }
    adopted = report.adopted
    createdDatabase = report.created
    backup = report.backup
    drift = report.drift.map(SchemaDifference.init)
  }
}

/// The migrations that a database has run and has not run.
public struct DatabaseStatus: Sendable, Hashable {
  /// The last migration that the database has run; nil if it has run none.
  public let current: String?
  /// The ids of the applied migrations, in order.
  public let applied: [String]
  /// The ids of the pending migrations, in order.
  public let pending: [String]

  init(_ report: StatusReport) {
    current = report.current
    applied = report.applied.map(\.id)
    pending = report.pending
  }
}

/// The result of `SchemaMigrator.verify(databaseAt:)`.
public struct VerificationReport: Sendable, Hashable {
  /// A problem with one migration.
  public struct Problem: Sendable, Hashable {
    /// The migration's id.
    public let id: String
    /// `edited`, `removed`, `missing`, `unknown` and so on.
    public let state: String
    /// The problem and the next action.
    public let detail: String
  }

  /// Whether `verify` found no problem.
  public let isIntact: Bool
  /// Changed released manifests, then ledger entries that contradict the history.
  public let problems: [Problem]
  /// The differences between the database and the schema that its history promises.
  public let drift: [SchemaDifference]
  /// The skipped checks, with the reasons.
  public let notes: [String]

  init(checking report: VerifyReport) throws(Failure) {
    if let failure = report.failure { throw failure }
    isIntact = report.status == .success
    problems =
      report.history.filter { $0.state.isBroken || $0.state == .engineDiffers }
      .map { Problem(id: $0.id, state: $0.state.rawValue, detail: $0.detail) }
      + (report.ledger ?? []).filter(\.state.stops)
      .map { Problem(id: $0.id, state: $0.state.rawValue, detail: $0.problem) }
    drift = (report.drift ?? []).map(SchemaDifference.init)
    notes = report.notes
  }
}

/// A difference between a database and the schema that its history promises.
public struct SchemaDifference: Sendable, Hashable, CustomStringConvertible {
  /// `table`, `column`, `constraint`, `index`, `view`, `trigger`, `column-order` or `spelling`.
  public let kind: String
  /// `reminders`, `reminders.status`, or the name of an index, a view or a trigger.
  public let object: String
  /// `missing`, `unexpected` or `changed`.
  public let change: String
  /// The definition that the history promises.
  public let expected: String?
  /// The definition in the database.
  public let actual: String?
  /// For a person: `column reminders.status is missing`.
  public let description: String

  init(_ change: SchemaChange) {
    kind = change.kind.rawValue
    object = change.object
    self.change = change.change.rawValue
    expected = change.expected
    actual = change.actual
    description = change.sentence
  }
}
