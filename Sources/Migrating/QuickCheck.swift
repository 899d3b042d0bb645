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
  ///
  /// - Parameter tables: those whose rows are rewritten, in folded spelling. What no statement can
  ///   have stored in a column of its type is damage there: SQLite would turn it into what can be
  ///   stored, and nobody would ever see that it was damaged.
  func soundness(rewriting tables: Set<String> = []) throws(DatabaseError) -> Soundness {
    // CHECK constraints may call functions that only the application has.
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = OFF") }
    do throws(DatabaseError) {
      let found = try rows("PRAGMA main.quick_check(100)").compactMap(\.first?.text)
      // What concerns pages comes first, in one text.
      let pages = found.first.flatMap { $0.hasPrefix("*** in database") ? $0 : nil } ?? ""
      if let code = readError(in: pages) {
        throw DatabaseError(extendedCode: code, message: "a page cannot be read")
      }
      let problem =
        pages.split(separator: "\n").dropFirst().first { !$0.contains("never used") }
        .map(String.init)
        ?? found.first { problem in tables.contains { isStrangeValue(problem, in: $0) } }
        .map {
          "\($0): no statement can have stored it, unless the type was changed in the schema by hand"
        }
      return problem.map { .damaged($0) } ?? .sound
    } catch {
      switch error.code {
      case .corrupt, .notADatabase: return .damaged(error.message)
      case .error: return .unknown(error.message)
      default: throw error
      }
    }
  }

  /// What is wrong, nil when nothing is, or when it could not be asked.
  func structuralDamage(rewriting tables: Set<String> = []) throws(DatabaseError) -> String? {
    if case .damaged(let problem) = try soundness(rewriting: tables) { problem } else { nil }
  }
}

/// `NUMERIC value in table.column`: a number in a column of text, or a text that is a number in a
/// column of numbers.
private func isStrangeValue(_ problem: String, in table: String) -> Bool {
  ["numeric", "text"].contains { problem.lowercased().hasPrefix("\($0) value in \(table).") }
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
