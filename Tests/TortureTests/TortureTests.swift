import TestSupport
import Testing

@Suite("Torture")
struct TortureTests {
  @Test("a campaign that nobody knows is said, with those that there are")
  func unknown() throws {
    let ended = try run("Torture", ["no-such-campaign"])
    #expect(ended.code == 64)
    #expect(ended.errors.hasPrefix("unknown: no-such-campaign; campaigns: "))
  }
}
