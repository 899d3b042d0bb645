import Foundation

/// How the time grows with the number of migrations and of tables, beside the shell's bare replay.
struct Growth {
  let contests: Contests

  struct Point {
    let count: Int
    /// Nil: half as many as migrations.
    let tables: Int?
    let replay: Double
    let verify: Double
    let lint: Double
  }

  func measure(_ histories: [(count: Int, tables: Int?)], rounds: Int) throws -> [Point] {
    try histories.map { count, tables in
      let verify = try contests.reading("verify", count, tables: tables).run(rounds: rounds)
      let lint = try contests.reading("lint", count, tables: tables).run(rounds: rounds)
      return Point(
        count: count, tables: tables, replay: verify.reference.seconds,
        verify: verify.ours?.seconds ?? .nan, lint: lint.ours?.seconds ?? .nan)
    }
  }
}

/// How much memory the work on rows takes, however many there are.
struct Memory {
  let schemactl: String
  let workplace: URL

  struct Line {
    let rows: Int
    let shell: Int
    let ours: Int
  }

  func measure(_ counts: [Int]) throws -> [Line] {
    try counts.map { rows in
      let contests = Contests(
        schemactl: schemactl, peers: Peers(folder: workplace), workplace: workplace, rows: rows)
      var contest = try contests.change(Change.statusMoves[1])
      contest.contestants = contest.contestants.prefix(2).map { contestant in
        var contestant = contestant
        contestant.command.watchesMemory = true
        return contestant
      }
      let outcome = try contest.run(rounds: 1)
      return Line(
        rows: rows, shell: outcome.reference.memory, ours: outcome.ours?.memory ?? 0)
    }
  }
}
