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
