import Foundation

/// How the time grows with the number of migrations, beside the shell's bare replay.
struct Growth {
  let contests: Contests

  struct Point {
    let count: Int
    let replay: Double
    let verify: Double
    let lint: Double
    /// With one draft more, when what is frozen was replayed before.
    let again: Double
    let apply: Double
  }

  func measure(_ counts: [Int], rounds: Int) throws -> [Point] {
    try counts.map { count in
      func ours(_ contest: Contest) throws -> Outcome { try contest.run(rounds: rounds) }
      let verify = try ours(contests.reading("verify", count, target: nil))
      let lint = try ours(contests.reading("lint", count, target: nil))
      var alone = try contests.apply(count)
      alone = Contest(
        title: alone.title, target: nil, contestants: Array(alone.contestants.prefix(2)),
        question: alone.question)
      let apply = try ours(alone)
      // Last, for the draft stays.
      let again = try ours(contests.again("lint", count))
      return Point(
        count: count, replay: verify.reference.seconds, verify: verify.ours?.seconds ?? .nan,
        lint: lint.ours?.seconds ?? .nan, again: again.ours?.seconds ?? .nan,
        apply: apply.ours?.seconds ?? .nan)
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
      contest = Contest(
        title: contest.title, target: nil,
        contestants: contest.contestants.prefix(2).map { contestant in
          var command = contestant.command
          command.watchesMemory = true
          return Contestant(
            name: contestant.name, command: command, prepare: contestant.prepare)
        }, question: contest.question)
      let outcome = try contest.run(rounds: 1)
      return Line(
        rows: rows, shell: outcome.reference.memory, ours: outcome.ours?.memory ?? 0)
    }
  }
}
