/// Opens a placeholder for each standard stream that the parent process closed. Without it the next
/// file to be opened, a database for example, would get the number of the stream, and messages
/// would be written into that file (How To Corrupt An SQLite Database, section 1.1). Writing to the
/// stream still fails.
package func openStandardStreams() {
  for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", O_RDONLY)
  }
}

/// Whether a write would not have to wait for a reader.
package func isWritable(_ descriptor: Int32) -> Bool {
  var stream = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
  return poll(&stream, 1, 0) == 1 && stream.revents & Int16(POLLOUT) != 0
}

/// The number of columns of a terminal (ioctl_tty(2)); nil if it is unknown.
package func columns(ofTerminal descriptor: Int32) -> Int? {
  var size = winsize()
  guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
  return Int(size.ws_col)
}
