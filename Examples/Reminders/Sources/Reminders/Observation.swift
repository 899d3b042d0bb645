import CSQLite

/// Runs queries again when a table that they read has changed.
///
/// SQLite reports the rows that it writes, but for tables WITHOUT ROWID, and for a DELETE of all rows.
/// Here it is not asked while nobody listens.
final class Observation {
  private struct Observer {
    let tables: Set<String>
    let run: () -> Void
  }

  private let connection: Connection
  private var observers: [Int: Observer] = [:]
  private var next = 0
  private var changed: Set<String> = []
  private var committed: Set<String> = []

  init(_ connection: Connection) {
    self.connection = connection
  }

  var isListening: Bool { !observers.isEmpty }

  func add(reading tables: Set<String>, _ run: @escaping () -> Void) -> Int {
    if observers.isEmpty { listen(true) }
    next += 1
    observers[next] = Observer(tables: tables, run: run)
    return next
  }

  func remove(_ id: Int) {
    observers[id] = nil
    if observers.isEmpty { listen(false) }
  }

  /// Runs the queries that a commit may have changed. SQLite allows no query inside its commit hook.
  func afterWrite() {
    let tables = committed
    committed = []
    guard !tables.isEmpty else { return }
    for observer in observers.values where !observer.tables.isDisjoint(with: tables) {
      observer.run()
    }
  }

  /// The tables that the queries in `body` read.
  func tables(readBy body: () throws -> Void) rethrows -> Set<String> {
    var tables: Set<String> = []
    try withUnsafeMutablePointer(to: &tables) { pointer in
      sqlite3_set_authorizer(
        connection.handle,
        { context, action, table, _, _, _ in
          if action == SQLITE_READ, let table {
            context?.assumingMemoryBound(to: Set<String>.self).pointee.insert(
              String(cString: table))
          }
          return SQLITE_OK
        }, pointer)
      defer { sqlite3_set_authorizer(connection.handle, nil, nil) }
      try body()
    }
    return tables
  }

  private func listen(_ isOn: Bool) {
    let me = isOn ? Unmanaged.passUnretained(self).toOpaque() : nil
    sqlite3_update_hook(
      connection.handle,
      isOn ? { context, _, _, table, _ in Observation.at(context)?.noteChange(table) } : nil, me)
    sqlite3_commit_hook(
      connection.handle,
      isOn
        ? { context in
          Observation.at(context)?.noteCommit()
          return 0
        } : nil, me)
    sqlite3_rollback_hook(
      connection.handle, isOn ? { context in Observation.at(context)?.changed = [] } : nil, me)
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> Observation? {
    context.map { Unmanaged<Observation>.fromOpaque($0).takeUnretainedValue() }
  }

  private func noteChange(_ table: UnsafePointer<CChar>?) {
    if let table { changed.insert(String(cString: table)) }
  }

  private func noteCommit() {
    committed.formUnion(changed)
    changed = []
  }
}
