import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Work that runs on a thread of its own, beside what the caller does meanwhile.
///
/// A thread and no task: what runs here waits for disks and locks, of which the pool of Swift's tasks
/// must have none.
package final class Beside<Value: Sendable> {
  private let work: @Sendable () -> Value
  private let result: Result
  /// Nil where no thread could be had, and once it has ended.
  private var thread: pthread_t?

  private final class Result: Sendable {
    let value = Mutex<Value?>(nil)
  }

  /// Starts the work; where no thread can be had, `wait` does it.
  package init(_ work: @escaping @Sendable () -> Value) {
    self.work = work
    let result = Result()
    self.result = result
    thread = startThread {
      let value = work()
      result.value.withLock { $0 = value }
    }
  }

  deinit { join() }

  /// What the work came to, once it has ended.
  package func wait() -> Value {
    join()
    return result.value.withLock { $0 } ?? work()
  }

  private func join() {
    if let thread { pthread_join(thread, nil) }
    thread = nil
  }
}
