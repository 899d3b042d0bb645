import Foundation
import SchemaTestPrograms

extension Sandbox {
  package static let statusMove = "0007_replace_is_completed_with_status"

  /// Returns a sandbox with the Reminders history, without its lock.
  package static func reminders() throws -> Sandbox {
    let sandbox = try Sandbox()
    let files = try FileManager.default.contentsOfDirectory(atPath: repository.path + "/migrations")
    for file in files where file.hasSuffix(".yaml") {
      try FileManager.default.copyItem(
        atPath: "\(repository.path)/migrations/\(file)",
        toPath: "\(sandbox.folder)/migrations/\(file)")
    }
    return sandbox
  }

  /// Creates a Reminders database at release 1.0 with lists, tags and the given number of reminders. Every
  /// third reminder is completed. All were last updated in 2020.
  package func makeRelease1(reminders: Int = 30) throws {
    try migrate(to: "0006")
    try run(
      """
      INSERT INTO remindersLists (id, title) VALUES ('home', 'Home'), ('work', 'Work');
      INSERT INTO tags (id, title) VALUES ('t1', 'urgent'), ('t2', 'someday');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(reminders))
      INSERT INTO reminders (id, title, notes, remindersListID, isCompleted, updatedAt)
        SELECT 'r' || i, 'Reminder ' || i, hex(zeroblob(400)), iif(i % 2, 'home', 'work'), i % 3 = 0,
          '2020-01-01T00:00:00.000Z' FROM n;
      INSERT INTO remindersTags (reminderID, tagID) SELECT id, 't1' FROM reminders;
      INSERT INTO coverImages (remindersListID, image) VALUES ('home', x'00ff');
      """)
  }
}

/// A small random number generator with a seed, so that a failure can be reproduced.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  package mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &self) < percent
  }

  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }
}
