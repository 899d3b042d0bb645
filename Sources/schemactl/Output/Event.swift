import SchemaApply
import SchemaAuthoring
import SchemaCopies
import SchemaFleet
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaModel
import SchemaReplay

/// What a command has to say. Every output format is made from these, and from nothing else.
enum Event {
  /// Something to know that is neither a result nor wrong.
  case note(String)
  /// Something that is probably not what was meant, and that does not change the exit status.
  case warning(String)
  case progress(MigrateEvent)
  /// What ended the command, from 64 up in place of its result.
  case stopped(Problem)

  case migrated(MigrateReport, MigrateOptions)
  case planned(DryRunReport, PlanView)
  /// On a copy.
  case tried(RehearsalReport, MigrateOptions)
  /// Nil when the history is not at hand.
  case restored(Restore.Report, Result<StatusReport, Failure>?, database: String)
  case backups([Backups.Entry], database: String)
  case stands(StatusReport, database: String, next: String? = nil)
  case verified(VerifyReport, of: Project, database: String?)
  case checked(CheckReport)
  case compared(DiffReport, database: String)
  /// How the second of two schemas differs from the first.
  case differs([SchemaChange], from: String, to: String)
  case inspected(Schema, [TableDescription], asSQL: Bool)
  /// The file of the current schema.
  case wroteSchema(file: String)
  case initialized([String], AdoptReport?, next: String)
  case adopted(AdoptReport, database: String)
  case imported(ImportReport)
  case squashed(Squashing, folder: MigrationFolder)
  case linted(LintReport)
  /// A new manifest.
  case created(id: String, file: String)
  case wroteBaseline(file: String, findings: Int)
  case explained(rule: String, String)
  /// Lint has found errors, so nothing was frozen.
  case refused(LintReport)
  case frozen(FreezeReport, release: String?, file: String)
  case accepted(id: String, reason: String, file: String)
  /// Swift source, and whether the file that was to be checked holds something else.
  case generated(String, file: String?, isStale: Bool)
  case bundled(BundleReport, file: String)
  case renumbered([Renaming], isRehearsal: Bool)
  /// Shown before it is carried out, and again when it is.
  case repair(RepairPlan, isDone: Bool)
  case fleet(FleetEvent)
  /// A failure below 64, which is a command's result: the reason why it has no other.
  case failed(command: String, Failure)
}

/// Turns events into output.
protocol Reporter {
  func report(_ event: Event)
}
