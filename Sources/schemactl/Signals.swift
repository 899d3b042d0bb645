import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaYAML

/// Handles SIGINT, SIGTERM and SIGHUP on a thread of its own.
///
/// The first signal asks the running migration to stop and roll back. A command that is not writing
/// ends at once. A second signal ends any command at once: SQLite survives that as it survives a
/// power failure. The same signal again within a second does not count.
struct Signals: Sendable {
  let interruption: Interruption
  /// Whether the command stops on `interruption`.
  let isGraceful: Bool
  /// Held while files are written: writing is short, and a first signal waits for its end.
  let writing: Locked<Void>
  /// Held while output is written: no message interrupts a document.
  let output: Locked<Void>
  let format: OutputFormat

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

  private func wait() -> Never {
    let first = Self.next()
    let time = Stopwatch()
    if !isGraceful {
      writing.withLockIfAvailable { _ in
        output.withLockIfAvailable { _ in writeInterrupted() }
        _exit(ExitStatus.interrupted.rawValue)
      }
    }
    interruption.request()
    // GNU `timeout` sends a signal to its child and again to the process group.
    while Self.next() == first, time.seconds < 1 {}
    write(
      "\nschemactl: stopped by a second signal; SQLite rolls back unfinished changes when the "
        + "database is opened next\n", to: 2)
    _exit(ExitStatus.interrupted.rawValue)
  }

  private func writeInterrupted() {
    guard format == .json else { return write("\nschemactl: interrupted\n", to: 2) }
    let document: JSON = ["error": Failure(.interrupted, "interrupted").error]
    write(String(decoding: document.line, as: UTF8.self), to: 1)
  }

  /// Writes a last message, unless it would have to wait for a reader.
  private func write(_ message: String, to descriptor: Int32) {
    var stream = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&stream, 1, 0) == 1, stream.revents & Int16(POLLOUT) != 0 else { return }
    _ = writeAll(Array(message.utf8), to: descriptor)
  }

  private static func next() -> Int32 {
    var signals = taken
    var number: Int32 = 0
    while sigwait(&signals, &number) == EINTR {}
    return number
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
