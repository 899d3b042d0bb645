import Foundation

/// A shell that may be missing on this machine.
struct Shell {
  let name: String

  static let bash = Shell(name: "bash")
  static let zsh = Shell(name: "zsh")
  static let fish = Shell(name: "fish")
  static let groff = Shell(name: "groff")

  var path: String? {
    let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
  }

  var isThere: Bool { path != nil }

  /// The output and errors of the shell for a text on standard input.
  func output(_ arguments: [String] = [], input: String) throws -> String {
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appendingPathComponent(UUID().uuidString)
    try input.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let pipe = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path ?? name)
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self) + (process.terminationStatus == 0 ? "" : "failed")
  }
}
