import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// Scenes in which the program writes to migrations directories.
struct FolderScenes {
  private let folder: String

  /// - Parameter folder: the folder for templates.
  init(in folder: String) {
    self.folder = folder
  }

  func all() throws -> [Scene] { [try freezing(), try naming(), try rebasing()] }

  private func makeTemplate(_ name: String, _ ids: [String], frozen: Int) throws -> String {
    let template = "\(folder)/\(name)"
    try FileManager.default.createDirectory(
      atPath: template + "/migrations", withIntermediateDirectories: true)
    for (index, id) in ids.enumerated() {
      let text = "operations:\n  - sql: CREATE TABLE t\(id.filter(\.isLetter)) (id)\n"
      try text.write(
        toFile: "\(template)/migrations/\(id).yaml", atomically: true, encoding: .utf8)
      guard index + 1 == frozen else { continue }
      let ended = try schemactl(["freeze", "--release", "1.0"], in: template)
      guard ended.code == 0 else { throw Unprepared(reason: ended.errors) }
    }
    return template
  }

  /// Returns a scene in which the lock must equal the old or the new one, byte by byte.
  private func freezing() throws -> Scene {
    let ids = (1...30).map { "00\($0 < 10 ? "0" : "")\($0)_\(letters($0))" }
    let template = try makeTemplate("freeze", ids, frozen: 10)
    let words = ["freeze", "--release", "2.0"]
    func lock(_ folder: String) -> Data? {
      FileManager.default.contents(atPath: folder + "/migrations/history.lock")
    }
    let done = template + " done"
    try FileManager.default.copyItem(atPath: template, toPath: done)
    _ = try schemactl(words, in: done)
    let (old, new) = (lock(template), lock(done))
    return Scene(name: "freeze", words: words, template: template) { folder, ended in
      guard [old, new].contains(lock(folder)) else { return "half a lock" }
      guard ended.code != 0 || lock(folder) == new else { return "it said what it has not done" }
      let again = try schemactl(words, in: folder)
      guard again.code == 0, lock(folder) == new else { return "not again: \(again.errors)" }
      return try strangers(folder)
    }
  }

  /// Returns a scene in which a new manifest must be complete or missing, and the next one gets the next
  /// number.
  private func naming() throws -> Scene {
    let template = try makeTemplate("new", ["0001_a", "0002_b"], frozen: 1)
    let words = ["new", "Add something"]
    return Scene(name: "new", words: words, template: template) { folder, ended in
      let isThere = try names(folder).contains("0003_add_something.yaml")
      guard ended.code != 0 || isThere else { return "it said what it has not done" }
      let again = try schemactl(words, in: folder)
      let next = isThere ? "0004" : "0003"
      guard again.output == "migrations/\(next)_add_something.yaml\n" else {
        return "not again: \(again.output)\(again.errors)"
      }
      let verified = try schemactl(["verify"], in: folder)
      guard verified.code == 0 else { return "no manifest: \(verified.errors)" }
      return try strangers(folder)
    }
  }

  /// Returns a scene in which no manifest may be lost or duplicated, and the order must stay the same.
  private func rebasing() throws -> Scene {
    let ids = ["0001_a", "0002_b", "0003_c", "0004_d", "0005_e", "0006_f"]
    let template = try makeTemplate("renumber", ids, frozen: 1)
    // Another branch added a second manifest with the number 2, and a later one.
    for id in ["0002_x", "0007_y"] {
      try "operations: []\n".write(
        toFile: "\(template)/migrations/\(id).yaml", atomically: true, encoding: .utf8)
    }
    func drafts(_ folder: String) throws -> [String] {
      try names(folder).filter {
        ["_b", "_c", "_d", "_e", "_f"].contains($0.dropFirst(4).prefix(2))
      }
      .map { String($0.dropLast(5)) }
    }
    func slugs(_ ids: [String]) -> String { ids.map { $0.suffix(1) }.joined() }
    let words = ["renumber", "0002_b", "0003_c", "0004_d", "0005_e", "0006_f"]
    return Scene(name: "renumber", words: words, template: template) { folder, ended in
      let now = try drafts(folder)
      guard slugs(now) == "bcdef" else { return "not in their order: \(now)" }
      let again = try schemactl(["renumber"] + now, in: folder)
      guard again.code == 0, slugs(try drafts(folder)) == "bcdef" else {
        return "not again: \(again.errors)"
      }
      let verified = try schemactl(["verify"], in: folder)
      guard verified.code == 0 else { return "no history: \(verified.errors)" }
      return try strangers(folder)
    }
  }

  private func letters(_ number: Int) -> String {
    String(decoding: "\(number)".utf8.map { $0 + 49 }, as: UTF8.self)
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder + "/migrations")
      .filter { $0.hasSuffix(".yaml") }.sorted()
  }

  private func strangers(_ folder: String) throws -> String? {
    let found = try Scene.strangers(in: folder + "/migrations") {
      $0.hasSuffix(".yaml") || $0 == "history.lock" || $0 == ".manifest.schema.json"
    }
    return found.isEmpty ? nil : "nobody knows what \(found) are"
  }
}
