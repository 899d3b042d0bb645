import SchemaCSQLite
import Synchronization

private let settings = Mutex("")

/// Runs `sql` on every connection that is opened during `body`, for settings that cannot be set
/// from outside: the journal mode or the size of the cache. Errors are ignored.
package func withConnectionSettings<Result>(
  _ sql: String, _ body: () throws -> Result
) rethrows -> Result {
  typealias Entry =
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
    ) -> Int32
  let entry: Entry = { database, _, _ in
    sqlite3_exec(database, settings.withLock { $0 }, nil, nil, nil)
    return SQLITE_OK
  }
  // SQLite declares the function without its parameters (Register A Shared Library As An Automatic
  // Extension).
  let bare = unsafeBitCast(entry, to: (@convention(c) () -> Void).self)
  settings.withLock { $0 = sql }
  sqlite3_auto_extension(bare)
  defer { sqlite3_cancel_auto_extension(bare) }
  return try body()
}
