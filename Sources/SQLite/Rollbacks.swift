import SchemaCSQLite

/// Reports each unfinished transaction of another process that SQLite rolls back when it opens the
/// database, in SQLite's words, with the journal's name.
///
/// SQLite has no other way to report it (Atomic Commit In SQLite, section 4). The setting applies
/// to the whole process until it ends, and has no effect after the first use of SQLite (The Error
/// And Warning Log, section 2).
package func observeRollbacks(_ tell: @escaping (String) -> Void) {
  _ = schemactl_log(
    { context, code, message in
      guard let context, let message, code == SQLITE_NOTICE | 2 << 8 else { return }
      Unmanaged<RollbackObserver>.fromOpaque(context).takeUnretainedValue()
        .tell(String(cString: message))
    }, Unmanaged.passRetained(RollbackObserver(tell)).toOpaque())
}

private final class RollbackObserver {
  let tell: (String) -> Void

  init(_ tell: @escaping (String) -> Void) {
    self.tell = tell
  }
}
