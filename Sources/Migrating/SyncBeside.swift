import History
import SQLite
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Brings to the disk what a transaction writes, on a second thread, while statements that take long run.
final class SyncBeside {
  private let mustEnd: Ending
  private let work: Beside<DatabaseError?>

  private final class Ending: Sendable {
    let isAsked = Mutex(false)
  }

  /// - Returns: nil where the file cannot be had.
  init?(at file: String, of connection: Connection) {
    guard let other = try? Connection(path: file, mode: .immutable) else { return nil }
    let sync = EarlySync(other, of: connection)
    let mustEnd = Ending()
    self.mustEnd = mustEnd
    work = Beside {
      do throws(DatabaseError) {
        while !mustEnd.isAsked.withLock({ $0 }) {
          try sync.syncJournal()
          try sync.syncFile()
          // Long enough that there is something to write.
          usleep(5000)
        }
        return nil
      } catch {
        return error
      }
    }
  }

  deinit { ask() }

  /// - Throws: what must end the transaction, because SQLite may not be told again.
  func end() throws(DatabaseError) {
    ask()
    if let error = work.wait() { throw error }
  }

  private func ask() { mustEnd.isAsked.withLock { $0 = true } }
}
