import Foundation

/// One who does a piece of work: the `sqlite3` shell, schemactl, or what a user would pick instead.
struct Contestant {
  let name: String
  var command: Command
  /// What has to be so before each run, and is not measured.
  var prepare: () throws -> Void = {}
}

/// A piece of work that several do side by side. The first one is what the others are held against.
struct Contest {
  let title: String
  /// Of schemactl's time to that of the first one; nil where there is none.
  let target: Double?
  var contestants: [Contestant]
  /// How many times the rounds: what lies a hundredth apart takes more to be told apart.
  var factor = 1
  /// At most so many rounds: what takes a minute to prepare need not be done often.
  var mostRounds = Int.max
  /// SQL that gives the same answer on everybody's database when all have done the same.
  var question: (sql: String, database: (String) -> URL)?
}

/// What came of a contest.
struct Outcome {
  let title: String
  let target: Double?
  let results: [Result]

  struct Result {
    let name: String
    let samples: [Sample]
    /// To the first contestant, in the same round.
    let ratios: [Double]

    var seconds: Double { median(samples.map(\.wall)) }
    var ratio: Double { median(ratios) }
    var memory: Int { samples.map(\.memory).max() ?? 0 }
  }

  var ours: Result? { results.first { $0.name == "schemactl" } }
  var reference: Result { results[0] }
  var isMet: Bool { target.map { (ours?.ratio ?? .infinity) <= $0 } ?? true }
}

extension Contest {
  /// One round that does not count, and then rounds in which all run one after the other, forwards and
  /// backwards in turn: what slows the machine down for a while slows all of them.
  func run(rounds: Int) throws -> Outcome {
    var samples = contestants.map { _ in [Sample]() }
    for round in 0...min(rounds * factor, mostRounds) {
      let order = contestants.indices
      for index in round.isMultiple(of: 2) ? Array(order) : order.reversed() {
        let sample = try sample(of: contestants[index])
        if round > 0 { samples[index].append(sample) }
      }
    }
    try requireSameResult()
    let first = samples[0].map(\.wall)
    return Outcome(
      title: title, target: target,
      results: zip(contestants, samples).map { contestant, samples in
        Outcome.Result(
          name: contestant.name, samples: samples,
          ratios: zip(samples, first).map { $0.wall / $1 })
      })
  }

  /// What is too short to be measured runs up to twenty times, for a tenth of a second.
  private func sample(of contestant: Contestant) throws -> Sample {
    var total = Sample(wall: 0, processor: 0)
    var count = 0.0
    repeat {
      try contestant.prepare()
      let one = try measure(contestant.command)
      total.wall += one.wall
      total.processor += one.processor
      total.memory = max(total.memory, one.memory)
      count += 1
    } while count < 20 && total.wall < 0.1
    total.wall /= count
    total.processor /= count
    return total
  }

  private func requireSameResult() throws {
    guard let question else { return }
    let answers = try contestants.map { contestant in
      try output(
        ["sqlite3", question.database(contestant.name).path, question.sql],
        in: contestant.command.folder)
    }
    for (contestant, answer) in zip(contestants, answers) where answer != answers[0] {
      throw DifferentResult(
        contest: title, name: contestant.name, answer: answer, expected: answers[0])
    }
  }
}

struct DifferentResult: Error, CustomStringConvertible {
  let contest: String
  let name: String
  let answer: String
  let expected: String

  var description: String {
    "\(contest): \(name) has done something else:\n\(answer.prefix(500))\ninstead of\n"
      + "\(expected.prefix(500))"
  }
}

func median(_ numbers: [Double]) -> Double {
  let sorted = numbers.sorted()
  guard !sorted.isEmpty else { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
