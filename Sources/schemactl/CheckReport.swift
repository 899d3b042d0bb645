import SchemaHistory
import SchemaInspect
import SchemaLint
import SchemaReplay
import SchemaSQLText

/// What was found about a history, check by check. One that could not be carried out to its end
/// keeps no other from being carried out.
struct CheckReport {
  enum Part: String, CaseIterable {
    case manifests, history, replay, lint, schema
  }

  /// The file of the current schema in SQL.
  struct SchemaFile {
    let file: String
    let isCurrent: Bool
  }

  /// Nil when the manifests or the lock cannot be read: then nothing else could be checked.
  var project: Project?
  var history: VerifyReport?
  var proof: ReplayProof?
  var lint: LintReport?
  /// Nil also when the configuration names no such file.
  var schema: SchemaFile?
  /// What ended a check, each once.
  private(set) var problems: [(part: Part, problem: Problem)] = []

  var notes: [String] { (history?.notes ?? []) + (lint?.notes ?? []) }

  /// What ended the replay of the whole history, or that of lint alone.
  var failure: Failure? { proof?.failure ?? lint?.failure }

  /// Whether the migration that ended the replay ended lint, too.
  var isSameFailure: Bool {
    guard let replayed = proof?.failure, let linted = lint?.failure else { return false }
    return replayed.message == linted.message && replayed.place == linted.place
  }

  /// Why the lock cannot be read, when it tells that the frozen history is broken.
  private(set) var brokenLock: Failure?

  var status: ExitStatus { ExitStatus.worst(Part.allCases.map(status)) }

  func status(of part: Part) -> ExitStatus {
    let found: ExitStatus? =
      switch part {
      case .manifests: nil
      case .history: history?.status
      case .replay: proof?.status
      // A migration that fails is a result of the replay, and lint ends there, too.
      case .lint: isSameFailure ? lint?.statusOfFindings : lint?.status
      case .schema: schema?.isCurrent == false ? .finding : nil
      }
    let problems = problems.filter { $0.part == part }.map(\.problem.status)
    return ExitStatus.worst(problems + [found ?? .success])
  }

  /// Whether there is anything to say of a check but that it was not carried out.
  func wasRun(_ part: Part) -> Bool {
    switch part {
    case .manifests: true
    case .history: history != nil
    case .replay: proof != nil
    case .lint: lint != nil
    case .schema: schema != nil
    }
  }

  /// Carries a check out; what ends it is noted under its name.
  @discardableResult
  mutating func attempt<Result>(_ part: Part, _ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch {
      let problem = Problem(error)
      if let failure = error as? Failure, failure.status == .brokenHistory { brokenLock = failure }
      // A manifest that asks for another SQLite ends three checks in the same way.
      let isKnown = problems.contains {
        $0.problem.message == problem.message && $0.problem.place == problem.place
      }
      if !isKnown { problems.append((part, problem)) }
      return nil
    }
  }
}
