import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaReplay
import SchemaSQLText

/// The results of `check`, one for each part. A part that fails does not prevent the other parts
/// from running.
struct CheckReport {
  enum Part: String, CaseIterable {
    case manifests, history, replay, lint, schema
  }

  /// The configured schema file, which holds the current schema as SQL.
  struct SchemaFile {
    let file: String
    let isCurrent: Bool
  }

  /// Nil when the manifests or the lock cannot be read. No other part can run then.
  var project: Project?
  var history: VerifyReport?
  var proof: ReplayProof?
  var lint: LintReport?
  /// Also nil when the configuration names no schema file.
  var schema: SchemaFile?
  /// The failures that ended a part early, without duplicates.
  private(set) var problems: [(part: Part, failure: Failure)] = []

  var notes: [String] { (history?.notes ?? []) + (lint?.notes ?? []) }

  /// The failure that ended the full replay or, if there is none, lint's own replay.
  var failure: Failure? { proof?.failure ?? lint?.failure }

  /// Whether the full replay and lint's replay failed at the same migration.
  var isSameFailure: Bool {
    guard let replayed = proof?.failure, let linted = lint?.failure else { return false }
    return replayed.message == linted.message && replayed.place == linted.place
  }

  /// Why the lock cannot be read, if the reason is that the frozen history is broken.
  var brokenLock: Failure? {
    problems.lazy.map(\.failure).first { $0.status == .brokenHistory }
  }

  var status: ExitStatus { ExitStatus.worst(Part.allCases.map(status)) }

  func status(of part: Part) -> ExitStatus {
    let found: ExitStatus? =
      switch part {
      case .manifests: nil
      case .history: history?.status
      case .replay: proof?.status
      // A failing migration is a result of the replay. Lint stops at the same migration.
      case .lint: isSameFailure ? lint?.statusOfFindings : lint?.status
      case .schema: schema?.isCurrent == false ? .finding : nil
      }
    let problems = problems.filter { $0.part == part }.map(\.failure.status)
    return ExitStatus.worst(problems + [found ?? .success])
  }

  /// Whether the part produced a result.
  func wasRun(_ part: Part) -> Bool {
    switch part {
    case .manifests: true
    case .history: history != nil
    case .replay: proof != nil
    case .lint: lint != nil
    case .schema: schema != nil
    }
  }

  /// Runs a part, and records under its name a failure that ends it.
  @discardableResult
  mutating func attempt<Result>(_ part: Part, _ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch {
      let failure = Failure(of: error)
      // A manifest that requires another version of SQLite ends three parts with the same failure.
      let isKnown = problems.contains {
        $0.failure.message == failure.message && $0.failure.place == failure.place
      }
      if !isKnown { problems.append((part, failure)) }
      return nil
    }
  }
}
