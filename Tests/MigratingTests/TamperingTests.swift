import Foundation
import History
import ManifestFormat
import Migrating
import TestSupport
import Testing

/// A change that nobody was to notice.
private enum Notice: Hashable {
  /// `verify` fails, or cannot even read the history.
  case refused
  /// A state says what it is.
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

  /// What a byte becomes: each of these, where it is another.
  private static func replacements(of byte: UInt8) -> [UInt8] {
    let values = [byte ^ 1, byte ^ 0x80, UInt8(ascii: " "), UInt8(ascii: "\r")]
    return Array(Set(values).subtracting([byte])).sorted()
  }

  @Test("every byte of a history and its lock is guarded, whatever it becomes", arguments: files)
  func everyByte(file: String) throws {
    let sandbox = try Self.history()
    let url = URL(fileURLWithPath: "\(sandbox.folder)/migrations/\(file)")
    let bytes = [UInt8](try Data(contentsOf: url))
    #expect(Self.notice(sandbox) == .nothing)
    var notices: [Notice: Int] = [:]
    for index in bytes.indices {
      for replacement in Self.replacements(of: bytes[index]) {
        var changed = bytes
        changed[index] = replacement
        try Data(changed).write(to: url)
        let notice = Self.notice(sandbox)
        notices[notice, default: 0] += 1
        #expect(notice != .nothing, "byte \(index) of \(file) became \(replacement)")
        if file == HistoryLock.fileName { #expect(notice == .refused, "byte \(index)") }
      }
    }
    #expect(notices[.refused, default: 0] > 0)
    if file == "0001_lists.yaml" { #expect(notices[.shown(.cosmetic), default: 0] > 0) }
  }

  @Test("every byte removed or doubled is noticed", arguments: files)
  func everyLength(file: String) throws {
    let sandbox = try Self.history()
    let url = URL(fileURLWithPath: "\(sandbox.folder)/migrations/\(file)")
    let bytes = [UInt8](try Data(contentsOf: url))
    for index in bytes.indices {
      var (shorter, longer) = (bytes, bytes)
      shorter.remove(at: index)
      longer.insert(bytes[index], at: index)
      for changed in [shorter, longer] {
        try Data(changed).write(to: url)
        #expect(Self.notice(sandbox) != .nothing, "byte \(index) of \(file)")
      }
    }
  }

  @Test("every line of the lock that is removed, doubled or swapped with the next is refused")
  func lines() throws {
    let sandbox = try Self.history()
    try sandbox.addSQL("0003_third", "CREATE TABLE third (x)")
    try sandbox.freeze(release: "1.1")
    let path = sandbox.folder + "/migrations/history.lock"
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    // All but the last: a lock that was cut short between two lines only git or a ledger can tell.
    for index in lines.indices.dropLast() {
      var (without, doubled, swapped) = (lines, lines, lines)
      without.remove(at: index)
      doubled.insert(lines[index], at: index)
      swapped.swapAt(index, index + 1)
      for changed in [without, doubled, swapped] {
        try Data((changed.joined(separator: "\n") + "\n").utf8).write(
          to: URL(fileURLWithPath: path))
        #expect(Self.notice(sandbox) == .refused, "line \(index + 1)")
      }
    }
  }

  @Test(
    "what does not change the meaning is shown as such",
    arguments: [
      ("# Lists.\n", "", HistoryState.cosmetic), ("Lists\n", "All the lists\n", .cosmetic),
      ("\n", "\r\n", .lineEnds), ("\n", "\n\n", .cosmetic),
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
