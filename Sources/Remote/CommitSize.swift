import SchemaSQLText
import SchemaSQLite

/// The approximate number of bytes that the COMMIT of one transaction will write.
struct CommitSize {
  private(set) var bytes: Int64 = 0
  private var state: State

  /// The greatest size of a COMMIT. On three nodes of one machine, 8 MB take 0.17 s, 16 MB take 0.39 s, and
  /// with 24 MB the leader loses its leadership.
  static let largest: Int64 = 8 * 1_048_576
  static let pageSize: Int64 = 4_096

  /// Numbers that the connection reports between two statements.
  private struct State {
    /// The size in bytes of the pages in use, and of all pages with those on the freelist.
    let used: Int64
    let all: Int64
    /// The number of rows that the connection has changed so far, including rows that triggers changed.
    let changes: Int64
    /// Whether `secure_delete` is on. Debian's SQLite turns it on.
    let clearsFreedPages: Bool

    init(of leader: NodeConnection) throws(DatabaseError) {
      let row = try leader.rows(
        "SELECT (page_count - freelist_count) * page_size, page_count * page_size, total_changes(), "
          + "secure_delete FROM pragma_page_count, pragma_freelist_count, pragma_page_size, pragma_secure_delete",
        columns: 4
      ).first
      used = row?[0].count ?? 0
      all = row?[1].count ?? 0
      changes = row?[2].count ?? 0
      clearsFreedPages = row?[3] == 1
    }
  }

  /// Creates the size at the beginning of a transaction.
  init(on leader: NodeConnection) throws(DatabaseError) { state = try State(of: leader) }

  /// Whether a transaction overwrites the pages of removed rows.
  var clearsFreedPages: Bool { state.clearsFreedPages }

  /// Returns the size after a statement, or after some of its key ranges.
  ///
  /// - Parameter load: returns the size of a table that the statement writes.
  func after(
    _ statement: RemoteStatement, on leader: NodeConnection,
    load: (Identifier) throws(DatabaseError) -> TableLoad?
  ) throws(DatabaseError) -> CommitSize {
    var next = self
    next.state = try State(of: leader)
    let grown = next.state.used - state.used
    var written = next.state.clearsFreedPages ? abs(grown) : max(grown, 0)
    let changed = max(next.state.changes - state.changes, 0)
    // COMMIT writes each page only once, so a small database needs no estimate.
    if next.state.all > Self.largest, changed > 0 || statement.rewritesRows {
      written = try max(written, rewritten(statement, changed, load))
      if case .insertion(let table) = statement.kind, !statement.written.contains(table) {
        // New rows go to the end of the table, but their index entries can go to any page of the indexes.
        var scattered = changed.times(statement.indexes).times(Self.pageSize)
        if bytes + written + scattered > Self.largest, let load = try load(table) {
          scattered = load.entryBytes(changing: changed, indexes: statement.indexes)
        }
        written += scattered
      }
    }
    next.bytes = min(bytes + written, next.state.all)
    return next
  }

  private func rewritten(
    _ statement: RemoteStatement, _ changed: Int64,
    _ load: (Identifier) throws(DatabaseError) -> TableLoad?
  ) throws(DatabaseError) -> Int64 {
    var sum: Int64 = 0
    for table in statement.written {
      guard let load = try load(table) else { continue }
      sum +=
        statement.rewritesRows
        ? load.bytes : load.bytes(changing: changed, indexes: statement.indexes)
    }
    return sum
  }

  /// Returns the reason why a transaction cannot write so many bytes.
  static func refusal(_ subject: String, _ bytes: Int64) -> String {
    "\(subject), about \(bytes / 1_048_576) MB in one transaction, and the leader can lose its leadership at a "
      + "COMMIT of more than \(largest / 1_048_576) MB: change the rows in several migrations"
  }
}
