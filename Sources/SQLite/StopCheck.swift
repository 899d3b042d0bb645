import SchemaCSQLite
import SchemaPlatform

extension Connection {
  /// Asks again and again, while a statement runs, whether it must end; it then throws
  /// `interrupted`. Unlike an interrupt, which SQLite forgets between two statements, an answer that
  /// stays yes cannot be missed. A borrowed connection asks nobody.
  package func setStopCheck(_ mustStop: @escaping () -> Bool) {
    if !isBorrowed { progress().mustStop = mustStop }
  }

  /// Limits what a private database may cost; a statement that exceeds a limit fails, and its error says
  /// which one (`DatabaseError.exceeded`).
  ///
  /// The time is that in which statements run. The size holds for the database, for its temporary tables,
  /// and for each value. No other connection of the process is limited.
  package func limitWork(to limit: WorkLimit) throws(DatabaseError) {
    progress().timer = WorkTimer(limit)
    let bytes = Int64(limit.megabytes) * 1_000_000
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
    for schema in ["main", "temp"] {
      let size = try value("PRAGMA \(schema).page_size")?.integer ?? 4096
      try execute("PRAGMA \(schema).max_page_count = \(min(bytes / size, 4_294_967_294))")
    }
  }

  /// Reports, while a statement runs, how many rows it has read in full scans
  /// (`SQLITE_STMTSTATUS_FULLSCAN_STEP`); nil ends that.
  package func onScan(_ report: ((Int64) -> Void)?) {
    if !isBorrowed { progress().onScan = report }
  }

  /// Calls `tick` again and again while a statement runs. A borrowed connection calls nobody.
  package func onWork(_ tick: (() -> Void)?) {
    if !isBorrowed { progress().onWork = tick }
  }

  private func progress() -> StopCheck {
    if let stopCheck { return stopCheck }
    let check = StopCheck()
    stopCheck = check
    sqlite3_progress_handler(
      handle, 5000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<StopCheck>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
      }, Unmanaged.passUnretained(check).toOpaque())
    return check
  }

  /// The limit that a statement has exceeded which failed with this code; nil when it was none.
  func exceeded(_ code: Int32) -> WorkLimit.Exceeded? {
    guard let timer = stopCheck?.timer else { return nil }
    return switch code & 0xFF {
    case SQLITE_INTERRUPT where timer.hasExpired: .seconds(timer.limit.seconds)
    // The database has no file that a disk could be too small for.
    case SQLITE_FULL, SQLITE_TOOBIG: .megabytes(timer.limit.megabytes)
    default: nil
    }
  }
}

/// What a private database may cost.
package struct WorkLimit: Hashable, Sendable {
  package var seconds: Double
  /// Millions of bytes.
  package var megabytes: Int

  package init(seconds: Double = 60, megabytes: Int = 512) {
    self.seconds = seconds
    self.megabytes = megabytes
  }

  package enum Exceeded: Hashable, Sendable {
    case seconds(Double)
    case megabytes(Int)
  }
}

final class StopCheck {
  var mustStop: (() -> Bool)?
  var timer: WorkTimer?
  var onScan: ((Int64) -> Void)?
  var onWork: (() -> Void)?
  /// The statement that runs.
  var running: OpaquePointer?

  var isOver: Bool {
    onWork?()
    if let onScan, let running {
      onScan(Int64(sqlite3_stmt_status(running, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)))
    }
    return timer?.isOver == true || mustStop?() == true
  }
}

/// Counts the time in which the statements of a connection run.
final class WorkTimer {
  let limit: WorkLimit
  private(set) var hasExpired = false
  private var left: Int64
  /// Nil while no statement runs.
  private var started: Int64?

  private static let second: Int64 = 1_000_000_000

  init(_ limit: WorkLimit) {
    self.limit = limit
    left = Int64(limit.seconds * Double(Self.second))
  }

  func start() { started = Self.now }

  func stop() {
    left -= Self.now - (started ?? Self.now)
    started = nil
    guard left <= 0 else { return }
    // What has been stopped must be cleaned up.
    left = Self.second
  }

  var isOver: Bool {
    guard let started, Self.now - started > left else { return false }
    hasExpired = true
    return true
  }

  /// In nanoseconds: of the clock that costs least, which is exact to some milliseconds.
  private static var now: Int64 {
    var time = timespec()
    #if canImport(Darwin)
      clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    #endif
    return Int64(time.tv_sec) * second + Int64(time.tv_nsec)
  }
}
