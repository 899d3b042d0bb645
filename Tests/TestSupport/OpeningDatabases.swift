import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaPreview
import SchemaReplay
import SchemaSQLText

/// Variants of `Project` methods that open the database file themselves, for tests that name the file.
extension Project {
  package func status(
    database: String, timeout: Double, comparesSchema: Bool = false
  ) throws(Failure) -> StatusReport {
    try status(
      of: ReadableDatabase(file: database, timeout: timeout), comparesSchema: comparesSchema)
  }

  package func diff(database: String, timeout: Double) throws(Failure) -> DiffReport {
    try diff(of: ReadableDatabase(file: database, timeout: timeout))
  }

  package func verify(database: String?, timeout: Double) throws(Failure) -> VerifyReport {
    try verify(
      database.map { (file) throws(Failure) in try ReadableDatabase(file: file, timeout: timeout) })
  }

  @discardableResult
  package func migrate(
    _ options: MigrateOptions, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> MigrateReport {
    try migrate(
      options, reading: reading(options, interruption), interruption: interruption,
      onEvent: onEvent)
  }

  package func rehearse(
    _ options: MigrateOptions, interruption: Interruption = Interruption(),
    onEvent: @escaping (MigrateEvent) -> Void = { _ in }
  ) throws(Failure) -> RehearsalReport {
    try rehearse(
      options, for: reading(options, interruption), interruption: interruption, onEvent: onEvent)
  }

  package func dryRun(_ options: MigrateOptions) throws(Failure) -> DryRunReport {
    try dryRun(options, for: reading(options))
  }

  package func plan(_ options: MigrateOptions, database: String?) throws(Failure) -> PlanReport {
    var options = options
    options.database = database ?? ""
    return try plan(options, for: reading(options))
  }

  package func plan(
    _ repair: LedgerRepair, database: String, timeout: Double
  ) throws(Failure) -> RepairPlan {
    try plan(repair, of: ReadableDatabase(file: database, timeout: timeout))
  }

  package func adopt(
    _ database: String, at point: String?, timeout: Double
  ) throws(Failure) -> AdoptReport {
    try adopt(
      ReadableDatabase(file: database, timeout: timeout), at: point, timeout: timeout)
  }

  private func reading(
    _ options: MigrateOptions, _ interruption: Interruption = Interruption()
  ) throws(Failure) -> ReadableDatabase? {
    if options.database.isEmpty { return nil }
    if options.existing { try DatabaseFile.require(options.database) }
    return try ReadableDatabase(
      ifExists: options.database, timeout: options.timeout, interruption: interruption)
  }
}
