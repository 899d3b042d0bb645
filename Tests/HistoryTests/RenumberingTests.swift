import Foundation
import SchemaAuthoring
import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import Testing

@Suite("Renumbering")
struct RenumberingTests {
  /// 2026-11-20T13:00:00Z
  private let now = Timestamp(milliseconds: 1_795_179_600_000)

  private func renamed(
    _ names: [String], among ids: [String], frozen: Set<ExactText> = []
  ) throws -> [String] {
    try renumbering(names, in: "migrations", among: ids, frozen: frozen, now: now)
      .map { "\($0.from) > \($0.to)" }
  }

  @Test("a draft gets the number after the last one, with the same width")
  func one() throws {
    #expect(try renamed(["0002_x"], among: ["0001_a", "0002_b", "0002_x"]) == ["0002_x > 0003_x"])
    #expect(try renamed(["2_x"], among: ["0001_a", "2_x", "0009_b"]) == ["2_x > 0010_x"])
    #expect(try renamed(["1_x"], among: ["1_x", "9_b"]) == ["1_x > 10_x"])
    #expect(try renamed(["1_x"], among: ["1_x", "99_b"], frozen: ["101_gone"]) == ["1_x > 102_x"])
  }

  @Test("several drafts keep their order, whatever the order of the arguments")
  func several() throws {
    let ids = ["0003_b", "0004_c", "0005_last"]
    #expect(
      try renamed(["0004_c", "0003_b"], among: ids)
        == ["0003_b > 0006_b", "0004_c > 0007_c"])
  }

  @Test("drafts that are already last keep their numbers, even after a gap")
  func nothing() throws {
    #expect(try renamed(["0009_x"], among: ["0001_a", "0009_x"]).isEmpty)
    #expect(try renamed(["0001_x"], among: ["0001_x"]).isEmpty)
  }

  @Test("in a history with timestamps, the new number is the current time or the next free one")
  func timestamps() throws {
    let ids = ["20240101120000_a", "20240101110000_x", "20240101100000_y"]
    #expect(
      try renamed(["20240101110000_x", "20240101100000_y"], among: ids) == [
        "20240101100000_y > 20261120130000_y", "20240101110000_x > 20261120130001_x",
      ])
    #expect(
      try renamed(["1_x"], among: ["1_x", "20301231235958_a"]) == ["1_x > 20301231235959_x"])
  }

  @Test("a number or a file can name a draft; of two with one number, the draft is meant")
  func names() throws {
    let ids = ["0002_b", "0002_x", "0003_c"]
    #expect(try renamed(["2"], among: ids, frozen: ["0002_b"]) == ["0002_x > 0004_x"])
    #expect(
      try renamed(["migrations/0002_x.yaml"], among: ids) == ["0002_x > 0004_x"])
    let failure = #expect(throws: Failure.self) { try renamed(["2"], among: ids) }
    #expect(failure?.statement == ["`2` is the number of `0002_b` and `0002_x`"])
  }

  @Test("frozen and missing migrations are refused")
  func refused() {
    for name in ["0001_a", "1"] {
      let failure = #expect(throws: Failure.self) {
        try renamed([name], among: ["0001_a"], frozen: ["0001_a"])
      }
      #expect(failure?.status == .usage && failure?.message.hasPrefix("`0001_a` is frozen") == true)
    }
    for name in ["7", ""] {
      let failure = #expect(throws: Failure.self) { try renamed([name], among: ["0001_a"]) }
      #expect(failure?.statement == ["`migrations` has no migration `\(name)`"])
    }
  }

  @Test("a file is never overwritten")
  func files() throws {
    let folder = try TemporaryFolder()
    try folder.write("0001_a.yaml", "a")
    try folder.write("0002_a.yaml", "b")
    #expect(throws: FileError.self) {
      try folder.folder.rename([Renaming(from: "0001_a", to: "0002_a")])
    }
    #expect(try String(contentsOfFile: folder.path("0002_a.yaml"), encoding: .utf8) == "b")
    try folder.folder.rename([Renaming(from: "0001_a", to: "0003_a")])
    #expect(try folder.names() == ["0002_a.yaml", "0003_a.yaml"])
  }

  @Test(
    "a name that becomes free during renumbering can be used",
    arguments: [["0000_q", "0003_q", "0004_q"], ["0000_q", "0005_q", "0006_q"]])
  func freed(names: [String]) throws {
    let folder = try TemporaryFolder()
    for name in names { try folder.write(name + ".yaml", name) }
    try folder.folder.rename(
      try renumbering(
        names, in: "migrations", among: names + ["0002_b"], frozen: ["0002_b"], now: now))
    #expect(try folder.names() == ["0003_q.yaml", "0004_q.yaml", "0005_q.yaml"])
    for (new, old) in zip(["0003_q", "0004_q", "0005_q"], names) {
      #expect(try String(contentsOfFile: folder.path(new + ".yaml"), encoding: .utf8) == old)
    }
  }

  @Test("a draft that keeps its number is not renamed")
  func stays() throws {
    #expect(
      try renamed(["0000_q", "0004_q"], among: ["0000_q", "0002_b", "0004_q"])
        == ["0000_q > 0003_q"])
  }

  @Test("either all files are renamed or none")
  func allOrNone() throws {
    let folder = try TemporaryFolder()
    for name in ["0001_a", "0002_b", "0005_b"] { try folder.write(name + ".yaml", name) }
    let before = try folder.names()
    for renamings in [
      [Renaming(from: "0001_a", to: "0004_a"), Renaming(from: "0002_b", to: "0005_b")],
      [Renaming(from: "0001_a", to: "0005_b"), Renaming(from: "0002_b", to: "0006_b")],
      // Detected only after the first files were renamed.
      [Renaming(from: "0003_gone", to: "0004_gone"), Renaming(from: "0002_b", to: "0006_b")],
    ] {
      #expect(throws: FileError.self) { try folder.folder.rename(renamings) }
      #expect(try folder.names() == before)
    }
  }
}
