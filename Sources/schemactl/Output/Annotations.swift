import SchemaApply
import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText

/// A finding or a failure with its place. Text reports, code review tools and editors all use this form.
struct Annotation {
  /// The reason why an annotation is suppressed. The kind is `inSource` for the manifest, a comment or the
  /// baseline, and `external` for an acceptance in history.lock.
  struct Suppression {
    let kind: String
    let reason: String
    var isInBaseline = false
  }

  /// The rule of a message about the command itself.
  static let ofCommand = "schemactl"

  /// A lint rule such as `drop-column`, or a group and a problem, such as `history/edited`.
  var rule = ofCommand
  var level = Severity.error
  /// The message, followed by its detail lines.
  let lines: [String]
  /// A sentence of advice, followed by lines to copy; may be empty.
  var help: [String] = []
  var place: Failure.Place?
  var suppression: Suppression?
  /// Whether the annotation concerns only a frozen manifest.
  var isFrozen = false

  /// The message with its detail and help lines.
  var allLines: [String] {
    lines + (help.first.map { ["help: \($0)"] } ?? []) + help.dropFirst()
  }

  var message: String { allLines.joined(separator: "\n") }
}

/// The annotations of a command's result.
struct Annotations {
  private(set) var found: [Annotation] = []
  /// The changes of `lint --fix`.
  private(set) var fixes: [String] = []
  /// Checks that could not run, with the reasons, and differences that need no action.
  private(set) var notes: [String] = []
  private(set) var status = ExitStatus.success
  /// The summary of hidden findings about frozen manifests; nil if all findings are shown.
  private(set) var hidden: String?

  /// The annotations that need action.
  var shown: [Annotation] {
    found.filter { $0.suppression == nil && (hidden == nil || !$0.isFrozen) }
  }

  init(_ failure: Failure) { add(failure) }

  init(_ report: LintReport) { add(report) }

  init(_ report: VerifyReport, of project: Project) { add(report, of: project) }

  init(_ report: CheckReport) {
    if let history = report.history, let project = report.project { add(history, of: project) }
    if let failure = report.replay?.failure { add(failure) }
    if let lint = report.lint { add(lint) }
    for (_, failure) in report.problems { add(failure) }
    if let schema = report.outdatedSchema { found += schema.annotations(rule: "schema/stale") }
    status = report.status
  }

  // MARK: Reports

  private mutating func add(_ report: LintReport) {
    found += report.findings.map(\.annotation)
    hidden = report.hiddenSummary
    if let failure = report.unfoundFailure { add(failure) }
    fixes = (report.fixes ?? []).map {
      "\($0.file):\($0.line):\($0.column): fixed: \($0.correctionInWords) [\($0.rule)]"
    }
    notes += report.notes
    status = ExitStatus.worst([status, report.status])
  }

  private mutating func add(_ report: VerifyReport, of project: Project) {
    found += report.lock.map {
      Annotation(
        rule: "history/lock", lines: [$0.message],
        place: Failure.Place(file: project.folder.lockFile))
    }
    for entry in report.history where !entry.detail.isEmpty {
      add(entry, report.edits[entry.id], of: project)
    }
    for entry in report.ledger ?? [] where !entry.detail.isEmpty {
      let line = "`\(entry.id)`: \(entry.detail)"
      if entry.state.stops {
        found.append(Annotation(rule: "ledger/\(entry.state.rawValue)", lines: [line]))
      } else {
        notes.append(line)
      }
    }
    found += (report.drift ?? []).map {
      Annotation(rule: "database/drift", lines: [$0.sentence])
    }
    if let failure = report.failure { add(failure) }
    notes += report.notes
    status = ExitStatus.worst([status, report.status])
  }

  private mutating func add(_ entry: HistoryEntry, _ edit: ManifestDiff?, of project: Project) {
    let line = "`\(entry.id)`: \(entry.detail)"
    var place = Failure.Place(file: project.file(ofMigration: entry.id))
    var acceptance: LockAcceptance?
    switch entry.state {
    case .unchanged, .draft, .cosmetic: return notes.append(line)
    case .removed, .renamed:
      if let line = project.lock?.line(freezing: entry.id) {
        place = Failure.Place(
          file: project.folder.lockFile, position: Position(line: line, column: 1))
      }
    case .accepted: acceptance = project.lock?.entry(entry.id)?.acceptances.last
    case .edited, .inserted, .engineDiffers: break
    }
    // An accepted edit becomes a suppressed annotation.
    let state = entry.state == .accepted ? HistoryState.edited : entry.state
    found.append(
      Annotation(
        rule: "history/\(state.rawValue)", lines: [line] + (edit?.lines ?? []), place: place,
        suppression: acceptance.map { .init(kind: "external", reason: $0.reason) }))
  }

  // MARK: Failures

  /// Adds a failure once: several checks replay the history, and each reports the same failure.
  private mutating func add(_ failure: Failure) {
    status = ExitStatus.worst([status, failure.status])
    for annotation in failure.annotations()
    where !found.contains(where: {
      $0.message == annotation.message && $0.place == annotation.place
    }) {
      found.append(annotation)
    }
  }
}

extension Failure {
  /// Returns the problems, each with its place and advice.
  func annotations(rule: String? = nil) -> [Annotation] {
    let rule = rule ?? self.rule
    guard diagnostics.isEmpty else {
      return diagnostics.map {
        Annotation(
          rule: rule, lines: [$0.statement], help: $0.help.map { [$0] } ?? [],
          place: Failure.Place(file: $0.file, position: $0.position))
      }
    }
    return [
      Annotation(
        rule: rule, lines: statement + (migration?.lines ?? []), help: remedy.map { [$0] } ?? [],
        place: place)
    ]
  }

  private var rule: String {
    switch status {
    case .migrationFailed: "replay/failed"
    case .brokenHistory: "history/lock"
    case .databaseAhead: "ledger/unknown"
    case .finding: "database/not-ours"
    case .invalidInput where place?.file.hasSuffix("schemactl.yaml") == true:
      "configuration/invalid"
    case .invalidInput where place != nil: "manifest/invalid"
    default: Annotation.ofCommand
    }
  }
}

extension Failure.FailedMigration {
  fileprivate var lines: [String] {
    [inWords] + (statement.map { ["statement: \($0.shortened(to: 200))"] } ?? [])
  }
}

extension Finding {
  var annotation: Annotation {
    Annotation(
      rule: rule, level: severity, lines: lines,
      help: fix.map { [fixPlace.instruction] + $0.lines } ?? help.map { [$0] } ?? [],
      place: Failure.Place(file: file, position: Position(line: line, column: column)),
      suppression: reason.map {
        .init(kind: "inSource", reason: $0, isInBaseline: isInBaseline)
      },
      isFrozen: isFrozen)
  }
}
