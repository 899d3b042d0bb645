import SchemaHistory
import SchemaPlatform
import SchemaSQLText

/// Handles SIGINT, SIGTERM and SIGHUP on a thread of its own.
///
/// The first signal asks the running migration to stop and roll back. A command that is not writing
/// ends at once. A second signal ends any command at once: SQLite survives that as it survives a
/// power failure. The same signal again within a second does not count.
struct Signals: Sendable {
  let interruption: Interruption
  /// Whether the command stops on `interruption`.
  let isGraceful: Bool
  /// Closed while files are written; the write then completes.
  let writing: Gate
  /// Writes the last message before the first signal ends the process at once.
  let lastMessage: @Sendable () -> Void

  /// Starts handling signals. Call it before the program starts its first thread, which would
  /// otherwise receive the signals.
  func take() {
    var signals = Self.taken
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    startThread { wait() }
  }

  /// Only these signals, not all blocked ones: the parent may have blocked others, such as SIGCHLD,
  /// which our own child processes send when they end.
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
    while sigwait(&signals, &number) == EINTR {}
    endAtOnceOnTheNext(signals, after: number)
    if !isGraceful {
      writing.ifOpen {
        lastMessage()
        _exit(ExitStatus.interrupted.rawValue)
      }
    }
    interruption.request()
    while true { pause() }
  }

  /// Installs a handler that ends the process on the next signal, since this thread may wait for
  /// other events from now on.
  ///
  /// The same signal within a second counts as one: GNU `timeout` sends it to its child and again
  /// to the process group.
  private func endAtOnceOnTheNext(_ signals: sigset_t, after first: Int32) {
    var signals = signals
    for number in [SIGINT, SIGTERM, SIGHUP] where sigismember(&signals, number) == 1 {
      if number == first { signal(number) { _ in } } else { signal(number, endAtOnce) }
    }
    startThread {
      var rest = timespec(tv_sec: 1, tv_nsec: 0)
      var left = rest
      while nanosleep(&rest, &left) != 0 { rest = left }
      signal(first, endAtOnce)
    }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}

/// Calls only async-signal-safe functions (signal-safety(7)), and never waits for a reader.
private func endAtOnce(_: Int32) {
  let lastMessage: StaticString =
    """

    schemactl: stopped by a second signal; SQLite rolls back unfinished changes when the \
    database is opened next

    """
  var errors = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
  if poll(&errors, 1, 0) == 1, errors.revents & Int16(POLLOUT) != 0 {
    _ = write(2, lastMessage.utf8Start, lastMessage.utf8CodeUnitCount)
  }
  _exit(ExitStatus.interrupted.rawValue)
}

/// A gate that is closed while a command writes files or output: writing is short, and a first signal waits.
final class Gate: Sendable {
  private let mutex = Locked(())

  func close<Result, Problem: Error>(
    during body: () throws(Problem) -> Result
  ) throws(Problem) -> Result {
    try mutex.withLock { (_) throws(Problem) in try body() }
  }

  func ifOpen(_ body: () -> Void) {
    mutex.withLockIfAvailable { _ in body() }
  }
}

/// Ignores SIGPIPE and SIGXFSZ. A closed reader then causes EPIPE, and a limit on file size EFBIG.
func ignoreSignalsOfWriting() {
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
}

/// Whether the parent process, `nohup` for example, ignores the signal. Waiting for a blocked
/// signal would receive it anyway.
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
