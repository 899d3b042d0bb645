import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A program to start: its words, where, and what it reads.
struct Command {
  var words: [String]
  var folder: URL
  /// A file for standard input.
  var input: String?
  /// On a terminal of its own, so that it shows what it shows to people.
  var onTerminal = false
  /// Looks at its memory while it runs, which takes time. What the system counts at the end holds
  /// what this program had when it started the other one.
  var watchesMemory = false
}

/// What one run of a whole process cost.
struct Sample {
  /// In seconds, from the start of the process to its end.
  var wall: Double
  /// User and system time of the process and its children.
  var processor: Double
  /// In bytes: the largest it was when it was looked at; 0 when nobody looked.
  var memory = 0
}

struct RunFailure: Error, CustomStringConvertible {
  let command: Command
  let status: Int32
  let output: String

  var description: String {
    "\(command.words.joined(separator: " ")) ended with \(status): \(output.suffix(2000))"
  }
}

/// Runs a command to its end and measures it from outside. What it prints is thrown away, unless it fails.
func measure(_ command: Command) throws -> Sample {
  let log = FileManager.default.temporaryDirectory
    .appendingPathComponent("benchmark-\(getpid()).log").path
  defer { unlink(log) }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, 0, command.input ?? "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  posix_spawn_file_actions_adddup2(&actions, 1, 2)
  guard FileManager.default.changeCurrentDirectoryPath(command.folder.path) else {
    throw RunFailure(command: command, status: 0, output: "there is no \(command.folder.path)")
  }

  var words = command.words
  if command.onTerminal {
    words = ["script", "-qec", words.map { "'\($0)'" }.joined(separator: " "), "/dev/null"]
  }
  var arguments = words.map { strdup($0) } + [nil]
  defer { for argument in arguments { free(argument) } }
  var process = pid_t()
  let start = ContinuousClock.now
  let code = posix_spawnp(&process, words[0], &actions, nil, &arguments, environ)
  guard code == 0 else {
    throw RunFailure(command: command, status: code, output: String(cString: strerror(code)))
  }
  var status: Int32 = 0
  var usage = rusage()
  var memory = 0
  while wait4(process, &status, command.watchesMemory ? WNOHANG : 0, &usage) != process {
    guard command.watchesMemory else { continue }
    memory = max(memory, largestMemory(of: process))
    usleep(2000)
  }
  let wall = (ContinuousClock.now - start).seconds
  guard status == 0 else {
    let output = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    throw RunFailure(command: command, status: status >> 8 & 255, output: output)
  }
  return Sample(
    wall: wall, processor: usage.ru_utime.seconds + usage.ru_stime.seconds, memory: memory)
}

/// Since it became the program that it is (`VmHWM`, proc(5)).
private func largestMemory(of process: pid_t) -> Int {
  let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}

/// What a command prints.
func output(_ words: [String], in folder: URL, input: String? = nil) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = words
  process.currentDirectoryURL = folder
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  process.standardInput =
    try input.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) }
    ?? FileHandle.nullDevice
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  let text = String(decoding: data, as: UTF8.self)
  guard process.terminationStatus == 0 else {
    throw RunFailure(
      command: Command(words: words, folder: folder), status: process.terminationStatus,
      output: text)
  }
  return text
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

extension timeval {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
