import History
import SQLText
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
  /// How to read a copy so that nothing appears beside it, where it is a copy in WAL mode. What is
  /// somebody's database after all has its log beside it, or is read with its locks.
  static func stillMode(of name: String) -> Connection.Mode {
    // SQLite, too, looks for them beside the file that a link leads to.
    let path = (try? resolvedPath(name)) ?? name
    if size(path + "-journal") > 0 { return .readWrite }
    // Byte 18 (Database File Format, section 1.3.3).
    guard byte(18, of: path) == 2 else { return .readOnly }
    return ["-wal", "-shm"].contains { access(path + $0, F_OK) == 0 } ? .readWrite : .immutable
  }

  private static func byte(_ offset: Int, of path: String) -> UInt8? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    return pread(descriptor, &byte, 1, off_t(offset)) == 1 ? byte : nil
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
