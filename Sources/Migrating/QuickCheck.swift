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
  /// How the pages hang together, and whether every record can be read; not whether the indexes fit
  /// their tables.
  ///
  /// Rows that break a constraint are the user's, and a page that nothing uses does no harm.
  func soundness() throws(DatabaseError) -> Soundness {
    // CHECK constraints may call functions that only the application has.
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = OFF") }
    do throws(DatabaseError) {
      // What concerns pages comes first, in one text.
      let found = try value("PRAGMA main.quick_check(100)")?.text ?? ""
      guard found.hasPrefix("*** in database") else { return .sound }
      if let code = readError(in: found) {
        throw DatabaseError(extendedCode: code, message: "a page cannot be read")
      }
      let problem = found.split(separator: "\n").dropFirst().first { !$0.contains("never used") }
      return problem.map { .damaged(String($0)) } ?? .sound
    } catch {
      switch error.code {
      case .corrupt, .notADatabase: return .damaged(error.message)
      case .error: return .unknown(error.message)
      default: throw error
      }
    }
  }

  /// What is wrong with the pages, nil when nothing is, or when it could not be asked.
  func structuralDamage() throws(DatabaseError) -> String? {
    if case .damaged(let problem) = try soundness() { problem } else { nil }
  }
}

/// A page that could not be read is found by quick_check, too: that says nothing of the database.
private func readError(in found: String) -> Int32? {
  let mark = "unable to get the page. error code="
  guard let start = found.firstRange(of: mark)?.upperBound,
    let code = Int32(found[start...].prefix { $0.isNumber }),
    ![ResultCode.corrupt, .notADatabase].contains(ResultCode(rawValue: code & 0xFF))
  else { return nil }
  return code
}
