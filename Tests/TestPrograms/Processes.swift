import Foundation

/// The result of a program of this package, or of the machine, that ran in a separate process.
package struct Finished: Sendable {
  /// 128 plus the signal's number if a signal ended it.
  package let code: Int32
  package let output: String
  package let errors: String
}

/// The folder of the package's built programs, next to the tests.
package let programs: URL = {
  let start = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
  var folder = start
  while folder.path != "/" {
    let file = folder.appendingPathComponent("schemactl").path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder.boolValue {
      return folder
    }
    folder.deleteLastPathComponent()
  }
  return start
}()

@discardableResult
package func run(
  _ program: String, _ arguments: [String], in folder: String? = nil, input: String? = nil
) throws -> Finished {
  try start(program, arguments, in: folder, input: input).wait()
}

/// A running process.
package final class Running {
  fileprivate let process = Process()
  fileprivate let folder: URL
  /// An object that must live as long as the process, such as its folder, which is deleted with its
  /// last reference.
  package var surroundings: AnyObject?

  fileprivate init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  package var identifier: Int32 { process.processIdentifier }

  package var isRunning: Bool { process.isRunning }

  /// Sends a signal, unless the process has ended, because its number may be reused.
  package func send(_ signal: Int32) {
    if process.isRunning { kill(process.processIdentifier, signal) }
  }

  #if os(Linux)
    /// Whether the program handles a signal itself: its first thread blocks it.
    package func takes(_ signal: Int32) -> Bool {
      let mask = status("SigBlk").flatMap { UInt64($0, radix: 16) } ?? 0
      return mask & (1 << UInt64(signal - 1)) != 0
    }

    /// Whether the process is stopped, as by Ctrl-Z.
    package var isStopped: Bool { status("State")?.hasPrefix("T") ?? false }

    /// A line of `/proc/PID/status` (proc(5)), which describes the first thread.
    private func status(_ name: String) -> String? {
      let status = try? String(
        contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      return line?.split(separator: "\t", maxSplits: 1).last.map(String.init)
    }
  #endif

  /// Waits for its end. After `seconds` the process is killed and an error is thrown, because no
  /// test may wait forever. With sanitizers on a busy machine, seconds become minutes.
  package func wait(seconds: Double = 900) throws -> Finished {
    let start = ContinuousClock.now
    while process.isRunning {
      guard ContinuousClock.now - start < .seconds(seconds) else {
        send(SIGKILL)
        process.waitUntilExit()
        throw DidNotEnd(program: process.executableURL?.path ?? "", seconds: seconds)
      }
      usleep(1000)
    }
    // The pipes must be closed, because they would keep the process waiting.
    process.waitUntilExit()
    let ended = process.terminationReason == .uncaughtSignal
    return Finished(
      code: process.terminationStatus + (ended ? 128 : 0),
      output: try text("out"), errors: try text("err"))
  }

  /// The output so far: `out` or `err`.
  package func text(_ name: String) throws -> String {
    String(
      decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
  }
}

/// Writes an executable script by a process of its own. A program that another test starts in the meantime would
/// inherit the open file of this process, and the system runs no file that is open for writing.
package func writeProgram(_ path: String, _ script: String) throws {
  let ended = try run(
    "/bin/sh", ["-c", "cat > \"$0\" && chmod 755 \"$0\"", path], input: "#!/bin/sh\n\(script)\n")
  guard ended.code == 0 else { throw DidNotEnd(program: path, seconds: 0) }
}

package struct DidNotEnd: Error {
  package let program: String
  package let seconds: Double
}

/// - Parameters:
///   - program: a path, or the name of one of the package's programs.
///   - environment: added to the inherited environment, without variables that schemactl reads.
///   - output: the target of standard output, instead of `Finished.output`.
package func start(
  _ program: String, _ arguments: [String], in folder: String? = nil,
  environment: [String: String] = [:], input: String? = nil, output: FileHandle? = nil,
  errors: FileHandle? = nil
) throws -> Running {
  let running = try Running()
  let process = running.process
  process.executableURL =
    program.hasPrefix("/")
    ? URL(fileURLWithPath: program) : programs.appendingPathComponent(program)
  process.arguments = arguments
  if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
  var inherited = ProcessInfo.processInfo.environment
  for variable in ["SCHEMACTL_DATABASE", "NO_COLOR", "TERM"] { inherited[variable] = nil }
  process.environment = inherited.merging(environment) { $1 }
  for name in ["out", "err"] {
    try Data().write(to: running.folder.appendingPathComponent(name))
  }
  process.standardOutput =
    try output ?? FileHandle(forWritingTo: running.folder.appendingPathComponent("out"))
  process.standardError =
    try errors ?? FileHandle(forWritingTo: running.folder.appendingPathComponent("err"))
  if let input {
    let file = running.folder.appendingPathComponent("in")
    try Data(input.utf8).write(to: file)
    process.standardInput = try FileHandle(forReadingFrom: file)
  } else {
    process.standardInput = FileHandle.nullDevice
  }
  try process.run()
  return running
}
