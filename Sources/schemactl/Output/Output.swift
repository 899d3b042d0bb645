import SchemaPlatform
import SchemaSQLText

/// Standard output or standard error, buffered.
final class Output {
  let isTerminal: Bool
  /// Whether colours are enabled (https://no-color.org).
  let isColored: Bool
  /// Whether a line can be overwritten.
  let rewritesLines: Bool
  private let descriptor: Int32
  /// The lock that is held while bytes are written, so that a signal does not truncate a document.
  private let lock: Locked<Void>
  private var buffer: [UInt8] = []
  /// The `errno` of the first failed write. After it, nothing more is written.
  private var failure: Int32?

  init(_ descriptor: Int32, lock: Locked<Void>) {
    self.descriptor = descriptor
    self.lock = lock
    isTerminal = isatty(descriptor) == 1
    rewritesLines = isTerminal && Environment["TERM"] != "dumb"
    isColored = rewritesLines && (Environment["NO_COLOR"] ?? "").isEmpty
  }

  /// The number of columns of the terminal, which may change at any time.
  var width: Int { columns(ofTerminal: descriptor) ?? 80 }

  /// The error of the stream; nil if the reader closed it (`| head`), which is not an error.
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
