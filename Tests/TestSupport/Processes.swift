import Foundation

/// A program of this package, or of the machine, run as a process of its own.
package struct Finished {
  /// 128 and the signal's number, when a signal ended it.
  package let code: Int32
  package let output: String
  package let errors: String
}

/// Where the package's programs are built: beside the tests.
package let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

@discardableResult
package func run(_ program: String, _ arguments: [String], input: String? = nil) throws -> Finished
{
  try start(program, arguments, input: input).wait()
}

package final class Running {
  fileprivate let process = Process()
  fileprivate let folder: URL

  fileprivate init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  package var identifier: Int32 { process.processIdentifier }

  package func wait() throws -> Finished {
    process.waitUntilExit()
    defer { try? FileManager.default.removeItem(at: folder) }
    let ended = process.terminationReason == .uncaughtSignal
    return Finished(
      code: process.terminationStatus + (ended ? 128 : 0),
      output: try String(contentsOf: folder.appendingPathComponent("out"), encoding: .utf8),
      errors: try String(contentsOf: folder.appendingPathComponent("err"), encoding: .utf8))
  }
}

/// - Parameter program: a path, or the name of one of the package's programs.
package func start(_ program: String, _ arguments: [String], input: String? = nil) throws -> Running
{
  let running = try Running()
  let process = running.process
  process.executableURL =
    program.hasPrefix("/")
    ? URL(fileURLWithPath: program) : programs.appendingPathComponent(program)
  process.arguments = arguments
  for name in ["out", "err"] {
    try Data().write(to: running.folder.appendingPathComponent(name))
  }
  process.standardOutput = try FileHandle(
    forWritingTo: running.folder.appendingPathComponent("out"))
  process.standardError = try FileHandle(forWritingTo: running.folder.appendingPathComponent("err"))
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
