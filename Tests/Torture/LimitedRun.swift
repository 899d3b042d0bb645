import Foundation
import SchemaTestPrograms
import SchemaTestSupport

/// A run of a program with a time limit: its result and its resource use.
struct LimitedRun {
  /// The exit code, or the negative number of the signal that ended the program.
  let code: Int32
  let output: String
  let errors: String
  let isTooLong: Bool
  let peakMegabytes: Int

  var text: String { output + errors }

  /// Runs a program.
  ///
  /// - Parameters:
  ///   - program: the name of one of the package's programs.
  ///   - folder: the folder for its output.
  ///   - limit: the time limit in seconds, far more than the program needs.
  init(_ program: String, _ arguments: [String], in folder: String, limit: Double = 30) throws {
    let streams = ["out", "err"].map { "\(folder)/\($0)" }
    let process = try Self.spawn(
      [programs.appendingPathComponent(program).path] + arguments, streams)
    let deadline = ContinuousClock.now + .seconds(limit)
    var status: Int32 = 0
    var usage = rusage()
    var isTooLong = false
    while wait4(process, &status, WNOHANG, &usage) == 0 {
      if ContinuousClock.now > deadline {
        isTooLong = true
        kill(process, SIGKILL)
        wait4(process, &status, 0, &usage)
        break
      }
      usleep(500)
    }
    self.isTooLong = isTooLong
    let signal = status & 0x7F
    code = signal == 0 ? status >> 8 & 0xFF : -signal
    #if os(Linux)
      peakMegabytes = usage.ru_maxrss / 1024
    #else
      peakMegabytes = usage.ru_maxrss / 1_048_576
    #endif
    let texts = try streams.map {
      String(decoding: try Data(contentsOf: URL(fileURLWithPath: $0)), as: UTF8.self)
    }
    output = texts[0]
    errors = texts[1]
  }

  private static func spawn(_ words: [String], _ streams: [String]) throws -> pid_t {
    #if os(Linux)
      var actions = posix_spawn_file_actions_t()
    #else
      var actions: posix_spawn_file_actions_t?
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (index, path) in streams.enumerated() {
      posix_spawn_file_actions_addopen(
        &actions, Int32(index + 1), path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var process = pid_t()
    let code = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
    return process
  }
}
