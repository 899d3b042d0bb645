/// A moment in UTC, with millisecond precision.
package struct Timestamp: Sendable, Equatable, CustomStringConvertible {
  /// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
  package let milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// The time of the system's clock.
  package static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// `2026-11-20T13:00:00.000Z` (ISO 8601).
  package var description: String {
    let rest = (milliseconds % 1000 + 1000) % 1000
    var seconds = time_t((milliseconds - rest) / 1000)
    var time = tm()
    gmtime_r(&seconds, &time)
    func digits(_ number: Int32, _ width: Int = 2) -> String { padded("\(number)", width) }
    return "\(digits(time.tm_year + 1900, 4))-\(digits(time.tm_mon + 1))-\(digits(time.tm_mday))"
      + "T\(digits(time.tm_hour)):\(digits(time.tm_min)):\(digits(time.tm_sec))"
      + ".\(digits(Int32(rest), 3))Z"
  }

  /// `2026-11-20T13:00:00Z`
  package var toTheSecond: String { String(description.prefix(19)) + "Z" }

  /// To the second, for names of files: `20261120T130000Z`.
  package var compact: String {
    String(description.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
  }

  /// Parses the format of `compact`; nil for an invalid time.
  package init?(compact text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 16 else { return nil }
    func part(_ range: Range<Int>) -> Int32 {
      Int32(String(decoding: digits[range], as: UTF8.self)) ?? 0
    }
    var time = tm()
    time.tm_year = part(0..<4) - 1900
    time.tm_mon = part(4..<6) - 1
    time.tm_mday = part(6..<8)
    time.tm_hour = part(9..<11)
    time.tm_min = part(11..<13)
    time.tm_sec = part(13..<15)
    self.init(milliseconds: Int64(timegm(&time)) * 1000)
    // An invalid date such as 30 February was normalised to a different one.
    guard compact == text else { return nil }
  }
}

/// The digits, padded on the left with zeros to a width.
package func padded(_ digits: String, _ width: Int) -> String {
  String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

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
