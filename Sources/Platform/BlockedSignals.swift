/// Signals for which a thread waits. They are blocked in the thread that creates this value, and in every
/// thread that it starts later.
///
/// The set contains only these signals, not all blocked ones: the parent process may have blocked others,
/// such as SIGCHLD, which our own child processes send when they end.
package struct BlockedSignals: Sendable {
  private let numbers: [Int32]

  /// - Parameter numbers: the signals. A signal that the parent process ignores, as under `nohup`, remains
  ///   ignored.
  package init(_ numbers: [Int32]) {
    self.numbers = numbers.filter { !isIgnored($0) }
    var signals = set
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private var set: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    return signals
  }

  /// Waits for the next signal.
  package func next() -> Int32 {
    var signals = set
    var number: Int32 = 0
    while sigwait(&signals, &number) == EINTR {}
    return number
  }
}

/// Ignores SIGPIPE and SIGXFSZ. A closed reader then causes EPIPE, and a limit on file size EFBIG.
package func ignoreSignalsOfWriting() {
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
}

/// Whether the process ignores the signal. Otherwise, waiting for the blocked signal would receive it.
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
