import Migrating
import Planning
import SQLText
import SQLite
import SchemaModel

/// Asks SQLite, on a private database, what a piece of SQL does to rows.
final class Probe {
  private let application: Application
  private var opened: Connection?
  private var constants: [String: Bool] = [:]
  /// What kept SQLite from answering: what was answered then says nothing.
  private(set) var fault: DatabaseError?

  init(_ application: Application) {
    self.application = application
  }

  private var connection: Connection {
    get throws(DatabaseError) {
      if let opened { return opened }
      let connection = try Connection(path: nil)
      try application.registerStubs(on: connection)
      try connection.execute("CREATE TABLE one_row (a); INSERT INTO one_row VALUES (1)")
      opened = connection
      return connection
    }
  }

  /// Whether ADD COLUMN takes a DEFAULT when the table has rows (ALTER TABLE, section 4).
  func isConstant(_ value: String) -> Bool {
    if let known = constants[value] { return known }
    let isConstant = succeeds("ALTER TABLE one_row ADD COLUMN b DEFAULT \(value)")
    constants[value] = isConstant
    return isConstant
  }

  /// The function that an expression calls and nobody has declared.
  func missingName(in expression: String) -> MissingName? {
    guard expression.utf8.contains(UInt8(ascii: "(")) else { return nil }
    do {
      _ = try connection.prepare("SELECT \(expression)")
      return nil
    } catch {
      note(error)
      return MissingName(message: error.message)
    }
  }

  private func succeeds(_ sql: String) -> Bool {
    do {
      let connection = try connection
      try connection.execute("SAVEPOINT probe")
      defer { try? connection.execute("ROLLBACK TO probe; RELEASE probe") }
      try connection.execute(sql)
      return true
    } catch {
      note(error)
      return false
    }
  }

  private func note(_ error: DatabaseError) {
    if error.isFault { fault = fault ?? error }
  }

  /// Values that the old checks of a table let through and a new one refuses.
  enum Refused {
    /// `status = 2`.
    case values(String)
    /// None of those that were tried.
    case nothing
    /// The checks cannot be evaluated here.
    case unknown
  }

  /// Tries the values that the checks themselves name, those next to them, and some others.
  func refused(by check: TableShape.Check, of table: TableShape, after old: [TableShape.Check])
    -> Refused
  {
    let columns = check.columns.sorted()
    guard (1...2).contains(columns.count) else { return .unknown }
    let names = columns.map { Quoting.quoted($0) }
    let types = columns.map { table.column($0)?.type.map { " \($0)" } ?? "" }
    let candidates = candidates(of: [check] + old).map { "SELECT \($0)" }
      .joined(separator: " UNION ")
    let sources = columns.indices.map { "(\(candidates)) AS c\($0)" }.joined(separator: ", ")
    let former = old.filter { $0.columns.isSubset(of: check.columns) }
      .map { "coalesce((\($0.text)), 1) AND " }.joined()
    let tableName = Quoting.quoted(table.name)
    do {
      let connection = try connection
      try connection.execute("SAVEPOINT probe")
      defer { try? connection.execute("ROLLBACK TO probe; RELEASE probe") }
      try connection.execute(
        """
        CREATE TABLE \(tableName) (\(zip(names, types).map { $0 + $1 }.joined(separator: ", ")));
        INSERT INTO \(tableName) SELECT * FROM \(sources);
        """)
      let found = try connection.rows(
        """
        SELECT \(names.map { "quote(\($0))" }.joined(separator: ", ")) FROM \(tableName)
        WHERE \(former)NOT coalesce((\(check.text)), 1) LIMIT 1
        """)
      guard let row = found.first else { return .nothing }
      let values = zip(columns, row).map { column, value in
        "\(table.column(column)?.name ?? column) = \(value.text ?? "NULL")"
      }
      return .values(values.joined(separator: ", "))
    } catch {
      note(error)
      return .unknown
    }
  }

  private func candidates(of checks: [TableShape.Check]) -> [String] {
    var values: Set<String> = ["NULL", "0", "1", "2", "-1", "''", "'x'", "1.5"]
    for token in checks.flatMap(\.tokens) where values.count < 60 {
      let text = String(decoding: token, as: UTF8.self)
      if let number = Int64(text), number < Int64.max - 1 {
        values.formUnion(["\(number - 1)", text, "\(number + 1)"])
      } else if text.hasPrefix("'") {
        values.insert(text)
      }
    }
    return values.sorted()
  }
}
