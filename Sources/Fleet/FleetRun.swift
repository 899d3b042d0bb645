import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

package struct FleetOptions: Sendable {
  /// The number of databases that are processed at the same time.
  package var jobs = 1
  /// The number of databases that are processed first. If one of them fails, the run stops.
  package var canary: Int?
  /// The number of failures that stops the run.
  package var maxFailures: Int?
  /// The time to wait for a lock, in seconds.
  package var timeout = 5.0

  package init() {}
}

/// Processes the databases of a list in several threads.
///
/// It uses threads and not tasks, because a thread blocks while it waits for a busy database.
package final class FleetRun: @unchecked Sendable {
  /// Guards the properties below: one thread at a time takes a database or adds a result.
  private let mutex = Locked(())
  private let list: DatabaseList
  private let work: FleetWork
  private let options: FleetOptions
  private let interruption: Interruption
  private let onResult: (FleetResult, FleetSummary) -> Void
  private var summary: FleetSummary
  private var phase = Phase.first(last: .max)
  /// The number of the last database that a thread took.
  private var taken: Int64 = 0
  /// The error in reading the list.
  private var problem: DatabaseError?

  private enum Phase: Equatable {
    /// The databases up to a number, in the order of the list.
    case first(last: Int64)
    /// The databases that were busy in the first phase.
    case second
  }

  /// The time for which the first try waits for a lock, in seconds. A busy database must not delay the
  /// others. It gets a second try at the end.
  private static let firstTimeout = 0.25

  /// - Parameter onResult: receives each result once, with the summary so far. Only one thread at a time
  ///   calls it.
  package init(
    _ work: FleetWork, on list: DatabaseList, _ options: FleetOptions,
    interruption: Interruption = Interruption(),
    onResult: @escaping (FleetResult, FleetSummary) -> Void
  ) {
    self.list = list
    self.work = work
    self.options = options
    self.interruption = interruption
    self.onResult = onResult
    summary = FleetSummary(expected: list.count)
  }

  /// Processes the databases, and returns the summary.
  ///
  /// - Throws: if the list cannot be read.
  package func run() throws(Failure) -> FleetSummary {
    let time = Stopwatch()
    do {
      if let canary = options.canary {
        try runPhases(through: number(ofDatabase: canary))
      }
      if options.canary == nil || summary.failed == 0 { try runPhases(through: .max) }
      try skipRest()
    } catch {
      throw Failure(ofList: error)
    }
    if interruption.isRequested { summary.noteInterruption() }
    summary.milliseconds = time.milliseconds
    return summary
  }

  /// Returns the number in the list of the shard's n-th database.
  private func number(ofDatabase rank: Int) throws(DatabaseError) -> Int64 {
    var number: Int64 = 0
    for _ in 0..<rank {
      guard let item = try list.next(after: number) else { return .max }
      number = item.number
    }
    return number
  }

  private func runPhases(through last: Int64) throws(DatabaseError) {
    for next in [Phase.first(last: last), .second] {
      phase = next
      let threads = (1..<max(options.jobs, 1)).compactMap { _ in
        startThread { self.workUntilDone() }
      }
      workUntilDone()
      for thread in threads { pthread_join(thread, nil) }
      if let problem { throw problem }
    }
  }

  private func workUntilDone() {
    while let (item, phase) = take() {
      if phase == .second {
        handIn(secondTry(item))
      } else {
        let result = work.perform(
          on: item.name, timeout: min(options.timeout, Self.firstTimeout), interruption)
        if result.status == .busy, result.applied.isEmpty {
          postpone(item)
        } else {
          // Try again at once: the result must include the migrations that were applied before the database
          // became busy.
          handIn(result.status == .busy ? secondTry(item, after: result) : result)
        }
      }
    }
  }

  private func secondTry(
    _ item: DatabaseList.Item, after first: FleetResult? = nil
  ) -> FleetResult {
    var result = work.perform(on: item.name, timeout: options.timeout, interruption)
    result.attempts = 2
    guard let first else { return result }
    if result.state == .upToDate { result.state = .migrated }
    result.applied = first.applied + result.applied
    result.adopted = first.adopted + result.adopted
    return result
  }

  private var mayGoOn: Bool {
    problem == nil && !interruption.isRequested && summary.failed < options.maxFailures ?? .max
  }

  private func take() -> (DatabaseList.Item, Phase)? {
    mutex.withLock { _ in
      do throws(DatabaseError) {
        guard mayGoOn else { return nil }
        switch phase {
        case .second: return try list.takePostponed().map { ($0, phase) }
        case .first(let last):
          guard let item = try list.next(after: taken), item.number <= last else { return nil }
          taken = item.number
          return (item, phase)
        }
      } catch {
        problem = error
        return nil
      }
    }
  }

  private func postpone(_ item: DatabaseList.Item) {
    mutex.withLock { _ in
      do throws(DatabaseError) {
        try list.postpone(item)
      } catch {
        problem = error
      }
    }
  }

  private func handIn(_ result: FleetResult) {
    mutex.withLock { _ in add(result) }
  }

  private func add(_ result: FleetResult) {
    summary.add(result)
    onResult(result, summary)
  }

  /// Adds results for the databases that the run did not process.
  private func skipRest() throws(DatabaseError) {
    while let item = try list.takePostponed() {
      add(
        FleetResult(
          item.name,
          failure: Failure(
            .busy,
            "`\(item.name)` was in use by another process, and the run stopped before a second try"
          )))
    }
    while let item = try list.next(after: taken) {
      taken = item.number
      add(FleetResult(item.name, .notStarted))
    }
  }
}
