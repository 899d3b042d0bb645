import SchemaHistory
import SchemaModel
import SchemaReplay
import SchemaSQLText

/// Whether the history gives one schema, whichever release a database was created at.
///
/// A device goes from release to release on new connections; the replay goes all the way on one. A
/// migration that asks for what only the old connection knows (`last_insert_rowid()`, a setting that
/// was not put back) tells the two apart.
package struct ReplayProof: Sendable {
  /// A place in the history: a release, or a migration that belongs to none.
  package struct Point: Sendable, Hashable {
    package let release: String?
    /// The last migration before it.
    package let migration: String

    package var inWords: String { release.map { "release \($0)" } ?? migration }
  }

  /// The way of a database that was created at one point to a later one.
  package struct Path: Sendable {
    package let from: Point
    package let through: Point
    /// How the schema differs from the one that the straight replay gives.
    package var changes: [SchemaChange] = []
    /// The fingerprints are not the same, be it in the spelling of a statement only.
    package var differs = false
    /// Why the path ends early.
    package var failure: Failure?

    package var isProven: Bool { !differs && failure == nil }

    /// What is wrong with it, in one sentence.
    package var inWords: String {
      let way = "a database created at \(from.inWords)"
      if let failure {
        return "\(way) cannot be migrated to \(through.inWords): \(failure.message)"
      }
      return
        "\(way) and migrated to \(through.inWords) has another schema than a database that ran "
        + "the whole history at once: "
        + (changes.isEmpty
          ? "a statement is spelt differently" : changes.map(\.sentence).joined(separator: "; "))
    }
  }

  /// How many migrations the straight replay has run.
  package var migrations = 0
  package var paths: [Path] = []
  /// Why the straight replay ended early; the paths go as far as it did.
  package var failure: Failure?

  /// `7 migrations; the same schema from release 1.0.`
  package var inWords: String {
    let replayed = counted(migrations, "migration")
    var parts = [failure == nil ? replayed : "\(replayed), then a failure"]
    let starts = Set(paths.map(\.from))
    let bad = Set(paths.filter { !$0.isProven }.map(\.from.inWords.exact)).sorted().map(\.text)
    if !bad.isEmpty {
      parts.append("not the same schema from \(bad.joined(separator: ", "))")
    } else if let start = starts.first {
      parts.append(
        "the same schema from "
          + (starts.count == 1 ? start.inWords : "each of \(starts.count) releases"))
    }
    return parts.joined(separator: "; ") + "."
  }

  package var status: ExitStatus {
    ExitStatus.worst(
      paths.map { path in
        path.failure?.status ?? (path.differs ? .finding : .success)
      } + [failure?.status ?? .success])
  }
}

extension Project {
  /// Replays the history once, and beside it from each release of the lock.
  ///
  /// - Parameters:
  ///   - history: where the manifests stand; what another SQLite makes of them is noted there.
  ///   - everyPair: go from each release through every later one on one connection, as a
  ///     device does that missed the releases between; otherwise only to the next release, where
  ///     the replay begins on a new connection. Costs a replay for each release.
  /// - Throws: failures with exit code 64 and above; a migration that fails (3) is in the result.
  package func proveReplay(
    noting history: inout VerifyReport, everyPair: Bool = false,
    interruption: Interruption = Interruption()
  ) throws(Failure) -> ReplayProof {
    try requireEngine(for: migrations)
    var proof = ReplayProof()
    let points = releasePoints
    var frozen = FrozenSchemas(self, history.history)
    var walks: [Walk] = []
    var replayed: ScratchDatabase?
    func observe(_ step: ScratchDatabase.Step, _ straight: ScratchDatabase) throws(Failure) {
      proof.migrations += 1
      frozen.compare(step, straight, in: &history.history)
      for walk in walks { try walk.apply(step.migration) }
      guard let point = points[step.migration.id] else { return }
      proof.paths += arrive(at: point, straight, &walks)
      if !everyPair { walks = [] }
      let scratch = try ScratchDatabase(
        continuing: straight, application, interruption: interruption)
      scratch.isReleased = isFrozen
      walks.append(Walk(from: point, scratch))
    }
    do {
      try replay(
        interruption: interruption,
        preparing: {
          replayed = $0
          $0.checksOwnRows = true
        }, observing: observe)
    } catch {
      guard error.status.isResult else { throw error }
      proof.failure = error
    }
    if let last = migrations.prefix(proof.migrations).last, points[last.id] == nil, let replayed {
      proof.paths += arrive(
        at: ReplayProof.Point(release: nil, migration: last.id), replayed, &walks)
    }
    return proof
  }

  /// The places at which databases were created in the field, by their last migration: each release,
  /// and the last migration that was frozen without one.
  private var releasePoints: [ExactText: ReplayProof.Point] {
    guard let lock else { return [:] }
    var points: [ExactText: ReplayProof.Point] = [:]
    if let last = lock.entries.last {
      points[last.id] = ReplayProof.Point(release: nil, migration: last.id)
    }
    for release in lock.releases {
      points[release.lastID] = ReplayProof.Point(release: release.name, migration: release.lastID)
    }
    return points
  }

  /// Compares every walk with the straight replay. One that failed has said so, and ends.
  private func arrive(
    at point: ReplayProof.Point, _ straight: ScratchDatabase, _ walks: inout [Walk]
  ) -> [ReplayProof.Path] {
    let paths = walks.map { $0.path(to: point, like: straight) }
    walks.removeAll { $0.failure != nil }
    return paths
  }
}

/// A replay that began at a release.
private final class Walk {
  let from: ReplayProof.Point
  private(set) var failure: Failure?
  private let scratch: ScratchDatabase

  init(from point: ReplayProof.Point, _ scratch: ScratchDatabase) {
    from = point
    self.scratch = scratch
  }

  /// - Throws: faults of the machine.
  func apply(_ migration: Migration) throws(Failure) {
    guard failure == nil else { return }
    do {
      try scratch.apply(migration)
    } catch {
      switch error.status {
      case .migrationFailed: failure = error
      case .invalidInput:
        // The straight replay has run it, so the manifest is valid.
        failure = Failure(
          .migrationFailed, error.message, place: error.place, migration: error.migration)
      default: throw error
      }
    }
  }

  func path(to point: ReplayProof.Point, like straight: ScratchDatabase) -> ReplayProof.Path {
    var path = ReplayProof.Path(from: from, through: point)
    path.failure = failure
    // Equal fingerprints are equal statements, and cost nothing to compare.
    guard failure == nil, scratch.fingerprint != straight.fingerprint else { return path }
    path.differs = true
    path.changes = compareSchemas(expected: straight.schema, actual: scratch.schema)
    return path
  }
}
