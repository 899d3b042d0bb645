import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText

/// A check that the history leads to the same schema, whatever release a database was created with.
///
/// A device runs each release on a new connection, but a replay runs the whole history on one connection. The
/// schemas differ if a migration depends on the state of the old connection (`last_insert_rowid()`, or a
/// setting that was not reset).
package struct ReplayProof: Sendable {
  /// A point of the history: a release, or a migration without a release.
  package struct Point: Sendable, Hashable {
    package let release: String?
    /// The last migration up to this point.
    package let migration: String

    package var inWords: String { release.map { "release \($0)" } ?? "`\(migration)`" }
  }

  /// The migrations of a database that was created at one point, up to a later point.
  package struct Path: Sendable {
    package let from: Point
    package let through: Point
    /// The differences from the schema of the straight replay.
    package var changes: [SchemaChange] = []
    /// Whether the fingerprints differ, even if only in the spelling of a statement.
    package var differs = false
    /// The failure that ended the path early.
    package var failure: Failure?

    package var isProven: Bool { !differs && failure == nil }

    /// The problem in one sentence.
    package var inWords: String {
      let way = "a database created at \(from.inWords)"
      if let failure {
        return "cannot migrate \(way) to \(through.inWords): \(failure.message)"
      }
      return
        "\(way) and migrated to \(through.inWords) has another schema than a database that ran "
        + "the whole history at once: "
        + (changes.isEmpty
          ? "a statement is spelt differently" : changes.map(\.sentence).joined(separator: "; "))
    }
  }

  /// The number of migrations that the straight replay has run.
  package var migrations = 0
  package var paths: [Path] = []
  /// The failure that ended the straight replay early. The paths end at the same migration.
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
  /// Replays the history once from the start (the straight replay), and also from each release in the lock.
  ///
  /// - Parameters:
  ///   - history: the states of the manifests. A manifest that results in another schema on this SQLite
  ///     version is recorded there.
  ///   - everyPair: whether to continue from each release through all later ones on one connection, like a
  ///     device that skipped the releases between. This costs a replay for each release. Otherwise each
  ///     replay ends at the next release, where the next one begins on a new connection.
  /// - Throws: failures with exit code 64 and above; the result contains a migration that fails (3).
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
          // An assertion may call a function of the app.
          $0.runner.evaluatesAssertions = application.missingFunctions.isEmpty
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

  /// The points at which users' databases may have been created, by their last migration: each release, and
  /// the last frozen migration.
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

  /// Compares every walk with the straight replay. Then removes failed walks, which have now been reported.
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

  /// - Throws: errors of the environment.
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
    // Equal fingerprints mean equal statements, and are cheap to compare.
    guard failure == nil, scratch.fingerprint != straight.fingerprint else { return path }
    path.differs = true
    path.changes = compareSchemas(expected: straight.schema, actual: scratch.schema)
    return path
  }
}
