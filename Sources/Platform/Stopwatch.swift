/// The time since a moment, by a monotonic clock. (`ContinuousClock` needs macOS 13 and iOS 16.)
package struct Stopwatch: Sendable {
  private let start = Self.now

  package init() {}

  package var nanoseconds: Int64 { Self.now - start }

  package var milliseconds: Int64 { nanoseconds / 1_000_000 }

  package var seconds: Double { Double(nanoseconds) / 1_000_000_000 }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
