import Foundation
import SchemaPlatform
import Testing

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "known times are formatted in UTC",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999, "2000-02-29T23:59:59.999Z"),
      (951_868_800_000, "2000-03-01T00:00:00.000Z"),
      (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
      (1_735_689_599_007, "2024-12-31T23:59:59.007Z"),
      (1_795_179_600_000, "2026-11-20T13:00:00.000Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
      (-2_203_891_200_001, "1900-02-28T23:59:59.999Z"),
    ] as [(Int64, String)])
  func known(milliseconds: Int64, text: String) {
    #expect(Timestamp(milliseconds: milliseconds).description == text)
  }

  @Test(
    "a time from a file name is read back",
    arguments: [0, 951_782_400_000, 951_868_799_000, 4_107_542_399_000, 253_402_300_799_000]
      as [Int64])
  func compact(milliseconds: Int64) {
    let moment = Timestamp(milliseconds: milliseconds)
    #expect(Timestamp(compact: moment.compact) == moment)
  }

  @Test(
    "an invalid time is not read as another one",
    arguments: [
      "", "20260230T000000Z", "20261320T000000Z", "20261120T240000Z", "20261120T000060Z",
      "20261120 000000Z", "20261120T000000", "+0261120T000000Z", "2026112xT000000Z",
      "20261120T0000000Z", "２0261120T0000Z",
    ])
  func noMoment(text: String) {
    #expect(Timestamp(compact: text) == nil)
  }

  @Test("every day of four hundred years follows the previous one")
  func everyDay() {
    // Counts days by the rules of the calendar, from 1600 on.
    var (year, month, day) = (1600, 1, 1)
    for number in -135_140..<(-135_140 + 146_097) {
      let expected = [year, month, day]
      let text = Timestamp(milliseconds: Int64(number) * 86_400_000).description
      let date = text.prefix(10).split(separator: "-").map { Int($0) }
      guard date == expected else {
        Issue.record("day \(number) is \(text), not \(expected)")
        return
      }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      day += 1
      if day > lengths[month - 1] { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }

  @Test("now is between two readings of another clock")
  func now() {
    let before = Int64(Date().timeIntervalSince1970 * 1000) - 1
    let now = Timestamp.now.milliseconds
    #expect((before...Int64(Date().timeIntervalSince1970 * 1000) + 1).contains(now))
  }
}
