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

  @Test(
    "the program, killed or asked to end at any moment, leaves old or new",
    arguments: [
      ("kills", 24), ("signals", 40),
    ])
  func ended(campaign: String, tries: Int) throws {
    let ended = try run("Torture", [campaign, "--seed", "7", "--tries", "\(tries)"])
    #expect(ended.code == 0, "\(ended.errors)")
    let rows = ended.output.split(separator: "\n").dropFirst(2)
    #expect(rows.count > 11)
    #expect(rows.allSatisfy { $0.hasSuffix("| 0 |") }, "\(ended.output)")
  }
}
