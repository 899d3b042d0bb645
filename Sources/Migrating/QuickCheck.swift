import SQLite

/// What `PRAGMA quick_check` says of a database.
enum Soundness: Sendable, Hashable {
  case sound
  /// What is wrong, in SQLite's words.
  case damaged(String)
  /// Why it could not be asked: the schema calls what only the application has.
  case unknown(String)
}

extension Connection {
  /// Every page and every record, but not whether the indexes fit their tables; CHECK constraints,
  /// which may call functions that are not known here, are left out.
  func soundness() throws(DatabaseError) -> Soundness {
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = OFF") }
    do {
      let lines = try rows("PRAGMA main.quick_check(5)").compactMap { $0.first?.text }
        .flatMap { $0.split(separator: "\n") }
        .filter { !$0.hasPrefix("***") }
      return lines == ["ok"] ? .sound : .damaged(lines.joined(separator: "; "))
    } catch {
      switch error.code {
      case .corrupt, .notADatabase: return .damaged(error.message)
      case .error: return .unknown(error.message)
      default: throw error
      }
    }
  }
}
