import SchemaSQLite

/// The readable rows of a damaged specimen. Contains only the columns that pending migrations do not change.
struct ReadableRows {
  private struct Source {
    let table: String
    let columns: String
    let key: String
    let keys: [Value]
  }

  private static let sources = [
    Source(
      table: "notes", columns: "id, body, updatedAt", key: "id",
      keys: (1...300).map { .integer($0) }),
    Source(table: "files", columns: "id, data", key: "id", keys: (1...30).map { .integer($0) }),
    Source(
      table: "noteTags", columns: "rowid, noteID, tag", key: "rowid",
      keys: (1...300).map { .integer($0) }),
    Source(table: "tags", columns: "name", key: "name", keys: []),
    Source(
      table: "search", columns: "rowid, words", key: "rowid", keys: (1...40).map { .integer($0) }),
    Source(table: "sqlite_sequence", columns: "name, seq", key: "rowid", keys: []),
    Source(
      table: "schemactl_migrations", columns: "id, position, raw_digest, started_at", key: "id",
      keys: []),
  ]

  private var rows: [String: Set<[Value]>] = [:]

  init(of path: String) {
    guard let connection = try? Connection(path: path, mode: .readWrite) else { return }
    for source in Self.sources {
      let query = "SELECT \(source.columns) FROM main.\(source.table)"
      var found: Set<[Value]> = []
      if let scan = try? connection.prepare(query) { Self.collect(scan, &found) }
      // A lookup by key may find a row that a scan does not reach because of the damage.
      if let seek = try? connection.prepare(query + " WHERE \(source.key) = ?1") {
        for key in source.keys {
          guard (try? seek.bind([key])) != nil else { continue }
          Self.collect(seek, &found)
        }
      }
      rows[source.table] = found
    }
  }

  /// Collects rows until the statement ends or fails, at most 100,000.
  private static func collect(_ statement: Statement, _ found: inout Set<[Value]>) {
    while found.count < 100_000, (try? statement.step()) == true, let row = try? statement.row {
      found.insert(row)
    }
  }

  var count: Int { rows.values.reduce(0) { $0 + $1.count } }

  /// Returns a description of the rows that the other specimen lacks; nil if it has all of them.
  func loss(in other: ReadableRows) -> String? {
    for (table, mine) in rows.sorted(by: { $0.key < $1.key }) {
      let lost = mine.subtracting(other.rows[table] ?? [])
      if let example = lost.first {
        return "\(lost.count) of \(mine.count) rows of \(table) are gone or changed: "
          + String("\(example)".prefix(200))
      }
    }
    return nil
  }
}
