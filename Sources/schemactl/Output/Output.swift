import SchemaPlatform
import SchemaSQLText

/// Standard output or standard error: a buffer in front of `write(2)`.
final class Output {
  let isTerminal: Bool
  /// Whether colours are enabled (https://no-color.org).
  let isColored: Bool
  /// Whether a line can be overwritten.
  let rewritesLines: Bool
  private let descriptor: Int32
  /// Held while bytes are written, so that a signal does not truncate a document.
  private let lock: Locked<Void>
  private var buffer: [UInt8] = []
  /// The `errno` of the first failed write. Nothing more is written after it.
  private var failure: Int32?

  init(_ descriptor: Int32, lock: Locked<Void>) {
    self.descriptor = descriptor
    self.lock = lock
    isTerminal = isatty(descriptor) == 1
    rewritesLines = isTerminal && Environment["TERM"] != "dumb"
    isColored = rewritesLines && (Environment["NO_COLOR"] ?? "").isEmpty
  }

  /// The number of columns of the terminal, which may change at any time (ioctl_tty(2)).
  var width: Int {
    var size = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }

  /// The error of the stream. A closed reader (`| head`) is not an error.
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
    failure = lock.withLock { _ in writeAll(buffer, to: descriptor) }
  }
}

/// Opens a placeholder for each standard stream that the parent process closed. Without it the next
/// file to be opened, a database for example, would get the number of the stream, and messages
/// would be written into that file (How To Corrupt An SQLite Database, section 1.1). Writing to the
/// stream still fails.
func openStandardStreams() {
  for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", O_RDONLY)
  }
}
