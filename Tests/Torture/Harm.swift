import Foundation
import SchemaHistory
import SchemaSQLite
import SchemaTestSupport

/// Deliberate damage. A campaign that does not detect it proves nothing.
enum Harm: String, CaseIterable {
  case lostRow = "a missing row"
  case halfMigration = "half a migration"
  case untold = "an applied migration that is not reported"
  case unexplained = "an error without a fault"
  case leftFile = "a remaining temporary file"
  case heldLock = "a remaining lock"

  /// Counts kinds of damage that the checks do not detect.
  static func proveSeen(_ run: Run) throws {
    let userAction = try UserAction.utf16("")
    for harm in allCases {
      try userAction.reset()
      let problem = try harm.problem(after: userAction)
      run.note("harness: \(harm.rawValue)", problem: problem == nil ? "is not seen" : nil)
    }
  }

  private func problem(after userAction: UserAction) throws -> String? {
    let sandbox = userAction.sandbox
    var ending = userAction.perform()
    var holder: Connection?
    switch self {
    case .lostRow: try sandbox.run("DELETE FROM tags WHERE task = 7")
    case .halfMigration: try sandbox.run("DROP TABLE more")
    case .untold: ending.applied.removeLast()
    case .unexplained: ending.status = .bug
    case .leftFile:
      try Data().write(to: URL(fileURLWithPath: sandbox.database + ".1-1.partial"))
    case .heldLock:
      holder = try sandbox.open()
      try holder?.execute("BEGIN IMMEDIATE")
    }
    defer { withExtendedLifetime(holder) {} }
    return try userAction.problem(of: ending) { $0.status == .inputOutput || self == .untold }
  }
}

extension Run {
  private static let shown = "harness: a reported fault"
  private static let unshown = "harness: faults that are never reported"

  /// - Parameter shows: whether the fault changed the result of the action.
  func note(_ kind: String, shows: Bool, problem: String?) {
    note(kind, problem: problem)
    if shows, tallies[Self.shown] == nil { note(Self.shown) }
  }

  /// Counts a bad result if no fault has changed the result of an action in more than 50 tries.
  func proveShown() {
    if tried > 50, tallies[Self.shown] == nil { note(Self.unshown, problem: "in \(tried) tries") }
  }
}
