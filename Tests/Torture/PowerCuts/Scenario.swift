import SchemaApply
import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaTestSupport

/// Something that schemactl does to a database, under which the power may be cut.
struct Scenario {
  let name: String
  /// Gives a sandbox its history and its database as it is before.
  let prepare: (Sandbox) throws -> Void
  /// Does it, and says how many migrations the ledger has when a boundary is reached. Also on a
  /// database on which it was done, in part or whole, before.
  let act: (Sandbox, _ reached: @escaping (Int) -> Void) throws -> Void
  /// The states that a power cut may leave, in order, the first being the one before. No two have
  /// ledgers of one length.
  let boundaries: (Sandbox) throws -> [DatabaseState]
  /// What else must hold when the database is found at a boundary.
  var verify: (Sandbox, _ boundary: Int) throws -> Void = { _, _ in }
}

extension Scenario {
  /// One that has nothing between before and after.
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

  /// Applies what `prepare` leaves pending: each migration is a boundary.
  ///
  /// - Parameters:
  ///   - failing: the migration that fails, at whose boundary it ends.
  ///   - check: looks at what was applied.
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

  /// The schema is the one that the last row of the ledger promises.
  private static func requireAgreement(in sandbox: Sandbox) throws {
    let connection = try sandbox.open()
    let promised = try Ledger.rows(in: connection)?.last?.fingerprint
    guard try Schema(of: connection).fingerprint() == promised else {
      throw Damage("the ledger promises another schema than is there")
    }
  }
}
