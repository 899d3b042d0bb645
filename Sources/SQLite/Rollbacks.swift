import SchemaCSQLite

/// Tells of each transaction that another process has left unfinished, and that SQLite rolls back
/// when it opens the database: in SQLite's words, with the journal's name.
///
/// Nobody else hears of it: to the one who opens the database it is as if that had never been
/// (Atomic Commit In SQLite, section 4). It is for the whole process, to its end, and does nothing
/// once SQLite has been used in it (The Error And Warning Log, section 2).
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
