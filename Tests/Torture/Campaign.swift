import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// A kind of damage or hostile input. A campaign makes repeated attempts and reports the result of each one.
///
/// A campaign with a fixed list of attempts ends by itself. A campaign with random attempts continues while
/// `run.goesOn`.
protocol Campaign {
  /// The name on the command line and in the table: `power-cuts`.
  static var name: String { get }
  static func run(_ run: Run) throws
}

/// A running campaign: its random numbers, its limits, its folder and its results.
final class Run {
  /// A row of the table: the number of attempts of one kind, and the bad results.
  struct Tally {
    var tried = 0
    var bad: [String] = []
  }

  let seed: UInt64
  var generator: SeededGenerator
  /// A temporary folder.
  let folder: String
  private let limit: Int
  private let kind: String
  private let deadline: ContinuousClock.Instant
  /// The kinds in the order of their first attempts.
  private(set) var kinds: [String] = []
  private(set) var tallies: [String: Tally] = [:]

  /// Creates a run and its folder.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of attempts of all kinds together.
  ///   - kind: a part of the names of the kinds to run.
  ///   - time: the maximum duration.
  init(seed: UInt64, limit: Int, kind: String, time: Duration) throws {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    self.limit = limit
    self.kind = kind
    deadline = ContinuousClock.now + time
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("torture-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    folder = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var tried: Int { tallies.values.reduce(0) { $0 + $1.tried } }

  var isClean: Bool { tallies.values.allSatisfy(\.bad.isEmpty) }

  var hasTime: Bool { ContinuousClock.now < deadline }

  /// Whether the limits allow another attempt.
  var mayContinue: Bool { tried < limit && hasTime }

  /// Whether to run the attempts of a kind. The campaign generates the others nevertheless, so that a seed
  /// always gives the same faults.
  func wants(_ kind: String) -> Bool { self.kind.isEmpty || kind.contains(self.kind) }

  /// Returns the maximum number of attempts for each of `count` kinds.
  func share(of count: Int) -> Int { max(1, limit / count) }

  /// Whether the limits allow an attempt of this duration.
  func hasTime(for duration: Duration) -> Bool {
    tried < limit && ContinuousClock.now + duration < deadline
  }

  /// Counts an attempt.
  ///
  /// - Parameters:
  ///   - kind: the name of the row in the table: `power cut, WAL, rebuild`.
  ///   - problem: the bad result with the information to reproduce it; nil if the result was correct.
  func note(_ kind: String, problem: String? = nil) {
    if tallies[kind] == nil { kinds.append(kind) }
    tallies[kind, default: Tally()].tried += 1
    guard let problem else { return }
    tallies[kind]?.bad.append(problem)
    say("\(kind): \(problem)")
  }
}

/// Writes to standard error, because standard output contains only the table.
func say(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
