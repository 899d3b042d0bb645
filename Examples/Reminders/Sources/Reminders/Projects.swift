import Foundation

/// Stored as text.
enum ProjectColor: String, Sendable {
  case blue, green, red
}

/// A day without a time, stored as text: `2026-11-22`, which sorts as it should.
struct Day: Sendable, Hashable, CustomStringConvertible {
  let year, month, day: Int

  init(_ year: Int, _ month: Int, _ day: Int) {
    (self.year, self.month, self.day) = (year, month, day)
  }

  init?(_ text: String) {
    let parts = text.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3 else { return nil }
    self.init(parts[0], parts[1], parts[2])
  }

  var description: String { String(format: "%04d-%02d-%02d", year, month, day) }
}

/// A list of these is stored as JSON.
struct Step: Sendable, Hashable, Codable {
  var title: String
  var isDone = false
}

struct ProjectTask: Sendable, Hashable {
  let title: String
  let due: Day?
  let steps: [Step]
}

struct ProjectWithTasks: Sendable, Hashable {
  let title: String
  let color: ProjectColor
  let tasks: [ProjectTask]
}

extension Database {
  func addProject(_ project: ProjectWithTasks) throws -> Int64 {
    try write { connection in
      try connection.run(
        "INSERT INTO projects (title, color) VALUES (?1, ?2)", .text(project.title),
        .text(project.color.rawValue))
      let id = connection.lastID
      for task in project.tasks {
        let steps = String(decoding: try JSONEncoder().encode(task.steps), as: UTF8.self)
        try connection.run(
          "INSERT INTO tasks (projectID, title, due, steps) VALUES (?1, ?2, ?3, ?4)", .integer(id),
          .text(task.title), task.due.map { .text($0.description) } ?? .null, .text(steps))
      }
      return id
    }
  }

  func project(_ id: Int64) throws -> ProjectWithTasks? {
    try read { connection in
      let tasks = try connection.rows(
        "SELECT title, due, steps FROM tasks WHERE projectID = ?1 ORDER BY due, id", [.integer(id)]
      ) { row in
        ProjectTask(
          title: row.text(0) ?? "", due: row.text(1).flatMap { Day($0) },
          steps: try JSONDecoder().decode([Step].self, from: Data((row.text(2) ?? "[]").utf8)))
      }
      return try connection.rows(
        "SELECT title, color FROM projects WHERE id = ?1", [.integer(id)]
      ) { row in
        ProjectWithTasks(
          title: row.text(0) ?? "",
          color: row.text(1).flatMap { ProjectColor(rawValue: $0) } ?? .blue, tasks: tasks)
      }.first
    }
  }
}
