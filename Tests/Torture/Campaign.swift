import Foundation
import SchemaTestSupport

/// One way to hurt a database, or to feed schemactl what hurts: it tries it again and again, and
/// tells how each try ended.
///
/// A campaign that has a list of things to try, one after another, ends by itself; one that draws
/// them by chance goes on while `run.goesOn`.
protocol Campaign {
  /// What the command line and the table call it: `power-cuts`.
  static var name: String { get }
  static func run(_ run: Run) throws
}

/// A campaign while it runs: its chance, its limits, its folder, and what it has found.
final class Run {
  /// Row of the table: what was tried, how often, and how often it ended in what must never be.
  struct Tally {
    var tried = 0
    var bad: [String] = []
  }

  let seed: UInt64
  var generator: SeededGenerator
  /// A folder of its own, removed at the end.
  let folder: String
  private let limit: Int
  private let kind: String
  private let deadline: ContinuousClock.Instant
  /// In the order in which each kind was first tried.
  private(set) var kinds: [String] = []
  private(set) var tallies: [String: Tally] = [:]

  /// - Parameters:
  ///   - limit: how often something is tried at most.
  ///   - kind: what the names of kinds hold that are wanted.
  ///   - time: how long at most.
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

  /// Whether there is time, and leave, for another try.
  var goesOn: Bool { tried < limit && hasTime }

  /// Whether tries of a kind are to be made; the others are drawn all the same, so that the same
  /// seed still gives the same faults.
  func wants(_ kind: String) -> Bool { self.kind.isEmpty || kind.contains(self.kind) }

  /// How many of the tries each of `count` kinds may have.
  func share(of count: Int) -> Int { max(1, limit / count) }

  /// Whether there is time for something that takes so long.
  func hasTime(for duration: Duration) -> Bool {
    tried < limit && ContinuousClock.now + duration < deadline
  }

  /// Counts a try.
  ///
  /// - Parameters:
  ///   - kind: the row of the table: `power cut, WAL, rebuild`.
  ///   - problem: what was found that must never be, with what is needed to see it again; nil when
  ///     it ended as it should.
  func note(_ kind: String, problem: String? = nil) {
    if tallies[kind] == nil { kinds.append(kind) }
    tallies[kind, default: Tally()].tried += 1
    guard let problem else { return }
    tallies[kind]?.bad.append(problem)
    say("\(kind): \(problem)")
  }
}

/// To standard error, so that standard output is the table alone.
func say(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}
