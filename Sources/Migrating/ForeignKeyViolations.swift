import SQLText
import SQLite
import SchemaModel

/// The rows of some tables whose parents are missing, as `PRAGMA foreign_key_check` finds them.
struct ForeignKeyViolations {
  private struct Row: Hashable {
    /// The table's folded name.
    var table: String
    /// NULL in tables without rowid.
    let rowid: Value
  }

  private struct Found {
    let table: String
    let rowid: Value
    let parent: String
  }

  private var counts: [Row: Int] = [:]
  private var found: [Row: Found] = [:]
  /// Tables whose check is an error (`foreign key mismatch`).
  private var errors: [String: String] = [:]
  /// The checked tables' root pages, by which a renamed one is known again.
  private var rootPages: [String: Int64] = [:]

  init(of tables: [String], in schema: Schema, on connection: Connection) {
    for name in tables {
      guard let table = schema.table(name) else { continue }
      rootPages[name] = table.rootPage
      do {
        let check = try connection.prepare(
          "PRAGMA main.foreign_key_check(\(Quoting.quoted(table.name)))")
        while try check.step() {
          let row = Row(table: name, rowid: check.value(1))
          counts[row, default: 0] += 1
          found[row] = Found(
            table: table.name, rowid: check.value(1), parent: check.text(2) ?? "")
        }
      } catch {
        errors[name] = error.message
      }
    }
  }

  /// What is broken here and was not broken before; nil when nothing is.
  func message(beyond before: ForeignKeyViolations) -> String? {
    let former = formerNames(in: before)
    let broken = errors.filter { before.errors[former[$0.key] ?? $0.key] == nil }
      .map { "the foreign keys of \($0.key) cannot be checked: \($0.value)" }.sorted()
    if !broken.isEmpty { return broken.joined(separator: "; ") }
    let new = counts.filter { row, count in
      var known = row
      known.table = former[row.table] ?? row.table
      return count > before.counts[known, default: 0]
    }.compactMap { found[$0.key] }
    guard !new.isEmpty else { return nil }
    let list = new.map { row in
      let place = row.rowid == .null ? "a row" : "row \(row.rowid.shown)"
      return "\(place) of \(row.table) points at no row of \(row.parent)"
    }.sorted()
    let more = list.count > 10 ? " and \(list.count - 10) more" : ""
    return "foreign keys are broken by this migration: "
      + list.prefix(10).joined(separator: "; ") + more
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
