import SchemaHistory
import SchemaPlatform
import SchemaSQLText
import SchemaSQLite

/// A TCP connection. An interruption or a time limit ends its waiting.
final class Socket {
  private let descriptor: Int32
  private let interruption: Interruption

  /// Connects to a node.
  ///
  /// - Parameter timeout: the time limit for each address of the host, in seconds.
  init(
    to node: NodeAddress, timeout: Double, interruption: Interruption
  ) throws(DatabaseError) {
    self.interruption = interruption
    descriptor = try Self.connected(to: node, timeout, interruption)
    var one: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  private static func connected(
    to node: NodeAddress, _ timeout: Double, _ interruption: Interruption
  ) throws(DatabaseError) -> Int32 {
    var hints = addrinfo()
    #if canImport(Darwin) || canImport(Musl)
      hints.ai_socktype = SOCK_STREAM
    #else
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(node.host, node.port, &hints, &found)
    defer { if let found { freeaddrinfo(found) } }
    guard code == 0 else {
      throw .lostConnection("\(node.host) is unknown: \(String(cString: gai_strerror(code)))")
    }
    var problem = ECONNREFUSED
    var next = found
    while let address = next?.pointee {
      next = address.ai_next
      let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
      guard descriptor >= 0 else { continue }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
      if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
      problem = errno
      if problem == EINPROGRESS {
        do throws(DatabaseError) {
          try wait(
            for: Int16(POLLOUT), on: descriptor, until: Deadline(after: timeout), interruption)
          var size = socklen_t(MemoryLayout<Int32>.size)
          problem = 0
          getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &size)
          if problem == 0 { return descriptor }
        } catch {
          close(descriptor)
          throw error
        }
      }
      close(descriptor)
    }
    throw .lostConnection(String(cString: strerror(problem)), systemError: problem)
  }

  /// Waits in short intervals, so that an interruption can end the wait.
  private static func wait(
    for events: Int16, on descriptor: Int32, until end: Deadline,
    _ interruption: Interruption
  ) throws(DatabaseError) {
    while true {
      var state = pollfd(fd: descriptor, events: events, revents: 0)
      if poll(&state, 1, 50) > 0 { return }
      if interruption.isRequested { throw .interruptedWaiting }
      guard !end.hasPassed else {
        throw .lostConnection("no answer in time", systemError: ETIMEDOUT)
      }
    }
  }

  func send(_ bytes: [UInt8], until end: Deadline) throws(DatabaseError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        guard let base = buffer.baseAddress else { return 0 }
        #if canImport(Darwin)
          return SchemaPlatform.send(descriptor, base + done, buffer.count - done, 0)
        #else
          return SchemaPlatform.send(
            descriptor, base + done, buffer.count - done, Int32(MSG_NOSIGNAL))
        #endif
      }
      if count >= 0 {
        done += count
      } else {
        try waitAfterError(for: Int16(POLLOUT), until: end)
      }
    }
  }

  func receive(_ count: Int, until end: Deadline) throws(DatabaseError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      acknowledgeAtOnce()
      let received = bytes.withUnsafeMutableBytes { buffer in
        buffer.baseAddress.map { recv(descriptor, $0 + done, count - done, 0) } ?? 0
      }
      if received > 0 {
        done += received
      } else if received == 0 {
        throw .lostConnection("the node closed the connection")
      } else {
        try waitAfterError(for: Int16(POLLIN), until: end)
      }
    }
    return bytes
  }

  /// Turns off delayed acknowledgements. A node sends a large answer in parts, and each part waits for the
  /// acknowledgement of the previous one, which Linux delays by 40 ms. The option is not permanent, so it is
  /// set before each read (tcp(7), TCP_QUICKACK).
  private func acknowledgeAtOnce() {
    #if os(Linux)
      var one: Int32 = 1
      setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  private func waitAfterError(
    for events: Int16, until end: Deadline
  ) throws(DatabaseError) {
    let problem = errno
    guard [EAGAIN, EWOULDBLOCK, EINTR].contains(problem) else {
      throw .lostConnection(String(cString: strerror(problem)), systemError: problem)
    }
    try Self.wait(for: events, on: descriptor, until: end, interruption)
  }
}
