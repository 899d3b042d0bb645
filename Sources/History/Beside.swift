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
    thread = start {
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

private final class Job: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }

  /// What the thread runs.
  static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body()
    return nil
  }
}

private func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  // As the first thread has, everywhere: some systems give the others a sixteenth of it.
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
