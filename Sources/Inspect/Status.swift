import SchemaCopies
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText
import SchemaSQLite

package struct StatusReport: Sendable {
  /// The last migration that the database has run.
  package var current: String?
  package var pending: [String]
  package var applied: [LedgerRow]
  /// The number of rows in `applied` that the ledger does not contain yet, because another tool applied the
  /// migrations.
  package var adoptable = 0
  /// The reason why the schema could not be compared, or why `migrate` refuses to adopt the database.
  package var failure: Failure?
  /// The differences between the database and its history; empty if they were not compared.
  package var drift: [SchemaChange] = []
  package var ledger: [LedgerEntry]
  /// Earlier corrections of the ledger.
  package var repairs: [RecordedRepair] = []
  /// Frozen migrations that were changed or removed.
  package var broken: [HistoryEntry]

  package var status: ExitStatus {
    ExitStatus.worst(
      ledger.map(\.state.status) + (broken.isEmpty ? [] : [.brokenHistory])
        + [failure?.status ?? .success])
  }
}

package struct DiffReport: Sendable {
  package let changes: [SchemaChange]
  package let hasLedger: Bool
  /// The ledger entries that contradict the history.
  package let ledger: [LedgerEntry]

  package var status: ExitStatus {
    ExitStatus.worst(ledger.map(\.state.status) + (changes.isEmpty ? [] : [.finding]))
  }
}

extension Project {
  /// Compares the ledger of a database with the history.
  ///
  /// - Parameters:
  ///   - mayBeEmpty: whether the database may be empty.
  ///   - comparesSchema: whether to look for drift, which requires a replay of the history.
  package func status(
    of database: ReadableDatabase, mayBeEmpty: Bool = true, comparesSchema: Bool = false
  ) throws(Failure) -> StatusReport {
    let compared = try DatabaseComparison(
      database, with: try view(of: database), mayBeEmpty: mayBeEmpty)
    if let failure = compared.failure { throw failure }
    let view = compared.project
    let rows = compared.live.rows ?? []
    var report = StatusReport(
      current: rows.last?.id,
      pending: compared.ledger.filter { $0.state == .pending }.map(\.id), applied: rows,
      adoptable: compared.live.adopted, ledger: compared.ledger,
      broken: view.comparison.filter(\.state.isBroken))
    try failing(on: database.name) {
      report.repairs = try RecordedRepair.all(of: view.ledger, in: database.connection)
    }
    guard comparesSchema, !rows.isEmpty, report.broken.isEmpty, compared.unknown.isEmpty else {
      return report
    }
    do throws(Failure) {
      report.drift = try compared.drift()
      if report.adoptable > 0 {
        try view.requireAdoptable(
          report.drift, through: view.migrations[report.adoptable - 1], path: database.name)
      }
    } catch {
      if error.isEnvironmental { throw error }
      report.failure = error
    }
    return report
  }

  /// Compares a database with the schema that its history promises after the last migration that it has run.
  /// Without a ledger, compares it with the schema of the whole history.
  package func diff(of database: ReadableDatabase) throws(Failure) -> DiffReport {
    let compared = try DatabaseComparison(
      database, with: try view(of: database), mayBeForeign: true)
    if let failure = compared.failure { throw failure }
    guard compared.unknown.isEmpty else {
      throw Failure(
        .databaseAhead,
        "`\(database.name)` has run migrations that the history does not contain: "
          + compared.unknown.map { "`\($0)`" }.joined(separator: ", "))
    }
    try compared.project.requireIntactHistory()
    let hasLedger = compared.live.rows != nil
    return DiffReport(
      changes: try compared.drift(), hasLedger: hasLedger,
      ledger: hasLedger ? compared.ledger.filter(\.state.stops) : [])
  }
}
