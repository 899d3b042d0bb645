import SchemaPlatform
import SchemaSQLText

/// Held while bytes are written, so that a signal does not cut a document in two.
final class OutputGate: Sendable {
  private let mutex = Locked(())

  func write<Result>(_ body: () -> Result) -> Result {
    mutex.withLock { _ in body() }
  }

  /// Nil, without `body`, when somebody is writing.
  func writeIfFree(_ body: () -> Void) {
    mutex.withLockIfAvailable { _ in body() }
  }
}

/// Standard output or standard error: a buffer in front of `write(2)`.
final class Output {
  let isTerminal: Bool
  /// Whether colours may be used (https://no-color.org).
  let isColored: Bool
  /// Whether a line can be written over.
  let rewritesLines: Bool
  private let descriptor: Int32
  private let gate: OutputGate
  private var buffer: [UInt8] = []
  /// `errno` of the write that failed; nothing more is written then.
  private var failure: Int32?

  init(_ descriptor: Int32, gate: OutputGate) {
    self.descriptor = descriptor
    self.gate = gate
    isTerminal = isatty(descriptor) == 1
    rewritesLines = isTerminal && Environment["TERM"] != "dumb"
    isColored = rewritesLines && (Environment["NO_COLOR"] ?? "").isEmpty
  }

  /// The columns of the terminal, which may change at any time (ioctl_tty(2)).
  var width: Int {
    var size = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }

  /// What was wrong with the stream. A reader that has gone away (`| head`) wanted no more, and
  /// that is no failure.
  var problem: String? {
    guard let failure, failure != EPIPE else { return nil }
    return String(cString: strerror(failure))
  }

  func write(_ bytes: some Sequence<UInt8>) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= 65_536 { flush() }
  }

  func write(_ text: String) { write(text.utf8) }

  func flush() {
    defer { buffer.removeAll(keepingCapacity: true) }
    guard failure == nil, !buffer.isEmpty else { return }
    failure = gate.write { writeAll(buffer, to: descriptor) }
  }
}

/// Keeps the numbers of standard streams that the parent has closed from the next file that is
/// opened: a message would be written into it (How To Corrupt An SQLite Database, section 1.1).
/// Writing to them fails as before.
func openStandardStreams() {
  for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", O_RDONLY)
  }
}

/// Writes all bytes. The result is `errno` when that fails.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
  var written = 0
  while written < bytes.count {
    let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      written += count
    } else if errno == EAGAIN {
      // The other end has made a shared pipe non-blocking.
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = poll(&ready, 1, -1)
    } else if errno != EINTR {
      return errno
    }
  }
  return nil
}

enum Environment {
  static subscript(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
