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
    let day = floorDivided(milliseconds, by: millisecondsPerDay)
    let rest = milliseconds - day * millisecondsPerDay
    let date = civilDate(ofDay: day)
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
      + "T\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2))"
      + ":\(padded(rest / 1000 % 60, 2)).\(padded(rest % 1000, 3))Z"
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

private let millisecondsPerDay: Int64 = 86_400_000

private func padded(_ number: Int64, _ width: Int) -> String { padded("\(number)", width) }

/// Digits with as many zeros before them as they need to be so many.
package func padded(_ digits: String, _ width: Int) -> String {
  String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

private func floorDivided(_ number: Int64, by divisor: Int64) -> Int64 {
  number / divisor - (number % divisor < 0 ? 1 : 0)
}

/// Converts a day counted from 1970-01-01 to a date in the Gregorian calendar.
///
/// The calendar repeats every 400 years, 146,097 days. In years that begin in March the leap day
/// comes last, so that every month's first day is a linear function of its number: 153 days for
/// each five months.
private func civilDate(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
  // There are 719,468 days between 0000-03-01 and 1970-01-01.
  let sinceMarchOf0 = day + 719_468
  let era = floorDivided(sinceMarchOf0, by: 146_097)
  let dayOfEra = sinceMarchOf0 - era * 146_097
  let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
  let yearOfEra = (dayOfEra - leapDays) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return (
    era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month,
    dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
  )
}
