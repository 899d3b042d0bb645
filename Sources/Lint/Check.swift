import SchemaApply
import SchemaGit
import SchemaHistory
import SchemaInspect
import SchemaReplay
import SchemaSQLText

/// The results of a check of a whole project, one for each part. A part that fails does not prevent
/// the other parts from running.
package struct CheckReport {
  package enum Part: String, CaseIterable, Sendable {
    case manifests, history, replay, lint, schema, report
  }

  /// The project; nil if the manifests or the lock cannot be read. Then no other part can run.
  package private(set) var project: Project?
  package private(set) var history: VerifyReport?
  package private(set) var replay: PendingReplay?
  package private(set) var lint: LintReport?
  /// Whether the schema file is current; nil without a file, or if the comparison failed or did not
  /// run.
  package private(set) var isSchemaCurrent: Bool?
  /// The failures that ended a part early, without duplicates.
  package private(set) var problems: [(part: Part, failure: Failure)] = []
  package let schemaFile: SchemaFile?

  /// Checks a project.
  ///
  /// - Parameters:
  ///   - base: a revision; the lock of its merge base with HEAD is compared, too.
  ///   - schemaFile: a file to compare with the latest schema.
  ///   - read: reads the history, without asking git.
  ///   - judge: lints it.
  package init(
    base: String?, schemaFile: SchemaFile?, interruption: Interruption,
    reading read: () throws -> Project, linting judge: (Project) throws -> LintReport
  ) {
    self.schemaFile = schemaFile
    project = attempt(.manifests, read)
    guard let project else { return }
    let compared = attempt(.history) { try project.verifyHistory(base: base) }
    var history = compared?.0 ?? VerifyReport(comparing: project)
    replay = attempt(.replay) {
      try project.replay(noting: &history.history, evaluatesAssertions: true, interruption)
    }
    if let replay, replay.failure == nil {
      attempt(.replay) { try project.requireSameSchema(fromEachRelease: replay, interruption) }
    }
    attempt(.history) {
      try project.verifySquashed(into: &history, interruption)
      try project.showEdits(in: &history, compared?.1)
      if let failure = history.failure { throw failure }
    }
    self.history = history
    lint = attempt(.lint) { try judge(project) }
    if let replay, replay.failure == nil, let schemaFile {
      isSchemaCurrent = attempt(.schema) { try schemaFile.newContent(for: project) == nil }
    }
  }

  package var notes: [String] { (history?.notes ?? []) + (lint?.notes ?? []) }

  /// The failure that ended the full replay or, if that succeeded, lint's own replay.
  package var failure: Failure? { replay?.failure ?? lint?.failure }

  /// The failure for an outdated schema file.
  package var outdatedSchema: Failure? { isSchemaCurrent == false ? schemaFile?.outdated : nil }

  package var status: ExitStatus { ExitStatus.worst(Part.allCases.map(status)) }

  package func status(of part: Part) -> ExitStatus {
    let found: ExitStatus? =
      switch part {
      case .manifests, .report: nil
      case .history: history?.status
      case .replay: replay?.failure?.status
      // A failing migration is a result of the replay. Lint stops at the same migration.
      case .lint: replay?.failure == nil ? lint?.status : lint?.statusOfFindings
      case .schema: outdatedSchema?.status
      }
    let problems = problems.filter { $0.part == part }.map(\.failure.status)
    return ExitStatus.worst(problems + [found ?? .success])
  }

  /// Runs a part, and records under its name a failure that ends it.
  @discardableResult
  package mutating func attempt<Result>(
    _ part: Part, _ body: () throws -> Result
  ) -> Result? {
    do {
      return try body()
    } catch {
      let failure = Failure(of: error)
      // A manifest that requires another version of SQLite ends three parts with the same failure.
      if !problems.contains(where: { $0.failure.message == failure.message }) {
        problems.append((part, failure))
      }
      return nil
    }
  }
}
