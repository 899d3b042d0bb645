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

  @Test("a copy that is killed leaves the old content or the new, and nothing in the way")
  func killedCopies() throws {
    let ended = try run("Torture", ["killed-copies", "--seed", "1", "--tries", "12"])
    #expect(ended.code == 0, "\(ended.errors)")
    for command in ["--backup", "--dry-run=copy", "restore"] {
      for journal in ["delete", "wal"] {
        #expect(ended.output.contains("| kill -9 of \(command), \(journal) | 2 | 0 |"))
      }
    }
  }
}
