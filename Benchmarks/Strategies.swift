import Foundation

/// Whether the planner takes the way that is fastest: each way forced, beside the one that it takes.
struct Strategies {
  let schemactl: String
  let workplace: URL

  struct Line {
    let change: String
    let rows: Int
    let isWide: Bool
    let indexes: Int
    /// In seconds; nil where it cannot be done that way.
    let times: [(way: String, seconds: Double?)]

    var chosen: Double { times[0].seconds ?? .nan }
    var best: Double { times.compactMap(\.seconds).min() ?? .nan }
  }

  private static let changes: [Change] = [
    Change.statusMoves[1], .threeDrops, .check,
  ]

  /// - Parameter counts: of rows, and of rounds for so many.
  func measure(_ counts: KeyValuePairs<Int, Int>) throws -> [Line] {
    var lines: [Line] = []
    for (rows, rounds) in counts {
      for isWide in [false, true] {
        for indexes in [0, 2, 5] {
          let reminders = try Reminders(
            rows, isWide: isWide, indexes: indexes, in: workplace, schemactl)
          for change in Self.changes { lines.append(try line(change, reminders, rounds)) }
          try FileManager.default.removeItem(at: reminders.folder)
        }
      }
    }
    return lines
  }

  private func line(_ change: Change, _ reminders: Reminders, _ rounds: Int) throws -> Line {
    let history = try reminders.history(change.name, change.operations)
    var samples: [String: [Double]] = [:]
    let ways = ["chosen", "native", "schema-edit", "rebuild"]
    for round in 0...rounds {
      // What one way leaves to the disk must not always meet the same other.
      for way in round.isMultiple(of: 2) ? ways : ways.reversed() {
        try reminders.copy(for: way)
        let forced = way == "chosen" ? [] : ["--strategy", way]
        let command = Command(
          words: [
            schemactl, "migrate", "--migrations", history.path, "--database",
            reminders.database(way).path,
          ] + forced, folder: reminders.folder)
        guard let sample = try? Benchmark.measure(command) else { continue }
        if round > 0 { samples[way, default: []].append(sample.wall) }
      }
    }
    return Line(
      change: change.title, rows: reminders.rows, isWide: reminders.isWide,
      indexes: reminders.indexes, times: ways.map { ($0, samples[$0].map(median)) })
  }
}
