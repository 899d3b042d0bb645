import Foundation
import Testing

#if os(Linux)
  /// A pseudo-terminal for a program's standard error, or for a shell.
  final class Terminal {
    /// The device that a program opens.
    let path: String
    private let master: Int32
    private var slave: Int32
    private var bytes: [UInt8] = []

    /// - Parameter columns: 0 for a terminal of unknown width.
    init(columns: UInt16 = 0) throws {
      // unlockpt and ptsname (ioctl_tty(2)), which Glibc's module lacks.
      master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var isLocked: Int32 = 0
      var number: UInt32 = 0
      try #require(ioctl(master, 0x4004_5431, &isLocked) == 0)
      try #require(ioctl(master, 0x8004_5430, &number) == 0)
      path = "/dev/pts/\(number)"
      slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      resize(columns: columns)
    }

    func resize(columns: UInt16) {
      var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    deinit {
      closeOnThisSide()
      close(master)
    }

    /// Leaves the terminal to the programs that opened it: reading ends with the last one.
    func closeOnThisSide() {
      if slave >= 0 { close(slave) }
      slave = -1
    }

    var handle: FileHandle { FileHandle(fileDescriptor: slave, closeOnDealloc: false) }

    /// Types `text` on the keyboard.
    func write(_ text: String) {
      let bytes = Array(text.utf8)
      _ = Glibc.write(master, bytes, bytes.count)
    }

    /// Reads the output until it contains `text`, and returns it.
    @discardableResult
    func read(until text: String) -> String {
      while !String(decoding: bytes, as: UTF8.self).contains(text), readMore() {}
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns all output after the last program has closed the terminal.
    func readToEnd() -> String {
      closeOnThisSide()
      while readMore() {}
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns all output until the last program has closed the terminal, with the times of its
    /// pieces.
    func readPieces() -> [(text: String, time: ContinuousClock.Instant)] {
      closeOnThisSide()
      var pieces: [(text: String, time: ContinuousClock.Instant)] = []
      var length = 0
      while readMore() {
        pieces.append((String(decoding: bytes[length...], as: UTF8.self), .now))
        length = bytes.count
      }
      return pieces
    }

    private func readMore() -> Bool {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = Glibc.read(master, &buffer, buffer.count)
      guard count > 0 else { return false }
      bytes += buffer[..<count]
      return true
    }
  }
#endif
