import SchemaCSQLite
import SchemaPlatform

/// Stops a connection's running statement from any thread, and does nothing once it is closed.
package final class Interruptible: Sendable {
  private struct Handle: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private let handle: Locked<Handle?>
  /// Whether SQLite asks nobody while a statement runs: of somebody else's connection.
  private let mustRepeat: Bool

  init(_ pointer: OpaquePointer, mustRepeat: Bool) {
    handle = Locked(Handle(pointer: pointer))
    self.mustRepeat = mustRepeat
  }

  /// SQLite forgets an interrupt that comes between two statements: without a progress handler it is
  /// repeated until the connection is given back.
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

  /// Runs what must not be interrupted, such as ROLLBACK.
  func pausing(_ body: () -> Void) {
    handle.withLock { _ in body() }
  }

  package var isClosed: Bool { handle.withLock { $0 == nil } }

  func forget() {
    handle.withLock { $0 = nil }
  }
}
