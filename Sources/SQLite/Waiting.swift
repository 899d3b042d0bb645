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

/// Waits for a lock with growing pauses, until a timeout or a cancellation.
final class BusyHandler {
  private let timeout: Double
  private let isCancelled: () -> Bool
  private let onWait: (Double) -> Void
  private var waited = 0.0

  init(
    timeout: Double, isCancelled: @escaping () -> Bool, onWait: @escaping (Double) -> Void
  ) {
    self.timeout = timeout
    self.isCancelled = isCancelled
    self.onWait = onWait
  }

  func shouldTryAgain(after tries: Int) -> Bool {
    if tries == 0 { waited = 0 }
    guard waited < timeout, !isCancelled() else { return false }
    let pause = min(0.05, 0.001 * Double(tries + 1), timeout - waited)
    usleep(useconds_t(pause * 1_000_000))
    waited += pause
    onWait(waited)
    return true
  }
}
