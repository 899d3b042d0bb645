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
  private let pairs: [VersionPair]
  /// The schema changes of each migration.
  private let deltas: [SchemaDelta]
  private let application: Application
  private let scope: LintScope
  /// The columns, with their tables, that were altered between crsql_begin_alter and
  /// crsql_commit_alter.
  private let announced: Set<[Identifier]>
  private let hints: HintBook
  private var devices: [Int: Peer] = [:]

  /// A device with a generator of rows for it.
  private final class Peer {
    let device: Device
    let maker: RowMaker
    private let make: () throws(DatabaseError) -> Device
    private var other: Device?

    init(
      _ hints: HintBook, _ make: @escaping () throws(DatabaseError) -> Device
    ) throws(DatabaseError) {
      device = try make()
      maker = RowMaker(device, hints: hints.hints(of:))
      self.make = make
    }

    /// Another device of the same version.
    func twin() throws(DatabaseError) -> Device {
      if let other { return other }
      let new = try make()
      other = new
      return new
    }
  }

  init(
    _ pairs: [VersionPair], _ deltas: [SchemaDelta], _ timeline: Timeline,
    _ application: Application, _ scope: LintScope
  ) {
    self.pairs = pairs
    self.deltas = deltas
    self.application = application
    self.scope = scope
    hints = HintBook(deltas)
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
  ///   - isFull: whether to test all pairs of versions instead of adjacent versions and each one
  ///     with the newest.
  package static func disagreements(
    _ project: Project, _ deltas: [SchemaDelta], _ timeline: Timeline, _ scope: LintScope,
    isFull: Bool
  ) throws(Failure) -> [Disagreement] {
    let versions = project.versions(replayed: deltas.count, oldest: scope.oldestSynced)
    let pairs = VersionPair.all(of: versions, isFull: isFull)
    guard !pairs.isEmpty else { return [] }
    do {
      return try CompatibilitySimulation(pairs, deltas, timeline, project.application, scope)
        .disagreements()
    } catch {
      throw Failure(error.status, "the compatibility simulation failed: \(error.inWords)")
    }
  }

  /// Without duplicates, in the order of the pairs and the tables.
  func disagreements() throws(DatabaseError) -> [Disagreement] {
    var found: [Disagreement] = []
    var known: Set<Origin> = []
    // Most tables are equal in many releases, so one trial suffices for all of them.
    var tried: Set<[[ExactText]]> = []
    for pair in pairs {
      let (older, newer) = try (peer(pair.older), peer(pair.newer))
      for table in try tables(older.device, newer.device) {
        let meeting =
          try older.device.definition(of: table) + [[]] + newer.device.definition(of: table)
        guard tried.insert(meeting).inserted else { continue }
        for (sender, receiver) in [(pair.older, pair.newer), (pair.newer, pair.older)] {
          for (origin, text) in try judge(table, sender, receiver) {
            guard known.insert(origin).inserted else { continue }
            let (message, transcript) = text()
            found.append(
              Disagreement(
                migration: origin.migration, table: origin.table, object: origin.object,
                message: message, transcript: transcript, isNote: origin.isNote))
          }
        }
      }
    }
    return found
  }

  /// Two counterexamples with equal origins are reported once.
  private struct Origin: Hashable {
    let migration: Int
    let table: String
    let object: String
    let isNote: Bool
  }

  // MARK: Devices

  private func peer(_ version: AppVersion) throws(DatabaseError) -> Peer {
    if let known = devices[version.count] { return known }
    let schema = Schema(applying: deltas.prefix(version.count))
    let enforces = scope.profile != .crSQLite
    let peer = try Peer(hints) { [application] () throws(DatabaseError) in
      try Device(version, schema, application, enforcesForeignKeys: enforces)
    }
    if !version.isBetween { devices[version.count] = peer }
    return peer
  }

  /// The tables, sorted, that both versions may exchange and whose definition, or that of their
  /// parents, differs.
  private func tables(_ older: Device, _ newer: Device) throws(DatabaseError) -> [Identifier] {
    let (old, new) = (older.definitions, newer.definitions)
    var changed = Set(old.keys).filter { new[$0] != old[$0] }
    // No older device has a new table.
    guard !changed.isEmpty else { return [] }
    for device in [older, newer] {
      for table in device.tableNames.keys.sorted() where !changed.contains(table) {
        let parents = try device.table(table)?.foreignKeys.map(\.parent) ?? []
        if !changed.isDisjoint(with: parents) { changed.insert(table) }
      }
    }
    return changed.filter { !scope.isLocal($0) && older.tableNames[$0] != nil }.sorted()
  }

  // MARK: Finding the migration

  private func result(
    _ table: Identifier, _ sender: AppVersion, _ receiver: AppVersion
  ) throws(DatabaseError) -> TableSimulation.Result {
    let (from, to) = try (peer(sender), peer(receiver))
    return try TableSimulation(
      sender: from.device, receiver: to.device, twin: from.twin,
      makers: (from.maker, to.maker),
      delivery: Delivery(insertsNull: scope.profile == .sqliteData),
      syncs: { [scope] in !scope.isLocal($0) },
      mayLack: { [announced] in announced.contains([$0, $1]) }
    ).result(of: table)
  }

  private func judge(
    _ table: Identifier, _ sender: AppVersion, _ receiver: AppVersion
  ) throws(DatabaseError) -> [(Origin, text: () -> (String, DeviceTranscript?))] {
    let (first, last) = (min(sender.count, receiver.count), max(sender.count, receiver.count))
    let suspects = (first..<last).filter { touches($0, table) }
    let (from, to) = try (peer(sender).device, peer(receiver).device)
    switch try result(table, sender, receiver) {
    case .unknown(let version, let problem):
      let name = from.tableNames[table] ?? table.text
      let origin = Origin(
        migration: suspects.last ?? last - 1, table: name, object: name, isNote: true)
      return [
        (
          origin,
          {
            (
              "lint could not generate a row of \(name) in \(version.name), so it did not "
                + "simulate this table: \(problem)", nil
            )
          }
        )
      ]
    case .found(let counterexamples):
      var found: [(Origin, text: () -> (String, DeviceTranscript?))] = []
      for counterexample in counterexamples {
        let migration =
          try culprit(of: counterexample, table, sender, receiver, among: suspects) ?? last - 1
        let origin = Origin(
          migration: migration, table: counterexample.table,
          object: counterexample.spelt([to, from]), isNote: false)
        found.append(
          (origin, { (counterexample.message(from, to), counterexample.transcript(from, to)) }))
      }
      return found
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
    of counterexample: Counterexample, _ table: Identifier, _ sender: AppVersion,
    _ receiver: AppVersion, among suspects: [Int]
  ) throws(DatabaseError) -> Int? {
    let isOlder = sender.count < receiver.count
    guard var (low, high) = suspects.indices.last.map({ (0, $0) }) else { return nil }
    while low < high {
      let middle = (low + high) / 2
      let step = AppVersion(between: suspects[middle] + 1)
      let others = try result(table, isOlder ? sender : step, isOlder ? step : receiver)
      if others.contains(counterexample) { high = middle } else { low = middle + 1 }
    }
    return suspects[high]
  }
}

extension TableSimulation.Result {
  /// Whether the result contains the same harm to the same column.
  fileprivate func contains(_ one: Counterexample) -> Bool {
    guard case .found(let all) = self else { return false }
    return all.contains { $0.column == one.column && $0.harm.signature == one.harm.signature }
  }
}
