import SchemaCSQLite
import SchemaPlatform

/// Stops a connection's running statement from any thread. It has no effect once the connection is
/// closed.
package final class Interruptible: Sendable {
  private struct Handle: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private let handle: Locked<Handle?>
  /// Whether SQLite calls no progress handler: on connections of the caller.
  private let mustRepeat: Bool

  init(_ pointer: OpaquePointer, mustRepeat: Bool) {
    handle = Locked(Handle(pointer: pointer))
    self.mustRepeat = mustRepeat
  }

  /// SQLite ignores an interrupt between two statements. Without a progress handler, the interrupt
  /// is therefore repeated until the connection is given back.
  package func interrupt() {
    guard interruptOnce(), mustRepeat else { return }
    startThread { [self] in
      repeat { usleep(2000) } while interruptOnce()
    }
  }

  private func interruptOnce() -> Bool {
    handle.withLock { handle in
      guard let handle else { return false }
      sqlite3_interrupt(handle.pointer)
      return true
    }
  }

  /// Runs an action that must not be interrupted, such as ROLLBACK.
  func pausing(_ body: () -> Void) {
    handle.withLock { _ in body() }
  }

  package var isClosed: Bool { handle.withLock { $0 == nil } }

  func forget() {
    handle.withLock { $0 = nil }
  }
}
