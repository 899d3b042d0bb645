/// Starts a thread; nil if the system refuses.
@discardableResult
package func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  // The stack size of the first thread. On some systems other threads get a sixteenth of it.
  pthread_attr_setstacksize(&attributes, 8 * 1_048_576)
  let context = Unmanaged.passRetained(Job(body)).toOpaque()
  #if canImport(Darwin)
    var thread: pthread_t?
    let code = pthread_create(&thread, &attributes, { Job.run($0) }, context)
  #else
    var started = pthread_t()
    let code = pthread_create(
      &started, &attributes, { context in context.flatMap { Job.run($0) } }, context)
    let thread: pthread_t? = started
  #endif
  guard code == 0 else {
    Unmanaged<Job>.fromOpaque(context).release()
    return nil
  }
  return thread
}

private final class Job: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }

  /// The entry point of the thread.
  static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body()
    return nil
  }
}

/// The number of online processors.
package var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

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

  /// Runs `body` unless another thread holds the lock.
  package func withLockIfAvailable(_ body: (inout Value) -> Void) {
    guard pthread_mutex_trylock(mutex) == 0 else { return }
    defer { pthread_mutex_unlock(mutex) }
    body(&value)
  }
}
