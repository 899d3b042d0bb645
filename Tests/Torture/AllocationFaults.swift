import SchemaFaultyAllocator
import SchemaFaultyFileSystem
import SchemaHistory

/// Simulates a lack of memory in SQLite. Each allocation of each action fails once: alone, with the next
/// nineteen, or with all later ones.
enum AllocationFaults: Campaign {
  static let name = "allocation-faults"

  static func run(_ run: Run) throws {
    guard faulty_allocator_install() == 0 else { throw Unusable() }
    defer { faulty_allocator_remove() }
    try Harm.proveSeen(run)
    var userActions = try UserAction.all().map { try Trials($0, &run.generator) }
    while run.mayContinue, !userActions.isEmpty {
      for index in userActions.indices where run.mayContinue { try userActions[index].next(run) }
      userActions.removeAll(where: \.isExhausted)
    }
    run.proveShown()
  }

  private struct Unusable: Error {}

  /// The faults for one action, in random order.
  private struct Trials {
    private let userAction: UserAction
    private var left: [(first: Int, length: Length)]

    private enum Length: String, CaseIterable {
      case once = "one allocation fails"
      case several = "twenty allocations fail"
      case all = "allocations fail for good"

      var count: Int {
        switch self {
        case .once: 1
        case .several: 20
        case .all: .max
        }
      }
    }

    init(_ userAction: UserAction, _ generator: inout some RandomNumberGenerator) throws {
      self.userAction = userAction
      let count = try Self.perform(userAction, failing: 0, 0).allocations
      left = Length.allCases.flatMap { length in (1...max(count, 1)).map { ($0, length) } }
        .shuffled(using: &generator)
      say("\(userAction.name): \(count) allocations")
    }

    var isExhausted: Bool { left.isEmpty }

    mutating func next(_ run: Run) throws {
      guard let (first, length) = left.popLast() else { return }
      let memory = faulty_allocator_used()
      let ending = try Self.perform(userAction, failing: first, length.count).ending
      var problem = try userAction.problem(of: ending) { ending in
        // SQLite reports this error if it cannot allocate a temporary table.
        ending.status == .inputOutput
          && ["memory", "temporary database"].contains(where: ending.message.contains)
      }
      if problem == nil, faulty_allocator_used() != memory { problem = "a connection is left open" }
      run.note(
        "\(length.rawValue): \(userAction.name)", shows: ending != userAction.ending,
        problem: problem.map { "\(first): \($0)" })
    }

    private static func perform(
      _ userAction: UserAction, failing first: Int, _ count: Int
    ) throws -> (ending: UserAction.Ending, allocations: Int) {
      try userAction.reset()
      return FaultyFileSystem.shared.withoutWaiting {
        faulty_allocator_arm(first, count)
        let ending = userAction.perform()
        return (ending, faulty_allocator_disarm())
      }
    }
  }
}
