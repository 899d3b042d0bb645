/// A value that several threads share, protected by a lock. (`Mutex` needs macOS 15 and iOS 18.)
package final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  package init(_ value: Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  package func withLock<Result, Problem: Error>(
    _ body: (inout Value) throws(Problem) -> Result
  ) throws(Problem) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Does not run `body` while another thread holds the lock.
  package func withLockIfAvailable(_ body: (inout Value) -> Void) {
    guard pthread_mutex_trylock(mutex) == 0 else { return }
    defer { pthread_mutex_unlock(mutex) }
    body(&value)
  }
}
