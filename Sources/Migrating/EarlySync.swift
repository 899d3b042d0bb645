import SQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Brings to the disk what a transaction has written so far, while it goes on: SQLite has less to wait
/// for when it does so itself.
///
/// One thread at a time may use it.
final class EarlySync: @unchecked Sendable {
  private let file: Connection
  private let journalPath: String?
  private var journal: Int32 = -1

  /// - Parameter file: another connection to the file that `connection` writes.
  init(_ file: Connection, of connection: Connection) {
    self.file = file
    journalPath = connection.journalPath
  }

  deinit { if journal >= 0 { close(journal) } }

  /// - Throws: what must end the transaction, because SQLite may not be told again.
  func syncFile() throws(DatabaseError) { try file.sync() }

  /// - Throws: like `syncFile`.
  func syncJournal() throws(DatabaseError) {
    // It comes with the first page that changes. SQLite takes no lock on it, which a second descriptor
    // would end.
    if journal < 0, let journalPath { journal = open(journalPath, O_RDONLY | O_CLOEXEC) }
    guard journal >= 0 else { return }
    #if canImport(Darwin)
      let result = fsync(journal)
    #else
      let result = fdatasync(journal)
    #endif
    guard result == 0 else { throw .notSynced(errno) }
  }
}
