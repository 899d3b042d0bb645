import Foundation
import Testing

#if os(Linux)
  /// A terminal of our own, which a program's standard error can be.
  final class Terminal {
    private let master: Int32
    private var slave: Int32
    private var bytes: [UInt8] = []

    init() throws {
      // unlockpt and ptsname (ioctl_tty(2)), which Glibc's module leaves out.
      master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var isLocked: Int32 = 0
      var number: UInt32 = 0
      try #require(ioctl(master, 0x4004_5431, &isLocked) == 0)
      try #require(ioctl(master, 0x8004_5430, &number) == 0)
      slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    }

    deinit {
      if slave >= 0 { close(slave) }
      close(master)
    }

    var handle: FileHandle { FileHandle(fileDescriptor: slave, closeOnDealloc: false) }

    /// Reads what is written until it holds `text`.
    func read(until text: String) {
      while !String(decoding: bytes, as: UTF8.self).contains(text), readMore() {}
    }

    /// All that was written, once no program has the terminal open any more.
    func readToEnd() -> String {
      close(slave)
      slave = -1
      while readMore() {}
      return String(decoding: bytes, as: UTF8.self)
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
