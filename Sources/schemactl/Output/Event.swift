import SchemaApply
import SchemaAuthoring
import SchemaCopies
import SchemaFleet
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaModel
import SchemaPreview
import SchemaReplay

/// An event that a command reports. Reporters make every output format from events alone.
enum Event {
  /// Information that is neither a result nor a problem.
  case note(String)
  /// A probable mistake that does not change the exit status.
  case warning(String)
  case progress(MigrateEvent)
  /// The failure that ended the command. With an exit status below 64 it is the command's result.
  case stopped(Failure, command: String?)

  case migrated(MigrateReport, MigrateOptions)
  case planned(DryRunReport, database: String?, isSQL: Bool)
  /// No plan, where a script was asked for.
  case refusedScript
  /// Result of a run on a copy.
  case tried(RehearsalReport, MigrateOptions)
  /// The status is nil when the history is not available.
  case restored(Restore.Report, Result<StatusReport, Failure>?, database: String)
  case backups([Backups.Entry], database: String)
  case stands(StatusReport, database: String, next: String?)
  case verified(VerifyReport, of: Project, database: String?)
  case checked(CheckReport)
  case compared(DiffReport, database: String)
  /// The differences between two schemas.
  case differs([SchemaChange], from: String, to: String)
  case inspected(Schema, [TableDescription], asSQL: Bool)
  /// The file that holds the current schema.
  case wroteSchema(file: String)
  /// The ledgers are those of other tools that the baseline replaces.
  case initialized([String], AdoptReport?, [UsualLedger], next: String)
  case adopted(AdoptReport, database: String)
  case imported(ImportReport)
  case squashed(Squashing, folder: MigrationFolder)
  case linted(LintReport)
  /// A new manifest was written.
  case created(id: String, file: String)
  case wroteBaseline(file: String, findings: Int)
  case explained(rule: String, String)
  /// Lint reported errors, so nothing was frozen.
  case refused(LintReport)
  case frozen(FreezeReport, release: String?, file: String)
  case accepted(id: String, reason: String, file: String)
  /// Generated Swift source, and whether the checked file differs from it.
  case generated(String, file: String?, isStale: Bool)
  case bundled(BundleReport, file: String)
  case renumbered([Renaming], isRehearsal: Bool)
  /// Reported before the repair as a proposal, and after it as a result.
  case repair(RepairPlan, isDone: Bool)
  case fleet(FleetEvent)
}

/// Formats events as output.
protocol Reporter {
  func report(_ event: Event)
}
