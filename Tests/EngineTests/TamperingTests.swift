import Foundation
import SchemaHistory
import SchemaInspect
import SchemaManifest
import SchemaTestPrograms
import SchemaTestSupport
import Testing

/// The way in which a manipulation is detected.
private enum Notice: Hashable {
  /// `verify` fails, or cannot read the history.
  case refused
  /// A state of the history reports it.
  case shown(HistoryState)
  case nothing
}

@Suite("Tampering")
struct TamperingTests {
  private static let files = ["0001_lists.yaml", "0002_priority.yaml", "history.lock"]

  private static func history() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.add("0001_lists", "# Lists.\ndescription: Lists\n" + GitSandbox.lists)
    try sandbox.add("0002_priority", GitSandbox.priority)
    try sandbox.freeze(release: "1.0")
    return sandbox
  }

  private static func notice(_ sandbox: Sandbox) -> Notice {
    guard let report = try? sandbox.project().verify(database: nil, timeout: 1) else {
      return .refused
    }
    if report.status != .success { return .refused }
    let state = report.history.map(\.state).first { $0 != .unchanged }
    return state.map { .shown($0) } ?? .nothing
  }

  /// Returns replacements for a byte that differ from it.
  private static func replacements(of byte: UInt8) -> [UInt8] {
    let values = [byte ^ 1, byte ^ 0x80, UInt8(ascii: " "), UInt8(ascii: "\r")]
    return Array(Set(values).subtracting([byte])).sorted()
  }

  @Test("every changed byte of a history and its lock is noticed", arguments: files)
  func everyByte(file: String) throws {
    let sandbox = try Self.history()
    let url = URL(fileURLWithPath: "\(sandbox.folder)/migrations/\(file)")
    let bytes = [UInt8](try Data(contentsOf: url))
    #expect(Self.notice(sandbox) == .nothing)
    var notices: [Notice: Int] = [:]
    for index in oneIn(23, of: bytes.indices) {
      for replacement in Self.replacements(of: bytes[index]) {
        var changed = bytes
        changed[index] = replacement
        try Data(changed).write(to: url)
        let notice = Self.notice(sandbox)
        notices[notice, default: 0] += 1
        // Without git, a line's original release or SQLite version is unknown.
        guard file != HistoryLock.fileName else { continue }
        #expect(notice != .nothing, "byte \(index) of \(file) became \(replacement)")
      }
    }
    #expect(notices[.refused, default: 0] > 0)
    if file == "0001_lists.yaml" { #expect(notices[.shown(.cosmetic), default: 0] > 0) }
  }

  @Test("every removed or repeated byte is noticed", arguments: files)
  func everyLength(file: String) throws {
    let sandbox = try Self.history()
    let url = URL(fileURLWithPath: "\(sandbox.folder)/migrations/\(file)")
    let bytes = [UInt8](try Data(contentsOf: url))
    for index in oneIn(5, of: bytes.indices) {
      var (shorter, longer) = (bytes, bytes)
      shorter.remove(at: index)
      longer.insert(bytes[index], at: index)
      for changed in [shorter, longer] {
        try Data(changed).write(to: url)
        let notice = Self.notice(sandbox)
        guard file != HistoryLock.fileName else { continue }
        #expect(notice != .nothing, "byte \(index) of \(file)")
      }
    }
  }

  @Test("a digest in the lock cannot change without being noticed")
  func digests() throws {
    let sandbox = try Self.history()
    let url = URL(fileURLWithPath: "\(sandbox.folder)/migrations/history.lock")
    let text = try String(contentsOf: url, encoding: .utf8)
    for key in ["canonical", "raw", "schema"] {
      for range in text.ranges(of: "\(key)=") {
        var changed = text
        let digit: Character = changed[range.upperBound] == "0" ? "1" : "0"
        changed.replaceSubrange(range.upperBound...range.upperBound, with: [digit])
        try Data(changed.utf8).write(to: url)
        #expect(Self.notice(sandbox) != .nothing, "\(key)")
      }
    }
  }

  @Test("a repeated line of the lock is refused; the order makes no difference")
  func lines() throws {
    let sandbox = try Self.history()
    try sandbox.addSQL("0003_third", "CREATE TABLE third (x)")
    try sandbox.freeze(release: "1.1")
    let path = sandbox.folder + "/migrations/history.lock"
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    func notice(_ lines: [Substring]) throws -> Notice {
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
      return Self.notice(sandbox)
    }
    for index in lines.indices {
      #expect(try notice(lines + [lines[index]]) == .refused, "line \(index + 1)")
    }
    #expect(try notice([lines[0]] + lines.dropFirst().reversed()) == .nothing)
    #expect(try notice(lines.dropFirst() + [lines[0]]) == .refused)
  }

  @Test(
    "a change without effect is shown as such",
    arguments: [
      ("# Lists.\n", "", HistoryState.cosmetic), ("Lists\n", "All the lists\n", .cosmetic),
      ("\n", "\r\n", .cosmetic), ("\n", "\n\n", .cosmetic),
      ("type: TEXT", "type: 'TEXT'", .cosmetic),
      (
        "name: title, type: TEXT", "type: TEXT, name: title", .cosmetic
      ), ("\n", " # why\n", .cosmetic),
      (
        "{ name: id, type: INTEGER, primary_key: true }",
        "name: id\n          type: INTEGER\n          primary_key: true", .cosmetic
      ),
    ])
  func cosmetic(old: String, new: String, state: HistoryState) throws {
    let sandbox = try Self.history()
    let path = sandbox.folder + "/migrations/0001_lists.yaml"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains(old))
    try Data(text.replacing(old, with: new).utf8).write(to: URL(fileURLWithPath: path))
    #expect(Self.notice(sandbox) == .shown(state))
  }
}
