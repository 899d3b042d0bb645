import SchemaPlatform
import SchemaSQLText

/// Reads a file, a pipe or a terminal in records that end with a given byte, using a buffer.
struct RecordReader: ~Copyable {
  /// The name of the source in messages.
  let path: String
  private let descriptor: Int32
  private let closes: Bool
  /// The maximum length of a record in bytes.
  private let limit: Int
  private let isCancelled: () -> Bool
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// - Parameters:
  ///   - path: a file or a pipe; nil for standard input.
  ///   - isCancelled: called while waiting for input; if it returns true, reading fails with
  ///     `EINTR`.
  init(
    _ path: String?, limit: Int, isCancelled: @escaping () -> Bool = { false }
  ) throws(FileError) {
    self.isCancelled = isCancelled
    self.path = path ?? "standard input"
    self.limit = limit
    descriptor =
      try path.map { (path) throws(FileError) in try openDescriptor(path, O_RDONLY) } ?? 0
    closes = path != nil
  }

  deinit {
    if closes { close(descriptor) }
  }

  /// Whether a byte occurs in the next `count` bytes. Does not consume them.
  mutating func contains(_ byte: UInt8, inNext count: Int) throws(FileError) -> Bool {
    while buffer.count - start < count, !isAtEnd { try fill() }
    return buffer[start...].prefix(count).contains(byte)
  }

  /// Reads the next record; nil at the end.
  ///
  /// - Returns: the record without its final byte, and whether it has one. Only the last record may lack it.
  mutating func next(
    endingWith separator: UInt8
  ) throws(FileError) -> (bytes: [UInt8], isEnded: Bool)? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: separator) {
        defer { start = end + 1 }
        return (Array(buffer[start..<end]), true)
      }
      searched = buffer.count - start
      guard searched <= limit else {
        throw FileError(
          path: path, systemError: EFBIG, message: "has a line of more than \(limit) bytes")
      }
      guard !isAtEnd else {
        defer { start = buffer.count }
        return start < buffer.count ? (Array(buffer[start...]), false) : nil
      }
      try fill()
    }
  }

  /// Waits until input is available.
  private func wait() throws(FileError) {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&ready, 1, 100) == 0 {
      if isCancelled() { throw FileError(path: path, systemError: EINTR) }
    }
  }

  private mutating func fill() throws(FileError) {
    try wait()
    buffer.removeFirst(start)
    start = 0
    let old = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: 65_536))
    while true {
      let count = buffer.withUnsafeMutableBytes { room in
        read(descriptor, room.baseAddress.map { $0 + old }, 65_536)
      }
      if count < 0, errno == EINTR { continue }
      buffer.removeLast(65_536 - max(count, 0))
      guard count >= 0 else { throw FileError(path: path, systemError: errno) }
      isAtEnd = count == 0
      return
    }
  }
}
