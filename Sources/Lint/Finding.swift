import SchemaDevices
import SchemaHistory
import SchemaSQLText
import SchemaTimeline
import SchemaTrials

/// A finding, its place, and whether it is suppressed.
package struct Finding: Sendable, Hashable {
  package let rule: String
  package let severity: Severity
  /// What happens to whom, in one line, and then a script that shows it, where there is one.
  package let lines: [String]
  package let file: String
  /// Counted from 1.
  package let line: Int
  package let column: Int
  /// The id of the migration; of the last migration for an error of a query alone.
  package let migration: String
  /// The name of the file of such a query.
  var queryFile: String?
  /// `reminders`, `reminders.isCompleted`, or the name of an index.
  package let object: String?
  /// The manifest allows the finding, or a baseline knows it.
  package let isSuppressed: Bool
  /// Why it does.
  package let reason: String?
  /// A part of a manifest, or SQL in place of SQL, that does the same safely.
  package let fix: String?
  /// What `lint --fix` does about it in a draft, where that is certain.
  var correction: Correction?
  /// It concerns only a frozen manifest, and nothing that happens from now on.
  package var isFrozen = false
  /// What to do, where `fix` does not show it.
  package var help: String?
  /// The statements of `lines`, by the device that runs them.
  package var transcript: DeviceTranscript?

  /// Whether `lint --fix` changes the manifest.
  package var isFixable: Bool { correction != nil && !isFrozen }

  func suppressed(because reason: String) -> Finding {
    Finding(
      rule: rule, severity: severity, lines: lines, file: file, line: line, column: column,
      migration: migration, queryFile: queryFile, object: object, isSuppressed: true,
      reason: reason, fix: fix, isFrozen: isFrozen, transcript: transcript)
  }

  package var message: String { lines.joined(separator: "\n") }

  /// Identifies the finding together with its rule and its object, also when other migrations are added.
  package var home: String { queryFile ?? migration }
}

package struct LintReport: Sendable {
  package struct Summary: Sendable, Hashable {
    /// Findings that are not suppressed, by severity.
    /// A replay that ended early is one, too.
    package var errors = 0
    package var warnings = 0
    package var notes = 0
    package var suppressed = 0
  }

  package let profile: Profile
  /// In the order of the history, then by position.
  package let findings: [Finding]
  /// The migration that cannot be replayed; nothing after it was looked at.
  package let failure: Failure?
  /// Warnings and notes count, too.
  package let isStrict: Bool
  /// A person sees every finding about frozen migrations.
  package let isVerbose: Bool
  /// How many of the application's queries were judged; nil without a folder for them.
  package let queries: Int?
  /// What else there is to know, for a person.
  package var notes: [String] = []
  /// What was changed before; nil when nothing was to be.
  package var fixes: [Fix]?
  /// What became of the rows of a real database; nil when none was named.
  package let data: DataReport?

  /// What ended a replay and is no finding.
  package var unfoundFailure: Failure? {
    failure ?? (data?.failure?.status == .migrationFailed ? nil : data?.failure)
  }

  package var summary: Summary {
    var summary = Summary()
    if unfoundFailure != nil { summary.errors += 1 }
    for finding in findings {
      switch finding.severity {
      case _ where finding.isSuppressed: summary.suppressed += 1
      case .error: summary.errors += 1
      case .warning: summary.warnings += 1
      case .note: summary.notes += 1
      case .off: break
      }
    }
    return summary
  }

  package var status: ExitStatus {
    ExitStatus.worst([
      failure?.status ?? .success, data?.failure?.status ?? .success, statusOfFindings,
    ])
  }

  /// Whatever ended the replay.
  package var statusOfFindings: ExitStatus {
    let counted = findings.contains { finding in
      !finding.isSuppressed && (finding.severity == .error || isStrict && finding.severity != .off)
    }
    return counted ? .finding : .success
  }
}
