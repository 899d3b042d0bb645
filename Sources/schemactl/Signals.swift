import Migrating

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// SIGINT, SIGTERM and SIGHUP, taken by a thread of their own.
///
/// The first one asks the running migration to stop and roll back; a command that writes nothing
/// ends at once, and so does everything on the second one: SQLite survives that, as it survives a
/// power cut.
final class Signals: Sendable {
  private let interruption: Interruption
  private let isGraceful: Bool
  private let farewell: @Sendable () -> Void

  /// Must run before the program's first thread, which would otherwise take the signals.
  ///
  /// - Parameters:
  ///   - isGraceful: whether the command heeds `interruption`.
  ///   - farewell: what to say before ending at once on the first signal.
  static func take(
    for interruption: Interruption, isGraceful: Bool, farewell: @escaping @Sendable () -> Void
  ) {
    var signals = taken
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Signals(interruption, isGraceful, farewell).start()
  }

  private init(
    _ interruption: Interruption, _ isGraceful: Bool, _ farewell: @escaping @Sendable () -> Void
  ) {
    self.interruption = interruption
    self.isGraceful = isGraceful
    self.farewell = farewell
  }

  private func start() {
    let context = Unmanaged.passRetained(self).toOpaque()
    #if canImport(Darwin)
      var thread: pthread_t?
      pthread_create(&thread, nil, { Signals.waitForever($0) }, context)
    #else
      var thread = pthread_t()
      pthread_create(
        &thread, nil, { context in context.flatMap { Signals.waitForever($0) } }, context)
    #endif
  }

  private static func waitForever(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Signals>.fromOpaque(context).takeRetainedValue().wait()
    return nil
  }

  /// Not all that is blocked: the parent may have blocked others, SIGCHLD for example, which a
  /// child of ours sends when it ends.
  private static var taken: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
      sigaddset(&signals, number)
    }
    return signals
  }

  private func wait() {
    var signals = Self.taken
    var number: Int32 = 0
    guard sigwait(&signals, &number) == 0 else { return }
    if isGraceful {
      interruption.request()
      guard sigwait(&signals, &number) == 0 else { return }
    } else {
      farewell()
    }
    _exit(ExitStatus.interrupted.rawValue)
  }
}

/// A reader that goes away then shows as EPIPE.
func ignoreBrokenPipes() {
  signal(SIGPIPE, SIG_IGN)
}

/// Whether the parent, `nohup` for example, wants the signal ignored. A blocked signal would be
/// taken all the same.
private func isIgnored(_ number: Int32) -> Bool {
  var action = sigaction()
  guard sigaction(number, nil, &action) == 0 else { return false }
  #if canImport(Glibc)
    let handler = action.__sigaction_handler.sa_handler
  #elseif canImport(Musl)
    let handler = action.__sa_handler.sa_handler
  #else
    let handler = action.__sigaction_u.__sa_handler
  #endif
  return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
