import SchemaCSQLite
import SchemaPlatform

extension Connection {
  /// Calls `mustStop` repeatedly while a statement runs. When it returns true, the statement throws
  /// `interrupted`. SQLite ignores an interrupt between two statements; this check cannot be missed
  /// as long as it returns true. It has no effect on a borrowed connection.
  package func setStopCheck(_ mustStop: @escaping () -> Bool) {
    if !isBorrowed { progress().mustStop = mustStop }
  }

  /// Limits the time and space that a private database may use. A statement that exceeds a limit
  /// fails with an error that contains the limit (`DatabaseError.exceeded`).
  ///
  /// The time counts only while statements run. The size applies to the database, to its temporary
  /// tables, and to each value. Other connections of the process are not limited.
  package func limitWork(to limit: WorkLimit) throws(DatabaseError) {
    progress().timer = WorkTimer(limit)
    let bytes = Int64(limit.megabytes) * 1_000_000
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
    for schema in ["main", "temp"] {
      let size = try value("PRAGMA \(schema).page_size")?.integer ?? 4096
      try execute("PRAGMA \(schema).max_page_count = \(min(bytes / size, 4_294_967_294))")
    }
  }

  /// The instructions of SQLite's virtual machine since ``limitWork(to:)``. Short statements do not count.
  package var spentSteps: Int { stopCheck?.timer?.steps ?? 0 }

  /// Reports, while a statement runs, the number of rows that it has read in full scans
  /// (`SQLITE_STMTSTATUS_FULLSCAN_STEP`); nil stops the reports. It has no effect on a borrowed connection.
  package func onScan(_ report: ((Int64) -> Void)?) {
    if !isBorrowed { progress().onScan = report }
  }

  private func progress() -> StopCheck {
    if let stopCheck { return stopCheck }
    let check = StopCheck()
    stopCheck = check
    sqlite3_progress_handler(
      handle, StopCheck.interval,
      { context in
        guard let context else { return 0 }
        return Unmanaged<StopCheck>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
      }, Unmanaged.passUnretained(check).toOpaque())
    return check
  }

  /// The limit that caused this error code; nil if no limit did.
  func exceeded(_ code: Int32) -> WorkLimit.Exceeded? {
    guard let timer = stopCheck?.timer else { return nil }
    return switch code & 0xFF {
    case SQLITE_INTERRUPT where timer.hasSpentSteps: .steps
    case SQLITE_INTERRUPT where timer.hasExpired: .seconds(timer.limit.seconds)
    // An in-memory database cannot run out of disk space.
    case SQLITE_FULL, SQLITE_TOOBIG: .megabytes(timer.limit.megabytes)
    default: nil
    }
  }
}

/// The time and space that a private database may use.
package struct WorkLimit: Equatable, Sendable {
  package var seconds: Double
  /// Millions of bytes.
  package var megabytes: Int
  /// Instructions of SQLite's virtual machine; nil if only the time counts.
  package var steps: Int?

  package init(seconds: Double = 60, megabytes: Int = 512) {
    self.seconds = seconds
    self.megabytes = megabytes
  }

  package enum Exceeded: Equatable, Sendable {
    case seconds(Double)
    case megabytes(Int)
    case steps
  }
}

final class StopCheck {
  /// The number of instructions between two checks.
  static let interval: Int32 = 5000
  var mustStop: (() -> Bool)?
  var timer: WorkTimer?
  var onScan: ((Int64) -> Void)?
  /// The running statement.
  var running: OpaquePointer?

  var isOver: Bool {
    if let onScan, let running {
      onScan(Int64(sqlite3_stmt_status(running, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)))
    }
    return timer?.isOver == true || mustStop?() == true
  }
}

/// Measures the time in which the statements of a connection run.
final class WorkTimer {
  let limit: WorkLimit
  private(set) var hasExpired = false
  private(set) var hasSpentSteps = false
  fileprivate private(set) var steps = 0
  private var left: Double
  /// Nil while no statement runs.
  private var running: Stopwatch?

  init(_ limit: WorkLimit) {
    self.limit = limit
    left = limit.seconds
  }

  func start() { running = Stopwatch() }

  func stop() {
    left -= running?.seconds ?? 0
    running = nil
    // Leave time for the clean-up after a stop.
    if hasExpired, left <= 0 { left = 1 }
  }

  /// Returns true, once, if statements used up the time that were too short for SQLite to ask `isOver`.
  func expire() -> Bool {
    guard left <= 0 else { return false }
    (hasExpired, left) = (true, 1)
    return true
  }

  /// Called after each interval of instructions.
  var isOver: Bool {
    steps += Int(StopCheck.interval)
    if let most = limit.steps, steps > most {
      // Leave steps for the clean-up after a stop.
      (hasSpentSteps, steps) = (true, 0)
      return true
    }
    guard let running, running.seconds > left else { return false }
    hasExpired = true
    return true
  }
}

// MARK: Limits

extension Connection {
  /// Lowers limits by which a malicious file or manifest could consume time and memory (Defense
  /// Against The Dark Arts, section 2.1). Every schema that SQLite's default limits allow remains
  /// possible: 2,000 columns, statements of many megabytes and values of a gigabyte. The limits for
  /// the depth of expressions and triggers are unchanged.
  func lowerLimits() {
    let limits = [
      // No database is ever attached, and VACUUM, which attaches one, never runs.
      (SQLITE_LIMIT_ATTACHED, 0),
      // Use only the calling thread.
      (SQLITE_LIMIT_WORKER_THREADS, 0),
      // The time is proportional to the product of the lengths of pattern and text.
      (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000),
      // A manifest has at most 8 MiB. Generated SQL contains each column a few times.
      (SQLITE_LIMIT_SQL_LENGTH, 100_000_000),
      // An instruction has 24 bytes, so this allows 600 MB.
      (SQLITE_LIMIT_VDBE_OP, 25_000_000),
    ]
    for (limit, value) in limits { sqlite3_limit(handle, limit, Int32(value)) }
  }
}

// MARK: Interrupting and waiting

/// Stops a connection's running statement from any thread. It has no effect once the connection is
/// closed.
package final class Interruptible: Sendable {
  private struct Handle: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private let handle: Locked<Handle?>
  /// Whether an interrupt must be repeated, because a borrowed connection has no progress handler.
  private let mustRepeat: Bool

  init(_ pointer: OpaquePointer, mustRepeat: Bool) {
    handle = Locked(Handle(pointer: pointer))
    self.mustRepeat = mustRepeat
  }

  /// Interrupts the running statement. SQLite ignores an interrupt between two statements. Without a progress
  /// handler, the interrupt is therefore repeated until `forget()`, when the connection is returned to the
  /// caller.
  package func interrupt() {
    guard interruptOnce(), mustRepeat else { return }
    startThread { [self] in
      repeat { usleep(2000) } while interruptOnce()
    }
  }

  private func interruptOnce() -> Bool {
    handle.withLock { handle in
      guard let handle else { return false }
      sqlite3_interrupt(handle.pointer)
      return true
    }
  }

  /// Runs an action that must not be interrupted, such as ROLLBACK.
  func pausing(_ body: () -> Void) {
    handle.withLock { _ in body() }
  }

  package var isClosed: Bool { handle.withLock { $0 == nil } }

  func forget() {
    handle.withLock { $0 = nil }
  }
}

/// Waits for a lock with growing pauses, until a timeout or a cancellation.
final class BusyHandler {
  private let timeout: Double
  private let isCancelled: () -> Bool
  private let onWait: (Double) -> Void
  private var waited = 0.0

  init(
    timeout: Double, isCancelled: @escaping () -> Bool, onWait: @escaping (Double) -> Void
  ) {
    self.timeout = timeout
    self.isCancelled = isCancelled
    self.onWait = onWait
  }

  func shouldTryAgain(after tries: Int) -> Bool {
    if tries == 0 { waited = 0 }
    guard waited < timeout, !isCancelled() else { return false }
    let pause = min(0.05, 0.001 * Double(tries + 1), timeout - waited)
    usleep(useconds_t(pause * 1_000_000))
    waited += pause
    onWait(waited)
    return true
  }
}
