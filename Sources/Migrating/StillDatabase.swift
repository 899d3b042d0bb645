import History
import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A database file that nobody works on: a copy.
extension DatabaseFile {
  /// How to read a copy so that nothing appears beside it. A journal that does stand there belongs
  /// to what is read.
  static func stillMode(of path: String) -> Connection.Mode {
    let hasJournal = ["-journal", "-wal"].contains { suffix in
      var status = stat()
      return stat(path + suffix, &status) == 0 && status.st_size > 0
    }
    return hasJournal ? .readWrite : .immutable
  }

  static func openStill(
    _ path: String, timeout: Double, interruption: Interruption = Interruption()
  ) throws(Failure) -> Connection {
    do {
      let connection = try Connection(path: path, mode: stillMode(of: path))
      connection.setBusyHandler(timeout: timeout, isCancelled: { interruption.isRequested })
      interruption.watch(connection)
      return connection
    } catch {
      throw Failure(error, database: path)
    }
  }

  /// What it has run; nothing when it has no ledger.
  static func ledger(ofStill path: String, timeout: Double) throws(Failure) -> [LedgerRow] {
    try LiveDatabase(openStill(path, timeout: timeout), path: path).rows ?? []
  }
}
