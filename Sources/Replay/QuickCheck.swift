import SchemaSQLText
import SchemaSQLite

/// The result of `PRAGMA quick_check`.
package enum Soundness: Sendable, Equatable {
  case sound
  /// SQLite's description of the problem.
  case damaged(String)
  /// The reason why the check could not run: the schema calls a function that only the application has.
  case unknown(String)
}

extension Connection {
  /// Checks the structure of the b-trees and whether every record can be read. Does not compare indexes with
  /// their tables.
  ///
  /// Rows that violate a constraint and unused pages are not damage.
  ///
  /// - Parameters:
  ///   - tables: the tables whose rows will be rewritten. In these, a value that no statement can store in a
  ///     column of its type is damage: the rewrite would convert the value and so hide the damage.
  ///   - table: the only table to check, with its indexes; nil checks the whole database.
  package func soundness(
    rewriting tables: Set<Identifier> = [], of table: String? = nil
  ) throws(DatabaseError) -> Soundness {
    // CHECK constraints may call functions that only the application has.
    try execute("PRAGMA ignore_check_constraints = ON")
    defer { try? execute("PRAGMA ignore_check_constraints = OFF") }
    do throws(DatabaseError) {
      let found = try problems(of: "quick_check(\(table.map(Quoting.quoted) ?? "10000"))")
      // The first row of the result contains all problems of pages, in one text.
      let pages = found.first.flatMap { $0.hasPrefix("*** in database") ? $0 : nil } ?? ""
      if let code = readError(in: pages) {
        throw DatabaseError(extendedCode: code, message: "a page cannot be read")
      }
      let firstProblem = pages.split(separator: "\n").dropFirst().first {
        !$0.contains("never used")
      }
      if let firstProblem { return .damaged(String(firstProblem)) }
      // An unreadable record is reported in a row of its own.
      let unreadable = found.dropFirst(pages.isEmpty ? 0 : 1).first { !isOfRow($0) }
      if let unreadable { return .damaged(unreadable) }
      return try mistypedValue(in: found, of: tables).map { .damaged($0) } ?? .sound
    } catch {
      switch error.code {
      case .corrupt, .notADatabase: return .damaged(error.message)
      case .error: return .unknown(error.message)
      default: throw error
      }
    }
  }

  /// The first report of a number in a text column, or of a numeric text in a numeric column.
  private func mistypedValue(
    in found: [String], of tables: Set<Identifier>
  ) throws(DatabaseError) -> String? {
    for problem in found {
      let isStrange = tables.contains { table in
        ["numeric", "text"].contains {
          problem.identifier.hasPrefix(Identifier("\($0) value in \(table)."))
        }
      }
      guard isStrange, try !isMisread(problem) else { continue }
      // ADD COLUMN with DEFAULT TRUE gives existing rows a number, whatever the column's type is.
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

  /// The first ten problems that `integrity_check` reports, including rows that violate a constraint.
  package func integrityCheck() throws(DatabaseError) -> [String] {
    var found: [String] = []
    for problem in try problems(of: "integrity_check(10)") where try !isMisread(problem) {
      found.append(problem)
    }
    return found
  }

  /// The different problems that a check reports. A problem of a row names only the column, so that there may
  /// be as many equal ones as rows.
  ///
  /// - Parameter check: the PRAGMA with its argument: the largest number of problems, or a table.
  private func problems(of check: String) throws(DatabaseError) -> [String] {
    var problems: [String] = []
    for problem in try rows("PRAGMA main.\(check)").compactMap(\.first?.text)
    where problem != "ok" && !problems.contains(problem) {
      problems.append(problem)
    }
    return problems
  }

  /// Whether `quick_check` reports a correct row. SQLite (3.40.1) reads the wrong columns if the key of a
  /// WITHOUT ROWID table is not its first columns.
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
        // A numeric column may contain a text that is not a number.
        let isNumber = kind == "TEXT" ? "AND +\(column) = CAST(\(column) AS NUMERIC)" : ""
        let found = try value(
          "SELECT EXISTS (SELECT 1 FROM main.\(Quoting.quoted(table)) NOT INDEXED "
            + "WHERE typeof(\(column)) IN \(types) \(isNumber))")
        return found?.integer == 0
      }
    }
    return false
  }

  /// The problem that `soundness` finds; nil if it finds none or cannot run.
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

/// Whether a problem of `quick_check` is a value that violates a constraint, and not an unreadable record.
package func isOfRow(_ problem: String) -> Bool {
  problem.contains(" value in ") || problem.hasPrefix("CHECK constraint failed in ")
}

/// The error code of an I/O error or the like, if `quick_check` could not read a page. That does not mean
/// that the database is damaged.
private func readError(in found: String) -> Int32? {
  let mark = "unable to get the page. error code="
  guard let start = found.firstRange(of: mark)?.upperBound,
    let code = Int32(found[start...].prefix { $0.isNumber }),
    ![ResultCode.corrupt, .notADatabase].contains(ResultCode(rawValue: code & 0xFF))
  else { return nil }
  return code
}

/// Damage that SQLite may not detect while it writes. If a page belongs to two b-trees, SQLite overwrites
/// rows of one table with rows of the other.
extension Connection {
  /// The structural damage for a run that rewrites no rows and drops no index. Damage matters only if the run
  /// takes pages from the free list or moves pages. Otherwise it writes to the ledger and to `sqlite_schema`,
  /// whose rows have just been read, and to new pages at the end of the file.
  package func damageOfReusedPages() throws(DatabaseError) -> String? {
    let free = try value("PRAGMA main.freelist_count")
    let moves = try value("PRAGMA main.auto_vacuum")
    return free == 0 && moves == 0 ? nil : try structuralDamage()
  }
}
