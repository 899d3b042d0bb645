import SchemaDevices
import SchemaHistory
import SchemaSQLText
import SchemaTimeline
import SchemaTrials

/// The place of a suggested part of a manifest, relative to the finding's operation.
package enum FixPlace: String, Sendable {
  case before
  case after
  case instead

  package var instruction: String {
    switch self {
    case .before: "add this before it:"
    case .after: "add this after it:"
    case .instead: "write this instead:"
    }
  }
}

/// A problem that a rule found, with its place and its suppression.
package struct Finding: Sendable, Hashable {
  package let rule: String
  package let severity: Severity
  /// The message in one line, optionally followed by a script that demonstrates the problem.
  package let lines: [String]
  package let file: String
  /// The line and the column, counted from 1.
  package let line: Int
  package let column: Int
  /// The id of the migration; for an error in a query alone, that of the last migration.
  package let migration: String
  /// The name of the query's file for an error in a query alone; nil for another finding.
  var queryFile: String?
  /// `reminders`, `reminders.isCompleted`, or the name of an index.
  package let object: String?
  /// The reason why a suppression or the baseline covers the finding; nil if none does.
  package internal(set) var reason: String?
  package internal(set) var isInBaseline = false
  /// Part of a manifest, or replacement SQL, that has the same effect safely.
  package let fix: String?
  /// The place of `fix` relative to the operation.
  package var fixPlace = FixPlace.instead
  /// The change that `lint --fix` makes in a draft, if a safe one is known.
  var correction: Correction?
  /// Whether the finding concerns only a frozen manifest and has no effect on future changes.
  package var isFrozen = false
  /// The remedy, if `fix` does not show it.
  package var help: String?
  /// The statements of `lines`, grouped by the device that runs them.
  package var transcript: DeviceTranscript?

  package var isSuppressed: Bool { reason != nil }

  /// Describes the change that `lint --fix` makes, in the past tense.
  package var correctionInWords: String { correction?.sentence ?? "" }

  /// Whether `lint --fix` can correct the finding.
  package var isFixable: Bool { correction != nil && !isFrozen }

  package var message: String { lines.joined(separator: "\n") }

  /// The query file or the migration. With the rule and the object, it identifies the finding. It
  /// does not change if migrations are added.
  package var home: String { queryFile ?? migration }
}

package struct LintReport: Sendable {
  package struct Summary: Sendable, Hashable {
    /// The number of errors that are not suppressed. A replay that ended early counts as one.
    package var errors = 0
    package var warnings = 0
    package var notes = 0
    package var suppressed = 0
  }

  package let profile: Profile
  /// The findings, sorted by migration and position.
  package let findings: [Finding]
  /// The failure of the replay. Lint did not check the migrations after it.
  package let failure: Failure?
  /// Whether warnings and notes affect the exit status.
  package let isStrict: Bool
  /// Whether text output includes every finding about frozen migrations.
  package let isVerbose: Bool
  /// The number of queries that lint checked; nil without a folder for queries.
  package let queries: Int?
  /// Further information for the reader.
  package var notes: [String] = []
  /// The findings that `lint --fix` corrected; nil without `--fix`.
  package var fixes: [Finding]?
  /// The effect on the rows of a real database's copy; nil if the user named no database.
  package let data: DataReport?

  /// The failure of the replay, unless a finding reports it.
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

  /// A summary of the findings that concern only frozen manifests, which nobody can change. Nil if
  /// no such finding exists, or if the caller wants every finding.
  package var hiddenSummary: String? {
    let count = findings.count { $0.isFrozen && !$0.isSuppressed }
    return isVerbose || count == 0
      ? nil : "\(counted(count, "finding")) in frozen migrations; see `lint --verbose`"
  }

  package var status: ExitStatus {
    ExitStatus.worst([
      failure?.status ?? .success, data?.failure?.status ?? .success, statusOfFindings,
    ])
  }

  /// The exit status for the findings alone, without a failure of the replay.
  package var statusOfFindings: ExitStatus {
    let counted = findings.contains { finding in
      !finding.isSuppressed && (finding.severity == .error || isStrict && finding.severity != .off)
    }
    return counted ? .finding : .success
  }
}
