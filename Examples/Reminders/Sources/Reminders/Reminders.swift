enum Status: Int64, Sendable {
  case incomplete, completed, completing
}

struct ReminderRow: Sendable, Hashable {
  let id: Int64
  let title: String
  let status: Status
  let updatedAt: String?
}

extension Database {
  @discardableResult
  func addList(_ title: String) throws -> Int64 {
    try write {
      try $0.run("INSERT INTO lists (title) VALUES (?1)", .text(title))
      return $0.lastID
    }
  }

  func deleteList(_ id: Int64) throws {
    try write { try $0.run("DELETE FROM lists WHERE id = ?1", .integer(id)) }
  }

  func addReminder(_ title: String, to list: Int64) throws -> Int64 {
    try write {
      try $0.run(
        "INSERT INTO reminders (title, listID) VALUES (?1, ?2)", .text(title), .integer(list))
      return $0.lastID
    }
  }

  /// A reminder that is completing can be taken back until all of them are completed.
  func setCompleting(_ isCompleting: Bool, reminder id: Int64) throws {
    let status: Status = isCompleting ? .completing : .incomplete
    try write {
      try $0.run(
        "UPDATE reminders SET status = ?1 WHERE id = ?2", .integer(status.rawValue), .integer(id))
    }
  }

  /// - Throws: ``RemindersError`` for the sixth tag of a reminder.
  func addTag(_ title: String, to reminder: Int64) throws {
    try write {
      try $0.run("INSERT INTO tags (title) VALUES (?1) ON CONFLICT DO NOTHING", .text(title))
      try $0.run(
        "INSERT INTO reminderTags (reminderID, tagID) SELECT ?1, id FROM tags WHERE title = ?2",
        .integer(reminder), .text(title))
    }
  }

  func setPhoto(_ image: [UInt8], of reminder: Int64) throws {
    try write {
      try $0.run(
        "INSERT INTO photos (reminderID, image) VALUES (?1, ?2) "
          + "ON CONFLICT (reminderID) DO UPDATE SET image = excluded.image",
        .integer(reminder), .blob(image))
    }
  }

  func photo(of reminder: Int64) throws -> [UInt8]? {
    try read {
      try $0.rows("SELECT image FROM photos WHERE reminderID = ?1", [.integer(reminder)]) {
        $0.blob(0)
      }.first
    }
  }

  /// The reminders of a list, now and whenever they change.
  func reminders(on list: Int64) -> AsyncThrowingStream<[ReminderRow], any Error> {
    values { connection in
      try connection.rows(
        "SELECT id, title, status, updatedAt FROM reminders WHERE listID = ?1 ORDER BY id",
        [.integer(list)]
      ) { row in
        ReminderRow(
          id: row.integer(0), title: row.text(1) ?? "",
          status: Status(rawValue: row.integer(2)) ?? .incomplete, updatedAt: row.text(3))
      }
    }
  }

  func listTitles() throws -> [String] {
    try read { try $0.rows("SELECT title FROM lists ORDER BY id") { $0.text(0) ?? "" } }
  }
}
