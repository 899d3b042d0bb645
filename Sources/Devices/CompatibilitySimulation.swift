import SchemaHistory
import SchemaModel
import SchemaPlanning
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline
import SchemaTrials

/// Determines whether a change breaks devices with another version of the app. Builds both schemas
/// in memory and transfers rows between them, as a sync engine does.
package final class CompatibilitySimulation {
  /// The schema changes of each migration.
  private let deltas: [SchemaDelta]
  private let application: Application
  private let scope: LintScope
  /// The columns, after their table, that were dropped or renamed between `crsql_begin_alter` and
  /// `crsql_commit_alter`.
  private let announced: Set<[Identifier]>
  private let hints: [Identifier: ValueHints]
  private var devices: [Int: Device] = [:]
  /// The disagreements, without duplicates.
  private var found: [Disagreement] = []

  private init(
    _ deltas: [SchemaDelta], _ timeline: Timeline, _ application: Application, _ scope: LintScope
  ) {
    self.deltas = deltas
    self.application = application
    self.scope = scope
    hints = ValueHints.all(in: deltas)
    func names(_ change: TableChange, _ column: LostColumn) -> [Identifier] {
      [change.before?.name ?? "", column.name].map(\.identifier)
    }
    let all = timeline.changes.flatMap { change in change.lost.map { names(change, $0) } }
    announced = Set(all).subtracting(timeline.lostColumns(scope).map { names($0.0, $0.1) })
  }

  /// The incompatibilities between devices of the project's releases.
  ///
  /// - Parameters:
  ///   - deltas: the schema changes of each replayed migration.
  ///   - isFull: whether to test all pairs of versions. Otherwise, lint tests adjacent versions,
  ///     and each version with the newest.
  package static func disagreements(
    _ project: Project, _ deltas: [SchemaDelta], _ timeline: Timeline, _ scope: LintScope,
    isFull: Bool
  ) throws(Failure) -> [Disagreement] {
    let versions = project.versions(replayed: deltas.count, oldest: scope.oldestSynced)
    let adjacent = zip(versions, versions.dropFirst()).map { (older: $0, newer: $1) }
    let others = versions.indices.flatMap { first in
      versions.dropFirst(first + 2).suffix(isFull ? .max : 1)
        .map { (older: versions[first], newer: $0) }
    }
    guard !adjacent.isEmpty else { return [] }
    let simulation = CompatibilitySimulation(deltas, timeline, project.application, scope)
    do {
      try simulation.run(adjacent + others)
      return simulation.found
    } catch {
      throw Failure(error.status, "the compatibility simulation failed: \(error.inWords)")
    }
  }

  /// Finds disagreements in the order of the pairs and the tables.
  private func run(
    _ pairs: [(older: AppVersion, newer: AppVersion)]
  ) throws(DatabaseError) {
    // Most tables are equal in many releases. One trial is enough for all of them.
    var tried: Set<[[ExactText]]> = []
    for pair in pairs {
      let (older, newer) = try (device(pair.older), device(pair.newer))
      for table in tables(older, newer) {
        let meeting = older.definition(of: table) + [[]] + newer.definition(of: table)
        guard tried.insert(meeting).inserted else { continue }
        try judge(table, older, newer)
        try judge(table, newer, older)
      }
    }
  }

  /// Whether harm of the same migration to the same object has been found. Such harm is reported
  /// once.
  private func isKnown(
    _ migration: Int, _ table: String, _ object: String, isHarm: Bool
  ) -> Bool {
    found.contains { known in
      known.migration == migration && known.table == table && known.object == object
        && (known.transcript != nil) == isHarm
    }
  }

  // MARK: Devices

  private func device(_ version: AppVersion) throws(DatabaseError) -> Device {
    if let known = devices[version.count] { return known }
    let device = try Device(
      version, Schema(applying: deltas.prefix(version.count)), application, hints,
      enforcesForeignKeys: scope.profile != .crSQLite)
    devices[version.count] = device
    return device
  }

  /// The tables of the older version that sync, if their definition or the definition of a parent
  /// differs; sorted.
  private func tables(_ older: Device, _ newer: Device) -> [Identifier] {
    older.tables.keys.filter { table in
      let parents = [older, newer].flatMap { $0.tables[table]?.foreignKeys.map(\.parent) ?? [] }
      return !scope.isLocal(table)
        && (parents + [table]).contains { older.definitions[$0] != newer.definitions[$0] }
    }.sorted()
  }

  // MARK: Finding the migration

  private func result(
    _ table: Identifier, _ sender: Device, _ receiver: Device
  ) throws(DatabaseError) -> TableSimulation.Result {
    try TableSimulation(
      exchange: Exchange(
        sender: sender, receiver: receiver,
        delivery: Delivery(insertsNull: scope.profile == .sqliteData),
        syncs: { [scope] in !scope.isLocal($0) }),
      mayLack: { [announced] in announced.contains([$0, $1]) }
    ).result(of: table)
  }

  private func judge(
    _ table: Identifier, _ sender: Device, _ receiver: Device
  ) throws(DatabaseError) {
    let counts = [sender.version.count, receiver.version.count].sorted()
    let suspects = (counts[0]..<counts[1]).filter { touches($0, table) }
    let last = counts[1] - 1
    switch try result(table, sender, receiver) {
    case .unknown(let version, let problem):
      let name = sender.tables[table]?.name ?? table.text
      let migration = suspects.last ?? last
      if isKnown(migration, name, name, isHarm: false) { return }
      found.append(
        Disagreement(
          migration: migration, table: name, object: name,
          message: "lint could not generate a row of `\(name)` for \(version.device), so it "
            + "did not simulate this table: \(problem)", transcript: nil))
    case .found(let counterexamples):
      for harm in counterexamples where harm.isFirst(of: counterexamples) {
        let migration = try culprit(of: harm, table, sender, receiver, among: suspects) ?? last
        let object = harm.spelt([receiver, sender])
        if isKnown(migration, harm.table, object, isHarm: true) { continue }
        found.append(
          Disagreement(
            migration: migration, table: harm.table, object: object,
            message: harm.message(sender, receiver), transcript: harm.transcript(sender, receiver)))
      }
    }
  }

  private func touches(_ migration: Int, _ table: Identifier) -> Bool {
    let delta = deltas[migration]
    return [delta.before, delta.after].contains { objects in
      objects.values.contains { $0.table.identifier == table }
    }
  }

  /// The migration after which the same harm occurs, and before which it does not.
  private func culprit(
    of counterexample: Counterexample, _ table: Identifier, _ sender: Device,
    _ receiver: Device, among suspects: [Int]
  ) throws(DatabaseError) -> Int? {
    let isOlder = sender.version.count < receiver.version.count
    guard var (low, high) = suspects.indices.last.map({ (0, $0) }) else { return nil }
    while low < high {
      let middle = (low + high) / 2
      // No device runs this version.
      let step = try device(AppVersion(name: "", isRelease: false, count: suspects[middle] + 1))
      let others = try result(table, isOlder ? sender : step, isOlder ? step : receiver)
      if others.contains(counterexample) { high = middle } else { low = middle + 1 }
    }
    return suspects[high]
  }
}

extension Counterexample {
  /// False if SQLite refuses other rows for the same reason. Prefers the column that the reason names.
  fileprivate func isFirst(of all: [Counterexample]) -> Bool {
    guard case .refused(let reason) = harm else { return true }
    let same = all.filter { $0.table == table && $0.harm == harm }
    let named = same.first { $0.column.map(reason.words.contains) ?? false }
    return column == (named ?? same.first)?.column
  }
}

extension TableSimulation.Result {
  /// Whether the result contains the same harm to the same column.
  fileprivate func contains(_ one: Counterexample) -> Bool {
    guard case .found(let all) = self else { return false }
    return all.contains { $0.column == one.column && $0.harm.signature == one.harm.signature }
  }
}
