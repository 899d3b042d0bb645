import SchemaFaultyFileSystem
import SchemaTestSupport

/// A scenario with its original database and the allowed states.
struct Stage {
  let scenario: Scenario
  let template: Sandbox
  let boundaries: [DatabaseState]

  init(_ scenario: Scenario, pageSize: Int) throws {
    self.scenario = scenario
    let sandbox = try Sandbox()
    try withConnectionSettings("PRAGMA main.page_size = \(pageSize)") {
      try scenario.prepare(sandbox)
    }
    template = sandbox
    boundaries = try scenario.boundaries(sandbox.copy())
  }
}

/// A scenario under some conditions. It is recorded once. Then a power failure can be simulated after any
/// event.
struct Trial {
  private let scenario: Scenario
  private let conditions: Conditions
  private let sabotage: Sabotage?
  private let boundaries: [DatabaseState]
  private let recording: Recording
  private let examiner: Examiner
  /// The index of the state that was reached before this recording.
  private var start = 0
  private var isFirst = true

  init(_ stage: Stage, _ conditions: Conditions, _ sabotage: Sabotage? = nil) throws {
    scenario = stage.scenario
    self.conditions = conditions
    self.sabotage = sabotage
    boundaries = stage.boundaries
    examiner = try Examiner(stage)
    let live = try stage.template.copy()
    if conditions.journal == .wal { try live.run("PRAGMA journal_mode = wal") }
    recording = try Self.record(stage.scenario, on: live, conditions)
  }

  /// Records the same scenario on the files after a power failure of `first`.
  private init(_ first: Trial, _ left: Disk.Image, reached: Int) throws {
    scenario = first.scenario
    conditions = first.conditions.again
    sabotage = nil
    boundaries = first.boundaries
    examiner = first.examiner
    start = reached
    isFirst = false
    let live = try first.examiner.sandbox.copy()
    try live.replaceFiles(with: left)
    recording = try Self.record(scenario, on: live, conditions)
  }

  private static func record(
    _ scenario: Scenario, on live: Sandbox, _ conditions: Conditions
  ) throws -> Recording {
    try conditions.settled {
      try Recording(of: live.folder, device: conditions.device) { reached in
        try scenario.act(live, reached)
      }
    }
  }

  /// Returns a trial with a second power failure after a random first one, including one during the recovery
  /// from the first.
  func again(using chance: inout SeededGenerator) throws -> Trial {
    let moment = Int.random(in: 0...recording.events.count, using: &chance)
    let seed = chance.next()
    var left: (image: Disk.Image, reached: Int) = (recording.start, 0)
    cuts(where: { $0 == moment }) { cut in
      left = (cut.images(seed).randomElement(using: &chance)?.image ?? left.image, cut.reached)
      return cut.number < moment
    }
    return try Trial(self, left.image, reached: left.reached)
  }

  private var kind: String { "power cut, \(conditions.journal.rawValue): \(scenario.name)" }

  // MARK: Power failures

  /// The disk after `number` events, when the power fails.
  private struct Cut {
    let number: Int
    let disk: Disk
    /// The index of the state that must not be lost.
    let reached: Int

    /// Returns four images: with all changes, with only the synced ones, and two random images.
    func images(_ seed: UInt64) -> [(name: String, image: Disk.Image)] {
      var chance = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1_0001)
      return [("everything", disk.everything), ("what was synced", disk.synced)]
        + (1...2).map { ("chance \($0)", disk.remains(using: &chance)) }
    }

    static let imageCount = 4
  }

  /// - Parameter chosen: whether the power fails after this number of events. It also fails after each
  ///   reached state.
  private func cuts(where chosen: (Int) -> Bool, _ body: (Cut) throws -> Bool) rethrows {
    var disk = Disk(
      recording.start, device: conditions.device, liesAboutSyncs: sabotage == .lyingDisk)
    var reached = start
    for number in 0...recording.events.count {
      var isBoundary = number == 0
      if number > 0 {
        let event = recording.events[number - 1]
        disk.apply(event)
        if case .reached(let count) = event {
          reached = boundary(count)
          isBoundary = true
        }
      }
      guard isBoundary || chosen(number) else { continue }
      guard try body(Cut(number: number, disk: disk, reached: reached)) else { return }
    }
  }

  // MARK: Runs

  /// Simulates power failures at `most / 4` evenly distributed moments, and after each reached state.
  func run(_ run: Run, _ sightings: inout Sightings, most: Int) {
    let seed = run.generator.next()
    let step = max(1, recording.events.count * Cut.imageCount / max(1, most))
    var seen: Set<Int> = []
    var isComplete = true
    cuts(where: { $0 % step == Int(seed % UInt64(step)) }) { cut in
      let everything = cut.disk.everything
      for (name, image) in cut.images(seed) {
        let isNew = !examiner.isKnown(image)
        let verdict = examiner.examine(image)
        verdict.boundary.map { _ = seen.insert($0) }
        let problem = problem(of: verdict, at: cut).map {
          "\(conditions), after event \(cut.number) of \(recording.events.count) (\(name)): \($0)"
        }
        guard isNew || problem != nil else { continue }
        sightings.look(at: image, everything: everything)
        run.note(kind, problem: problem)
      }
      isComplete = run.mayContinue
      return isComplete
    }
    let missed = expected.subtracting(seen)
    guard isComplete, !missed.isEmpty else { return }
    run.note(kind, problem: "boundaries never met: \(missed.sorted())")
  }

  /// The states that must be found, because each is tested immediately after it was reached.
  private var expected: Set<Int> {
    // The files after an earlier power failure may already have a later state than the reported one.
    var expected: Set<Int> = isFirst ? [0] : []
    for case .reached(let count) in recording.events { expected.insert(boundary(count)) }
    return expected
  }

  /// Returns the index of the state with this number of ledger rows.
  ///
  /// - Parameter count: the number of migrations in the ledger.
  private func boundary(_ count: Int) -> Int {
    boundaries.firstIndex { $0.ledger.count == count } ?? 0
  }

  private func problem(of verdict: Examiner.Verdict, at cut: Cut) -> String? {
    if let problem = verdict.problem { return problem }
    guard let boundary = verdict.boundary, boundary < cut.reached else { return nil }
    return "boundary \(cut.reached) was reported as reached, and only \(boundary) is there"
  }

  /// Whether the checks detect the sabotage.
  func finds(using chance: inout SeededGenerator) throws -> Bool {
    let seed = chance.next()
    var isFound = false
    cuts(where: { _ in true }) { cut in
      for (_, image) in cut.images(seed) {
        let left =
          sabotage == .lostJournal
          ? image.filter { !$0.key.hasSuffix("-journal") && !$0.key.hasSuffix("-wal") } : image
        isFound = isFound || problem(of: examiner.examine(left), at: cut) != nil
      }
      return !isFound
    }
    return isFound
  }
}

/// Counts of the situations that the power failures of a run produced.
struct Sightings: CustomStringConvertible {
  private var images = 0
  private var journals = 0
  private var logs = 0
  private var losses = 0

  mutating func look(at image: Disk.Image, everything: Disk.Image) {
    images += 1
    // The first bytes of a valid journal. A committed journal is deleted, empty, or has a header of zeros.
    let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    if image.contains(where: { $0.key.hasSuffix("-journal") && $0.value.starts(with: magic) }) {
      journals += 1
    }
    // The WAL is longer than its header.
    if image.contains(where: { $0.key.hasSuffix("-wal") && $0.value.count > 32 }) { logs += 1 }
    if image != everything { losses += 1 }
  }

  var description: String {
    "\(images) disks, \(losses) of which had lost something; \(journals) hot journals, \(logs) WALs"
  }

  /// Reports a bad result if a situation never occurred, because such a run proves nothing.
  func note(_ run: Run) {
    guard journals == 0 || logs == 0 || losses == 0 else { return }
    run.note("harness: what power cuts leave is met", problem: "\(self)")
  }
}
