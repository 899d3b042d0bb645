/// The result of a program that ran without a shell.
package struct Subprocess {
  package enum Problem: Error, Equatable, Sendable {
    /// The program is not on the path.
    case notInstalled
    case failed(String)
  }

  /// The exit status, or 128 plus the number of the signal that ended the program.
  package let status: Int32
  package let output: [UInt8]
  package let errors: [UInt8]

  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - words: the program, which is searched on the path, and its arguments.
  ///   - environment: the complete environment, as `NAME=value`.
  ///   - seconds: the time after which the program is killed; nil for no limit.
  package static func run(
    _ words: [String], environment: [String], input: [UInt8] = [], seconds: Int? = nil
  ) throws(Problem) -> Subprocess {
    // C would truncate a word at a NUL.
    guard !words.contains(where: { $0.utf8.contains(0) }) else {
      throw .failed("a name contains the character U+0000")
    }
    let channels = try Channels()
    defer { channels.closeAll() }
    let process = try spawn(words, environment, channels)
    channels.closeTheirs()
    let (output, errors): ([UInt8], [UInt8])
    do throws(Problem) {
      (output, errors) = try channels.exchange(input, seconds: seconds)
    } catch {
      kill(process, SIGKILL)
      _ = try? wait(for: process)
      throw error
    }
    return Subprocess(status: try wait(for: process), output: output, errors: errors)
  }

  fileprivate static func spawn(
    _ words: [String], _ environment: [String], _ channels: Channels
  ) throws(Problem) -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, channels.input.theirs, 0)
    posix_spawn_file_actions_adddup2(&actions, channels.output.theirs, 1)
    posix_spawn_file_actions_adddup2(&actions, channels.errors.theirs, 2)

    // A child inherits blocked and ignored signals, so reset ours.
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var restored = sigset_t()
    sigemptyset(&restored)
    sigaddset(&restored, SIGPIPE)
    sigaddset(&restored, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &restored)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    var process: pid_t = 0
    let problem = posix_spawnp(
      &process, words[0], &actions, &attributes, &arguments, &variables)
    guard problem == 0 else {
      throw problem == ENOENT ? .notInstalled : .failed(String(cString: strerror(problem)))
    }
    return process
  }

  fileprivate static func wait(for process: pid_t) throws(Problem) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      if errno != EINTR { throw .failed(String(cString: strerror(errno))) }
    }
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }
}

/// A program that answers requests one by one, until the conversation is released.
package final class Conversation {
  private let channels: Channels
  private let process: pid_t

  package init(_ words: [String], environment: [String]) throws(Subprocess.Problem) {
    channels = try Channels()
    do throws(Subprocess.Problem) {
      process = try Subprocess.spawn(words, environment, channels)
    } catch {
      channels.closeAll()
      throw error
    }
    channels.closeTheirs()
  }

  deinit {
    channels.closeAll()
    _ = try? Subprocess.wait(for: process)
  }

  /// Sends a request and returns the answer.
  ///
  /// - Parameter isComplete: whether the output so far is a complete answer.
  package func ask(
    _ request: [UInt8], isComplete: @escaping ([UInt8]) -> Bool
  ) throws(Subprocess.Problem) -> [UInt8] {
    let (answer, errors) = try channels.exchange(request, until: isComplete)
    guard isComplete(answer) else {
      let line = String(decoding: errors, as: UTF8.self).split(separator: "\n").first
      throw .failed(line.map(String.init) ?? "it ended without an answer")
    }
    return answer
  }
}

/// Standard input, output and error of a child.
private final class Channels {
  struct Pair {
    var ours: Int32 = -1
    var theirs: Int32 = -1
  }

  private(set) var input = Pair()
  private(set) var output = Pair()
  private(set) var errors = Pair()

  init() throws(Subprocess.Problem) {
    do throws(Subprocess.Problem) {
      input = try Self.pair()
      output = try Self.pair()
      errors = try Self.pair()
    } catch {
      closeAll()
      throw error
    }
  }

  /// Sockets instead of pipes, because writing to a closed socket need not raise SIGPIPE.
  private static func pair() throws(Subprocess.Problem) -> Pair {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #elseif canImport(Musl)
      let kind = SOCK_STREAM | SOCK_CLOEXEC
    #else
      let kind = SOCK_STREAM
    #endif
    var descriptors: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else {
      throw .failed(String(cString: strerror(errno)))
    }
    for index in descriptors.indices {
      // If our standard streams are closed, these descriptors would conflict with the child's
      // streams.
      if descriptors[index] < 3 {
        let higher = fcntl(descriptors[index], F_DUPFD_CLOEXEC, 3)
        _ = close(descriptors[index])
        descriptors[index] = higher
      }
      let descriptor = descriptors[index]
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      #if canImport(Darwin)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
      #endif
    }
    return Pair(ours: descriptors[0], theirs: descriptors[1])
  }

  func closeTheirs() {
    shut(&input.theirs)
    shut(&output.theirs)
    shut(&errors.theirs)
  }

  func closeAll() {
    closeTheirs()
    shut(&input.ours)
    shut(&output.ours)
    shut(&errors.ours)
  }

  private func shut(_ descriptor: inout Int32) {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  /// Sends the input and reads both streams as they become ready, so that neither process blocks the other.
  ///
  /// - Parameter isComplete: whether the output is a complete answer. Reading then stops, and the input
  ///   remains open. Nil reads to the end of both streams.
  func exchange(
    _ bytes: [UInt8], seconds: Int? = nil, until isComplete: (([UInt8]) -> Bool)? = nil
  ) throws(Subprocess.Problem) -> (output: [UInt8], errors: [UInt8]) {
    var written: [UInt8] = []
    var said: [UInt8] = []
    var unsent = bytes[...]
    let isLast = isComplete == nil
    let started = Stopwatch()
    if unsent.isEmpty, isLast { shut(&input.ours) }
    while output.ours >= 0 || errors.ours >= 0 {
      if let isComplete, isComplete(written) { break }
      // poll(2) skips a negative descriptor.
      var polled = [
        pollfd(fd: unsent.isEmpty ? -1 : input.ours, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: output.ours, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errors.ours, events: Int16(POLLIN), revents: 0),
      ]
      let left = seconds.map { max(0, Int64($0) * 1000 - started.milliseconds) }
      let ready = poll(&polled, nfds_t(polled.count), left.map { Int32(clamping: $0) } ?? -1)
      if ready == 0, let seconds { throw .failed("it did not end within \(seconds) s") }
      guard ready >= 0 else {
        if errno == EINTR { continue }
        throw .failed(String(cString: strerror(errno)))
      }
      if polled[0].revents != 0 { feed(&unsent, isLast: isLast) }
      if polled[1].revents != 0 { receive(&output.ours, &written) }
      if polled[2].revents != 0 { receive(&errors.ours, &said) }
      guard written.count + said.count <= 256 * 1_048_576 else {
        throw .failed("it writes more than 256 MiB")
      }
    }
    return (written, said)
  }

  private func feed(_ unsent: inout ArraySlice<UInt8>, isLast: Bool) {
    #if canImport(Darwin)
      let flags = MSG_DONTWAIT
    #else
      let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    #endif
    let count = unsent.withUnsafeBytes { send(input.ours, $0.baseAddress, $0.count, flags) }
    if count >= 0 {
      unsent = unsent.dropFirst(count)
    } else if errno != EINTR, errno != EAGAIN {
      unsent = []
    }
    if unsent.isEmpty, isLast { shut(&input.ours) }
  }

  private func receive(_ descriptor: inout Int32, _ bytes: inout [UInt8]) {
    let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
      return count
    }
    if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) {
      shut(&descriptor)
    }
  }
}
