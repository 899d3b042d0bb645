import SchemaHistory
import SchemaReplay
import SchemaSQLText
import SchemaSQLite
import SchemaTimeline

/// Values that each device stores differently, because they are random or depend on the time.
enum VaryingValues {
  /// The results of random functions and of the clock on a device.
  struct Device {
    let day: String
    let time: String
    let chance: ChanceCounter
  }

  /// Two devices after all dates that generated rows contain, so that comparisons with the current time have
  /// the same result on both. Their random numbers differ in sign, remainder and order.
  private static var devices: [Device] {
    [
      Device(
        day: "2041-03-04", time: "05:06:07",
        chance: ChanceCounter(from: ChanceCounter.range.lowerBound)),
      Device(
        day: "2042-05-06", time: "08:09:10",
        chance: ChanceCounter(from: -ChanceCounter.range.lowerBound - 1, step: -1)),
    ]
  }

  /// The columns whose values differ after runs on two devices, and the tables whose rows do, as keys without
  /// a column. Triggers do not fire: an app's trigger may record the time of each change.
  static func found(
    by experiment: Experiment, in migration: Int
  ) throws(Failure) -> [LossEvidence.Key] {
    let runs = try devices.map { (device) throws(Failure) in try experiment.run(on: device) }
    guard let one = runs[0]?.contents, let two = runs[1]?.contents else { return [] }
    var found: [LossEvidence.Key] = []
    for (name, table) in one.tables.sorted(by: { $0.key < $1.key }) {
      guard one.digest[name] != two.digest[name], let other = two.tables[name] else { continue }
      let columns = table.columns.indices.filter { column in
        func counts(_ rows: [[Value]]) -> [Value: Int] {
          Dictionary(rows.map { ($0[column], 1) }, uniquingKeysWith: +)
        }
        return counts(table.rows) != counts(other.rows)
      }
      let isOfRows = columns.isEmpty || table.rows.count != other.rows.count
      for column in isOfRows ? [nil] : columns.map({ table.columns[$0] }) {
        found.append(.init(migration: migration, table: name, column: column))
      }
    }
    return found
  }
}
