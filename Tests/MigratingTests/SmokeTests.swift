import Foundation
import Testing
import SQLite
import Migrating

@Test("the Reminders history applies, and the status move keeps every value")
func reminders() throws {
  let sandbox = try Sandbox()
  for file in try FileManager.default.contentsOfDirectory(atPath: repository + "/migrations") {
    try FileManager.default.copyItem(
      atPath: repository + "/migrations/" + file, toPath: sandbox.folder + "/migrations/" + file)
  }
  let report = try sandbox.migrate(to: "0006")
  #expect(report.failure == nil)
  try sandbox.run("""
    INSERT INTO remindersLists(title) VALUES('Home');
    INSERT INTO reminders(title, isCompleted) VALUES('a',0),('b',1);
    """)
  let second = try sandbox.migrate()
  print(second)
  #expect(try sandbox.rows("SELECT title, status FROM reminders ORDER BY title") == [["a", 0], ["b", 1]])
}

let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent().path
