import Foundation
import SchemaKit
import Testing

@testable import Reminders

@Suite("Reminders")
struct RemindersTests {
  /// Each test has a database of its own.
  private let database: Database
  private let list: Int64

  init() async throws {
    database = try Database(completingTime: .milliseconds(300))
    list = try await database.addList("Home")
  }

  private func rows() async throws -> [ReminderRow] {
    for try await rows in await database.reminders(on: list) { return rows }
    return []
  }

  @Test("a file is migrated at launch, and opened again as it was left")
  func file() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("reminders.sqlite").path
    try await Database(path: path).addList("Work")
    #expect(try await Database(path: path).listTitles() == ["Work"])
  }

  @Test("the previews have something to show")
  func preview() async throws {
    #expect(try await Database.preview().listTitles() == ["Home"])
  }

  @Test("a change of a reminder is stamped, and a list remains")
  func triggers() async throws {
    let id = try await database.addReminder("Milk", to: list)
    #expect(try await rows().first?.updatedAt == nil)
    try await database.setCompleting(true, reminder: id)
    #expect(try await rows().first?.updatedAt != nil)
    try await database.deleteList(list)
    #expect(try await database.listTitles() == ["Reminders"])
  }

  @Test("the sixth tag is refused in words for the user")
  func tags() async throws {
    let id = try await database.addReminder("Milk", to: list)
    for tag in ["a", "b", "c", "d", "e"] { try await database.addTag(tag, to: id) }
    let error = await #expect(throws: RemindersError.self) {
      try await database.addTag("f", to: id)
    }
    #expect(error?.errorDescription == "A reminder can have at most five tags.")
    #expect(
      try await database.read { try $0.rows("SELECT title FROM tags") { $0.text(0) } }.count == 5)
  }

  @Test("completing reminders are completed together, a while after the last change")
  func completing() async throws {
    let first = try await database.addReminder("Milk", to: list)
    let second = try await database.addReminder("Bread", to: list)
    let third = try await database.addReminder("Salt", to: list)
    var seen: [[Status]] = []
    let updates = await database.reminders(on: list)
    Task {
      try await database.setCompleting(true, reminder: first)
      try await database.setCompleting(true, reminder: third)
      try await database.setCompleting(false, reminder: third)
      try await database.setCompleting(true, reminder: second)
    }
    for try await rows in updates {
      seen.append(rows.map(\.status))
      if seen.last?.contains(.completed) == true { break }
    }
    #expect(seen.last == [.completed, .completed, .incomplete])
  }

  @Test("a query runs again when a table that it reads changes, and SQLite is not asked for nobody")
  func observation() async throws {
    #expect(await !database.isObserved)
    do {
      let updates = await database.reminders(on: list)
      #expect(await database.isObserved)
      let writing = Task {
        try await database.addTag("unread", to: try await database.addReminder("Milk", to: list))
      }
      for try await rows in updates where rows.count == 1 { break }
      try await writing.value
    }
    // Nobody holds the results any more.
    while await database.isObserved { await Task.yield() }
  }

  @Test("a photo goes with its reminder, and a list of reminders reads none")
  func photos() async throws {
    let id = try await database.addReminder("Milk", to: list)
    try await database.setPhoto([1, 2, 3], of: id)
    try await database.setPhoto([4], of: id)
    #expect(try await database.photo(of: id) == [4])
    try await database.deleteList(list)
    #expect(try await database.photo(of: id) == nil)
  }

  @Test("a project has tasks with values of the app's own types")
  func projects() async throws {
    let project = ProjectWithTasks(
      title: "Garden", color: .green,
      tasks: [
        ProjectTask(title: "Think", due: nil, steps: []),
        ProjectTask(
          title: "Dig", due: Day(2026, 4, 1), steps: [Step(title: "Spade", isDone: true)]),
      ])
    #expect(try await database.project(database.addProject(project)) == project)
    let plan = try await database.read {
      try $0.rows("EXPLAIN QUERY PLAN SELECT * FROM tasks WHERE projectID = 1") { $0.text(3) ?? "" }
    }
    #expect(plan.joined().contains("tasks_projectID"))
  }

  #if DEBUG
    @Test("statements are shown in debug builds")
    func tracing() async throws {
      let shown = Shown()
      await database.trace { shown.add($0) }
      try await database.addList("It's here")
      #expect(shown.all.contains("INSERT INTO lists (title) VALUES ('It''s here')"))
    }

    private final class Shown: @unchecked Sendable {
      private let lock = NSLock()
      private var statements: [String] = []
      func add(_ statement: String) { lock.withLock { statements.append(statement) } }
      var all: [String] { lock.withLock { statements } }
    }
  #endif
}
