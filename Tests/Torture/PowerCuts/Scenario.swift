import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaTestSupport

/// An action of schemactl on a database, during which the power may fail.
struct Scenario {
  let name: String
  /// Creates the history and the original database in a sandbox.
  let prepare: (Sandbox) throws -> Void
  /// Runs the action, and reports the length of the ledger at each reached state. The action must also work
  /// after it has already run partly or completely.
  let act: (Sandbox, _ reached: @escaping (Int) -> Void) throws -> Void
  /// Returns the allowed states after a power failure, in order, beginning with the original one. Their
  /// ledgers have different lengths.
  let boundaries: (Sandbox) throws -> [DatabaseState]
  /// Makes additional checks of a database in an allowed state.
  var verify: (Sandbox, _ boundary: Int) throws -> Void = { _, _ in }
}

extension Scenario {
  /// Creates a scenario without intermediate states.
  static func oneStep(
    _ name: String, prepare: @escaping (Sandbox) throws -> Void,
    act: @escaping (Sandbox) throws -> Void
  ) -> Scenario {
    Scenario(
      name: name, prepare: prepare,
      act: { sandbox, reached in
        try act(sandbox)
        reached(try sandbox.ledger.count)
      },
      boundaries: { sandbox in
        let before = try state(of: sandbox)
        try act(sandbox)
        return [before, try state(of: sandbox)]
      })
  }

  /// Creates a scenario that applies the pending migrations. Each migration leads to an allowed state.
  ///
  /// - Parameters:
  ///   - failing: the migration that fails and ends the action.
  ///   - prepare: creates the history, and leaves migrations pending.
  ///   - check: checks the result.
  static func migrating(
    _ name: String, failing: String? = nil, prepare: @escaping (Sandbox) throws -> Void,
    check: @escaping ([AppliedMigration]) throws -> Void = { _ in }
  ) -> Scenario {
    Scenario(
      name: name, prepare: prepare,
      act: { sandbox, reached in
        let project = try sandbox.project()
        let report = try project.migrate(sandbox.options()) { event in
          guard case .committed(let ids) = event else { return }
          reached((project.migrations.firstIndex { $0.id == ids.last } ?? -1) + 1)
        }
        guard report.failure?.migration?.id == failing else {
          throw Damage("migrate failed: \(report.failure.map { "\($0)" } ?? "not at all")")
        }
      },
      boundaries: { sandbox in try boundaries(of: sandbox, failing: failing, check: check) })
  }

  private static func boundaries(
    of sandbox: Sandbox, failing: String?, check: ([AppliedMigration]) throws -> Void
  ) throws -> [DatabaseState] {
    let project = try sandbox.project()
    var states = [try state(of: sandbox)]
    let known = Set(try sandbox.ledger)
    var applied: [AppliedMigration] = []
    for migration in project.migrations where !known.contains(migration.id) {
      if migration.id == failing { break }
      let report = try sandbox.migrate(to: migration.id)
      if let failure = report.failure { throw failure }
      applied += report.applied
      states.append(try state(of: sandbox))
      try requireAgreement(in: sandbox)
    }
    try check(applied)
    return states
  }

  static func state(of sandbox: Sandbox) throws -> DatabaseState {
    try DatabaseState(of: sandbox.open())
  }

  /// Checks that the schema matches the last row of the ledger.
  private static func requireAgreement(in sandbox: Sandbox) throws {
    let connection = try sandbox.open()
    let promised = try Ledger.usual.rows(in: connection)?.last?.fingerprint
    guard try Schema(of: connection).fingerprint() == promised else {
      throw Damage("the ledger promises another schema than is there")
    }
  }
}
