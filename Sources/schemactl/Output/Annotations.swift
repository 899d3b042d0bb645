import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaManifest
import SchemaModel
import SchemaReplay
import SchemaSQLText

/// A finding or failure with its place, in the form that code review tools and editors read.
struct Annotation {
  /// Why an annotation is suppressed: by the manifest, a comment or the baseline (`inSource`), or by
  /// an acceptance in history.lock (`external`).
  struct Suppression {
    let kind: String
    let reason: String
  }

  /// The rule of a message about the command itself.
  static let ofCommand = "schemactl"

  /// A lint rule such as `drop-column`, or a group and a problem: `history/edited`.
  var rule = ofCommand
  var level = Severity.error
  /// The message, followed by its detail lines.
  let lines: [String]
  var place: Failure.Place?
  /// Identifies the annotation independently of line numbers.
  var subject: [String] = []
  var suppression: Suppression?
  /// Whether the annotation concerns only a frozen manifest.
  var isFrozen = false

  var message: String { lines.joined(separator: "\n") }
}

/// The annotations of a command's result.
struct Annotations {
  private(set) var found: [Annotation] = []
  /// Failures of the command itself, as opposed to problems in the files that it checks.
  private(set) var problems: [Failure] = []
  /// Checks that could not run, with their reasons.
  private(set) var notes: [String] = []
  private(set) var status = ExitStatus.success
  /// Summarises findings about frozen manifests when they are not all shown.
  private(set) var hidden: String?

  init(_ failure: Failure) { add(failure) }

  init(_ report: LintReport) { add(report) }

  init(_ report: VerifyReport, of project: Project) { add(report, of: project) }

  init(_ report: CheckReport) {
    if let history = report.history, let project = report.project { add(history, of: project) }
    if let proof = report.proof { add(proof) }
    if let lint = report.lint { add(lint) }
    for (_, failure) in report.problems { add(failure) }
    if let schema = report.staleSchema {
      found.append(
        Annotation(
          rule: "schema/stale", lines: schema.lines, place: schema.place,
          subject: [schema.place?.file ?? ""]))
    }
    status = report.status
  }

  // MARK: Reports

  private mutating func add(_ report: LintReport) {
    found += report.findings.map(\.annotation)
    if let summary = report.hiddenSummary { hidden = summary }
    if let failure = report.unfoundFailure { add(failure) }
    notes += (report.fixes ?? []).map { "\($0.file):\($0.line): fixed: \($0.message) [\($0.rule)]" }
    notes += report.notes
    status = ExitStatus.worst([status, report.status])
  }

  private mutating func add(_ report: VerifyReport, of project: Project) {
    found += report.lock.map { difference in
      Annotation(
        rule: "history/lock", lines: [difference.message],
        place: Failure.Place(file: project.folder.lockFile),
        subject: [difference.kind.rawValue, difference.older])
    }
    found += report.history.compactMap { annotation($0, report.edits[$0.id], of: project) }
    found += (report.ledger ?? []).filter(\.state.stops).map { entry in
      Annotation(
        rule: "ledger/\(entry.state.rawValue)", lines: ["\(entry.id): \(entry.detail)"],
        subject: [entry.id])
    }
    found += (report.drift ?? []).map { change in
      Annotation(
        rule: "database/drift", lines: [change.sentence],
        subject: [change.kind.rawValue, change.object])
    }
    notes += report.notes
    if let failure = report.failure { add(failure) }
    status = ExitStatus.worst([status, report.status])
  }

  private mutating func add(_ proof: ReplayProof) {
    if let failure = proof.failure { add(failure) }
    found += proof.paths.filter { !$0.isProven }.map { path in
      Annotation(
        rule: path.failure == nil ? "replay/differs" : "replay/failed", lines: [path.inWords],
        place: path.failure?.place, subject: [path.from.inWords, path.through.inWords])
    }
  }

  private func annotation(
    _ entry: HistoryEntry, _ edit: ManifestDiff?, of project: Project
  ) -> Annotation? {
    var place = Failure.Place(file: project.folder.file(ofMigration: entry.id))
    switch entry.state {
    case .unchanged, .draft, .cosmetic, .lineEnds: return nil
    case .removed, .renamed, .reordered:
      if let line = project.lock?.line(freezing: entry.id) {
        place = Failure.Place(
          file: project.folder.lockFile, position: Position(line: line, column: 1))
      }
    case .edited, .accepted, .inserted, .engineDiffers: break
    }
    // An accepted edit becomes a suppressed annotation.
    let acceptance =
      entry.state == .accepted ? project.lock?.entry(entry.id)?.acceptances.last : nil
    let state = entry.state == .accepted ? HistoryState.edited : entry.state
    return Annotation(
      rule: "history/\(state.rawValue)",
      lines: ["\(entry.id): \(entry.detail)"] + (edit?.lines ?? []),
      place: place, subject: [entry.id],
      suppression: acceptance.map { .init(kind: "external", reason: $0.reason) })
  }

  // MARK: Problems

  private mutating func add(_ failure: Failure) {
    status = ExitStatus.worst([status, failure.status])
    let annotations = failure.annotations
    if annotations.isEmpty {
      if !problems.contains(where: { $0.message == failure.message }) { problems.append(failure) }
      return
    }
    // Several checks replay the history, and each reports the same failure.
    for annotation in annotations
    where !found.contains(where: {
      $0.message == annotation.message && $0.place == annotation.place
    }) {
      found.append(annotation)
    }
  }
}

extension Failure {
  /// The annotations for a problem in a file of the project; empty for other problems.
  fileprivate var annotations: [Annotation] {
    if !diagnostics.isEmpty { return diagnostics.map { annotation([$0.message], $0.place) } }
    return isResult || status == .invalidInput && place != nil ? [annotation(lines, place)] : []
  }

  private func annotation(_ lines: [String], _ place: Failure.Place?) -> Annotation {
    // Leave out digits, because messages contain line numbers, which change.
    let text = String(lines.joined(separator: "\n").filter { !$0.isNumber })
    var lines = lines
    if let operation = migration?.operation {
      lines[lines.count - 1] += " (in operation \(operation))"
    }
    let rule =
      switch status {
      case .migrationFailed: "replay/failed"
      case .brokenHistory: "history/lock"
      case .databaseAhead: "ledger/unknown"
      case .finding: "database/not-ours"
      default:
        place?.file.hasSuffix("schemactl.yaml") == true
          ? "configuration/invalid" : "manifest/invalid"
      }
    return Annotation(
      rule: rule, lines: lines, place: place, subject: [migration?.id ?? place?.file ?? "", text])
  }
}

extension Finding {
  fileprivate var annotation: Annotation {
    Annotation(
      rule: rule, level: severity,
      lines: lines + (fix.map { ["help: \(fixPlace.instruction)"] + $0.lines } ?? []),
      place: place, subject: [home, object ?? ""],
      suppression: isSuppressed ? .init(kind: "inSource", reason: reason ?? "") : nil,
      isFrozen: isFrozen)
  }
}
