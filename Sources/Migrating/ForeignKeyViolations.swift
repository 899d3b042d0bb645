import SQLText
import SQLite
import SchemaModel

/// The rows of some tables whose parents are missing, as `PRAGMA foreign_key_check` finds them.
struct ForeignKeyViolations {
  /// One foreign key of one row that points at nothing.
  private struct Violation: Hashable {
    let table: String
    /// The rowid; in tables without one the primary key, as SQL.
    let row: String
    let key: Key
  }

  private struct Key: Hashable {
    let columns: [String]
    let parent: String
  }

  private var found: Set<Violation> = []
  /// Tables whose check is an error (`foreign key mismatch`), folded.
  private var errors: [String: String] = [:]
  /// The checked tables' root pages, by which a renamed one is known again.
  private var rootPages: [String: Int64] = [:]
  /// The checked tables' columns, by whose places renamed ones are known again.
  private var columns: [String: [String]] = [:]

  var isEmpty: Bool { found.isEmpty && errors.isEmpty }

  init(of tables: [String], in schema: Schema, on connection: Connection) throws(DatabaseError) {
    for name in tables {
      guard let table = schema.table(name) else { continue }
      rootPages[name] = table.rootPage
      do {
        try check(table, as: name, on: connection)
      } catch  where !error.isFault {
        errors[name] = error.message
      }
    }
  }

  private mutating func check(
    _ table: SchemaObject, as name: String, on connection: Connection
  ) throws(DatabaseError) {
    let text = [Value.text(table.name)]
    columns[name] = try connection.rows("SELECT name FROM pragma_table_info(?1)", text)
      .compactMap { $0[0].text?.asciiLowercased }
    let check = try connection.prepare(
      "PRAGMA main.foreign_key_check(\(Quoting.quoted(table.name)))")
    var keys: [Int64: Key] = [:]
    var hasRowless = false
    while try check.step() {
      if keys.isEmpty { keys = try self.keys(of: text, on: connection) }
      guard let key = keys[check.integer(3)] else { continue }
      if try check.value(1) == .null {
        hasRowless = true
      } else {
        found.insert(Violation(table: name, row: "\(check.integer(1))", key: key))
      }
    }
    if hasRowless { try findRowless(table, as: name, Array(keys.values), on: connection) }
  }

  private func keys(
    of table: [Value], on connection: Connection
  ) throws(DatabaseError) -> [Int64: Key] {
    var keys: [Int64: Key] = [:]
    let rows = try connection.rows(
      "SELECT id, \"from\", \"table\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq", table)
    for row in rows {
      guard let id = row[0].integer else { continue }
      keys[id] = Key(
        columns: (keys[id]?.columns ?? []) + [row[1].text?.asciiLowercased ?? ""],
        parent: row[2].text ?? "")
    }
    return keys
  }

  /// The check names no row of a WITHOUT ROWID table: its rows are told apart by primary key and by
  /// the values that point at nothing.
  private mutating func findRowless(
    _ table: SchemaObject, as name: String, _ keys: [Key], on connection: Connection
  ) throws(DatabaseError) {
    let primary = try connection.rows(
      "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk", [.text(table.name)]
    ).compactMap { $0[0].text }
    for key in keys {
      let parents = try connection.rows(
        "SELECT coalesce(\"to\", (SELECT name FROM pragma_table_info(f.\"table\") WHERE pk = f.seq + 1)) "
          + "FROM pragma_foreign_key_list(?1) f WHERE \"table\" = ?2 AND lower(\"from\") IN ("
          + key.columns.map { Quoting.stringLiteral($0) }.joined(separator: ", ")
          + ") ORDER BY id, seq", [.text(table.name), .text(key.parent)]
      ).compactMap { $0[0].text }
      guard parents.count >= key.columns.count else { continue }
      let match = zip(parents, key.columns).map { parent, column in
        "p.\(Quoting.quoted(parent)) = c.\(Quoting.quoted(column))"
      }.joined(separator: " AND ")
      let given = key.columns.map { "c.\(Quoting.quoted($0)) IS NOT NULL" }
        .joined(separator: " AND ")
      let identity = (primary + key.columns).map { "quote(c.\(Quoting.quoted($0)))" }
        .joined(separator: " || ', ' || ")
      let rows = try connection.rows(
        """
        SELECT \(identity) FROM main.\(Quoting.quoted(table.name)) c WHERE \(given)
        AND NOT EXISTS (SELECT 1 FROM main.\(Quoting.quoted(key.parent)) p WHERE \(match))
        """)
      for row in rows {
        found.insert(Violation(table: name, row: row[0].text ?? "", key: key))
      }
    }
  }

  /// What is broken here and was not broken before; nil when nothing is.
  func message(beyond before: ForeignKeyViolations) -> String? {
    let former = formerNames(in: before)
    let broken = errors.filter { before.errors[former[$0.key] ?? $0.key] == nil }
      .map { "the foreign keys of \($0.key) cannot be checked: \($0.value)" }.sorted()
    if !broken.isEmpty { return broken.joined(separator: "; ") }
    // By row, so that a million of them are not each held against a million.
    let known = Dictionary(grouping: before.found) { [$0.table, $0.row] }
    let new = found.filter { violation in
      let old = known[[former[violation.table] ?? violation.table, violation.row]] ?? []
      return !old.contains { before.isSame($0, as: violation, in: self) }
    }
    guard !new.isEmpty else { return nil }
    let list = new.map { "row \($0.row) of \($0.table) points at no row of \($0.key.parent)" }
      .sorted()
    let more = list.count > 10 ? " and \(list.count - 10) more" : ""
    return "foreign keys are broken by this migration: "
      + list.prefix(10).joined(separator: "; ") + more
  }

  /// Whether two violations of one row are of the same key; its column and its parent may have been
  /// called otherwise.
  private func isSame(
    _ old: Violation, as violation: Violation, in now: ForeignKeyViolations
  ) -> Bool {
    if old.key.columns == violation.key.columns { return true }
    let places = violation.key.columns.map { now.columns[violation.table]?.firstIndex(of: $0) }
    return old.key.columns.map { columns[old.table]?.firstIndex(of: $0) } == places
  }

  /// What tables that are new by name were called before: those with the same root page.
  private func formerNames(in before: ForeignKeyViolations) -> [String: String] {
    var names: [String: String] = [:]
    for (name, page) in rootPages where before.rootPages[name] == nil {
      names[name] = before.rootPages.first { $0.value == page }?.key
    }
    return names
  }
}
