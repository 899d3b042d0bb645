/// The time since a moment, by a clock that nobody sets. (`ContinuousClock` needs macOS 13 and iOS 16.)
package struct Stopwatch: Sendable {
  private let start = Self.nanoseconds

  package init() {}

  package var milliseconds: Int64 { (Self.nanoseconds - start) / 1_000_000 }

  package var seconds: Double { Double(Self.nanoseconds - start) / 1_000_000_000 }

  private static var nanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
