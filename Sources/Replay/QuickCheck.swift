import SchemaSQLText
import SchemaSQLite

/// The result of `PRAGMA quick_check`.
package enum Soundness: Sendable, Equatable {
  case sound
  /// The problem, in SQLite's words.
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
  /// - Parameters:
  ///   - tables: those whose rows are rewritten. A value that no
  ///   statement can store in a column of that type is damage: the rewrite would convert it, and so hide the
  ///   damage.
  ///   - table: only this one and its indexes; nil is all of the database.
  package func soundness(
    rewriting tables: Set<Identifier> = [], of table: String? = nil
  ) throws(DatabaseError) -> Soundness {
    // CHECK constraints may call functions that only the application has.
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = OFF") }
    do throws(DatabaseError) {
      let found = try problems(of: "quick_check(\(table.map(Quoting.quoted) ?? "10000"))")
      // What concerns pages comes first, in one text.
      let pages = found.first.flatMap { $0.hasPrefix("*** in database") ? $0 : nil } ?? ""
      if let code = readError(in: pages) {
        throw DatabaseError(extendedCode: code, message: "a page cannot be read")
      }
      let amiss = pages.split(separator: "\n").dropFirst().first { !$0.contains("never used") }
      if let amiss { return .damaged(String(amiss)) }
      // A record that cannot be read is a row of the answer like any other.
      let unreadable = found.dropFirst(pages.isEmpty ? 0 : 1).first { !isOfRow($0) }
      if let unreadable { return .damaged(unreadable) }
      return try strangeValue(in: found, of: tables).map { .damaged($0) } ?? .sound
    } catch {
      switch error.code {
      case .corrupt, .notADatabase: return .damaged(error.message)
      case .error: return .unknown(error.message)
      default: throw error
      }
    }
  }

  /// A number in a column of text, or a text that is a number in a column of numbers.
  private func strangeValue(
    in found: [String], of tables: Set<Identifier>
  ) throws(DatabaseError) -> String? {
    for problem in found {
      let isStrange = tables.contains { table in
        ["numeric", "text"].contains {
          problem.identifier.hasPrefix(Identifier("\($0) value in \(table)."))
        }
      }
      guard isStrange, try !isMisread(problem) else { continue }
      // ADD COLUMN with DEFAULT TRUE gives existing rows a number, regardless of the type.
      let isAddedTruth = try value(
        """
        SELECT 1 FROM pragma_table_list AS t, pragma_table_info(t.name, 'main') AS c
        WHERE t.schema = 'main' AND lower(t.name || '.' || c.name) = lower(?1)
          AND lower(c.dflt_value) IN ('true', 'false')
        """,
        [
          .text(
            problem.firstRange(of: " value in ").map { String(problem[$0.upperBound...]) } ?? "")
        ])
      guard isAddedTruth == nil else { continue }
      return
        "\(problem): no statement can have stored it, unless somebody changed the type in the "
        + "schema by hand"
    }
    return nil
  }

  /// The first ten problems of `integrity_check`, rows that break a constraint among them.
  package func integrityCheck() throws(DatabaseError) -> [String] {
    var found: [String] = []
    for problem in try problems(of: "integrity_check(10)") where try !isMisread(problem) {
      found.append(problem)
    }
    return found
  }

  /// Each once: of a row it names the column only, and there may be as many as there are rows.
  ///
  /// - Parameter check: the PRAGMA with its argument: how many problems it looks for, or a table.
  private func problems(of check: String) throws(DatabaseError) -> [String] {
    var problems: [String] = []
    for problem in try rows("PRAGMA main.\(check)").compactMap(\.first?.text)
    where problem != "ok" && !problems.contains(problem) {
      problems.append(problem)
    }
    return problems
  }

  /// Whether `quick_check` reports a correct row: if the key of a table without rowid is not its first columns,
  /// SQLite (3.40.1) reads the wrong columns.
  private func isMisread(_ problem: String) throws(DatabaseError) -> Bool {
    let tables = try rows(
      """
      SELECT name FROM pragma_table_list AS t WHERE schema = 'main' AND wr AND EXISTS (
        SELECT 1 FROM pragma_table_info(t.name, 'main') AS key
        WHERE pk > 0 AND pk <> cid + 1)
      """
    ).compactMap(\.first?.text)
    for table in tables {
      if problem == "CHECK constraint failed in \(table)" { return true }
      for (kind, types) in [
        ("NULL", "('null')"), ("NUMERIC", "('integer', 'real')"), ("TEXT", "('text')"),
      ] {
        let start = "\(kind) value in \(table)."
        guard problem.hasPrefix(start) else { continue }
        let column = Quoting.quoted(String(problem.dropFirst(start.count)))
        // A text that is not a number may occur in a column of numbers.
        let isNumber = kind == "TEXT" ? "AND +\(column) = CAST(\(column) AS NUMERIC)" : ""
        let found = try value(
          "SELECT EXISTS (SELECT 1 FROM main.\(Quoting.quoted(table)) NOT INDEXED "
            + "WHERE typeof(\(column)) IN \(types) \(isNumber))")
        return found?.integer == 0
      }
    }
    return false
  }

  /// What is wrong, nil when nothing is, or when it could not be asked.
  package func structuralDamage(
    rewriting tables: Set<Identifier> = [], of table: String? = nil
  ) throws(DatabaseError) -> String? {
    if case .damaged(let problem) = try soundness(rewriting: tables, of: table) {
      problem
    } else {
      nil
    }
  }
}

/// Of what `quick_check` finds: a value that breaks a constraint, not a record that cannot be read.
package func isOfRow(_ problem: String) -> Bool {
  problem.contains(" value in ") || problem.hasPrefix("CHECK constraint failed in ")
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

/// Damage that SQLite itself may not meet while it writes, and that makes it write one table's rows
/// over another's: a page that belongs to two.
extension Connection {
  /// `structuralDamage` for a run that rewrites no row and drops no index. Damage matters only where the run takes
  /// pages from the free list or moves pages. Otherwise it writes to the ledger and
  /// to `sqlite_schema`, all of whose rows have just been read, and to pages at the file's end.
  package func damageOfReusedPages() throws(DatabaseError) -> String? {
    let free = try value("PRAGMA main.freelist_count")
    let moves = try value("PRAGMA main.auto_vacuum")
    return free == 0 && moves == 0 ? nil : try structuralDamage()
  }
}
